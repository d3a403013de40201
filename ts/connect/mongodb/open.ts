/** Collections by address or as the driver gives them, and the driver itself, which is loaded when it is asked for. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Collection, Db, MongoClient } from 'mongodb';
import { SimHashError, typeError } from '../../errors';
import { redacted, unnamed } from '../url';
import { addressOf } from './address';
import { orAborted } from './overlap';
import { serverOf } from './server';

export type Driver = typeof import('mongodb');

/**
 * The driver.
 *
 * @throws SimHashError ERR_SIMHASH_NOT_BUILT where it is not installed.
 */
export async function driver(): Promise<Driver> {
  try {
    return await import('mongodb');
  } catch (cause) {
    const message = 'the driver for MongoDB is not installed: npm install mongodb';
    throw Object.assign(new SimHashError('ERR_SIMHASH_NOT_BUILT', message), { cause });
  }
}

/** The connections that a run has made, and closes. */
export class Connections {
  readonly #clients = new Map<string, MongoClient>();

  async collection(given: string | Collection, name: string): Promise<Collection> {
    if (typeof given !== 'string') {
      if (typeof given?.find === 'function' && typeof given.insertMany === 'function') return given;
      throw typeError(`${name} must be an address or a collection of the driver`);
    }
    const { uri, database, collection } = addressOf(given, name);
    let client = this.#clients.get(uri);
    if (client === undefined) {
      client = made(await driver(), uri, name);
      this.#clients.set(uri, client);
      await reached(client, uri, name);
    }
    return client.db(database).collection(collection);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#clients.values()].map((client) => client.close().catch(() => {})));
  }
}

/** @throws SimHashError ERR_SIMHASH_INPUT: what the driver says, without its error, which may have the address whole. */
function made({ MongoClient }: Driver, uri: string, name: string): MongoClient {
  try {
    return new MongoClient(uri);
  } catch (error) {
    throw new SimHashError('ERR_SIMHASH_INPUT', saying(error, uri, name));
  }
}

/** @throws SimHashError ERR_SIMHASH_INPUT: the server cannot be reached, or DNS does not know it. */
async function reached(client: MongoClient, uri: string, name: string): Promise<void> {
  try {
    await client.connect();
  } catch (error) {
    const message = saying(error, uri, name);
    throw new SimHashError('ERR_SIMHASH_INPUT', message, { cause: withoutUser(error) });
  }
}

/** What the driver says of an address, without user and password. */
function saying(error: unknown, uri: string, name: string): string {
  const said = error instanceof Error ? error.message : String(error);
  return `${name}: MongoDB: ${redacted(said.replaceAll(uri, () => unnamed(uri)))}`;
}

/** A timer that keeps no process alive. */
export const UNHELD = { ref: false } as const;
/** Milliseconds that what was aborted has to let go of its run, while nobody waits for it. */
const LETTING_GO = 2000;

/** Work with connections that are closed behind it; an abort does not wait for a server that does not answer. */
export async function connected<T>(
  signal: AbortSignal | undefined,
  work: (connections: Connections) => Promise<T>,
): Promise<T> {
  const connections = new Connections();
  let working: Promise<unknown> = Promise.resolve();
  try {
    signal?.throwIfAborted();
    const result = work(connections);
    working = result;
    return await orAborted(signal, result);
  } catch (error) {
    throw withoutUser(error);
  } finally {
    const ended = Promise.race([working.catch(() => {}), sleep(LETTING_GO, undefined, UNHELD)]);
    await orAborted(
      signal,
      ended.then(() => connections.close()),
    ).catch(() => {});
  }
}

/** How documents of a run are read and written, whatever the client has been told. */
const SURE = {
  readPreference: 'primary',
  writeConcern: { w: 'majority' },
  promoteValues: true,
  useBigInt64: false,
  raw: false,
} as const;

/** A collection beside another one. */
export function beside(collection: Collection, ending: string): Collection {
  return dbOf(collection).collection(`${collection.collectionName}.${ending}`, SURE);
}

/** A collection to be written to. */
export function surely(collection: Collection): Collection {
  return dbOf(collection).collection(collection.collectionName, SURE);
}

/** Where a collection is, without who reads it. */
export function placeOf(collection: Collection): string {
  return `${hostsOf(collection).sort()}/${collection.namespace}`;
}

export function dbOf(collection: Collection): Db {
  // Earlier releases of version 6 have it only here.
  return collection.db ?? (collection as unknown as { s: { db: Db } }).s.db;
}

/** Whether both are one collection of one server, which may have several names: then it is known by what it says of itself. */
export async function isSame(a: Collection, b: Collection): Promise<boolean> {
  if (a.namespace !== b.namespace) return false;
  const [ours, theirs] = [hostsOf(a), hostsOf(b)];
  if (ours.some((host) => theirs.includes(host))) return true;
  const [one, other] = await Promise.all([serverOf(a), serverOf(b)]);
  return one.process !== undefined && one.process === other.process;
}

function hostsOf(collection: Collection): string[] {
  const { hosts, srvHost } = dbOf(collection).client.options;
  // What a name of DNS stands for is not known before somebody has connected, and may change.
  return srvHost === undefined ? hosts.map(String) : [srvHost];
}

/** An error in whose words nobody's password stands. */
export function withoutUser(error: unknown): unknown {
  if (error instanceof Error && redacted(error.message) !== error.message) {
    error.message = redacted(error.message);
    if (error.stack) error.stack = redacted(error.stack);
  }
  return error;
}
