/** The documents of a collection in the order of their ids, by one cursor, which is opened anew behind the last id where it breaks. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Collection, Document, FindCursor, FindOptions, MongoError } from 'mongodb';
import { type Read, reader } from './decoded';
import { driver } from './open';
import { after, isOrdered, typeOf } from './order';

/** Milliseconds before a cursor is opened again: the first time at once, and no more often than this without a document between. */
const PAUSES = [0, 1000, 2000, 4000, 8000];

/**
 * How documents are asked for, whatever the client has been told: as bytes, of which {@link Read} makes values with their types. The driver makes its own
 * errors by the options of a cursor: with `promoteValues: false` their codes would be objects, and it would not know which to try again.
 */
const RAW = { raw: true, promoteValues: true, useBigInt64: false } as const;

/** The server has forgotten the cursor, or another one of a replica set has taken over. */
const GONE: readonly unknown[] = [43, 91, 189, 237, 10_107, 11_600, 11_602, 13_435, 13_436];

/** What is read. */
export interface Reading {
  readonly filter: Document;
  readonly projection: Document;
  /** Documents per answer of the server. */
  readonly batch: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * All documents behind an id, or all, as the answers of the server have them: at most `batch` in each, and none is empty. Values keep their types: numbers are
 * `Int32`, `Long` and `Double`.
 */
export async function* inOrder(
  collection: Collection,
  { filter, projection, batch, signal }: Reading,
  last?: { readonly id: unknown },
): AsyncGenerator<Document[], void, undefined> {
  const read = reader((await driver()).BSON);
  let tries = 0;
  for (;;) {
    try {
      // Without an id the one cursor goes over all types.
      const isWhole = last === undefined;
      for (const behind of last === undefined ? [{}] : after(last.id)) {
        const both = [filter, behind].filter((query) => Object.keys(query).length > 0);
        const query = both.length > 1 ? { $and: both } : (both[0] ?? {});
        const how = { projection, batchSize: batch, sort: { _id: 1 } } as const;
        for await (const documents of answers(collection, query, how, read)) {
          signal?.throwIfAborted();
          last = { id: documents.at(-1)?.['_id'] };
          tries = 0;
          yield documents;
        }
      }
      if (last !== undefined && !isWhole) {
        yield* greatest(collection, filter, projection, last.id, read);
      }
      return;
    } catch (error) {
      const pause = PAUSES[tries];
      if (pause === undefined || !isBroken(error)) throw error;
      tries += 1;
      await sleep(pause, undefined, signal && { signal });
      signal?.throwIfAborted();
    }
  }
}

/** The documents that a query finds, as the answers of the server have them. */
export async function* answers(
  collection: Collection,
  query: Document,
  how: FindOptions,
  read: Read,
): AsyncGenerator<Document[], void, undefined> {
  const cursor = collection.find(query, { ...how, ...RAW }) as unknown as FindCursor<Uint8Array>;
  try {
    while (await cursor.hasNext()) yield cursor.readBufferedDocuments().map(read);
  } finally {
    await cursor.close().catch(() => {});
  }
}

/**
 * The document whose id is MaxKey, where there is one and it is not the last that was read; and one behind which nobody can go on (its id is code,
 * which stands before MaxKey alone), so that it is refused as a cursor over all refuses it.
 */
async function* greatest(
  collection: Collection,
  filter: Document,
  projection: Document,
  last: unknown,
  read: Read,
) {
  const greatest: Document[] = [];
  const how = { projection, sort: { _id: -1 }, limit: 2 } as const;
  for await (const some of answers(collection, filter, how, read)) greatest.push(...some);
  const missed = greatest.reverse().filter(({ _id: id }) => {
    return typeOf(id) === 'MaxKey' ? typeOf(last) !== 'MaxKey' : !isOrdered(id);
  });
  if (missed.length > 0) yield missed;
}

/** Whether the cursor is gone and the documents are not: the connection broke, or the server has forgotten it. */
function isBroken(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { name, code } = error as MongoError;
  return (
    /^MongoNetwork|^MongoServerSelection|^PoolCleared|^MongoPoolCleared/.test(name) ||
    GONE.includes(Number(code))
  );
}
