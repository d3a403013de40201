/** What a server says of itself. */
import type { Collection, CreateCollectionOptions } from 'mongodb';
import { dbOf } from './open';

/** What a run has to know of a server. */
export interface Server {
  /** It takes documents of fewer bytes than this. */
  readonly room: number;
  /** Milliseconds that its clock is ahead of the one here, about: leases of several machines are by one clock. */
  readonly ahead: number;
  /** Of one process, whatever it is called; `undefined`: it does not say, as servers before version 4.4 and others of its protocol. */
  readonly process: string | undefined;
}

/** Bytes of a document, where a server does not say. */
const ROOM = 2 ** 24;

/** What the server of a collection says. */
export async function serverOf(collection: Collection): Promise<Server> {
  const before = Date.now();
  const said = await dbOf(collection).command({ hello: 1 });
  const here = (before + Date.now()) / 2;
  const { maxBsonObjectSize: room, localTime, topologyVersion } = said;
  return {
    room: typeof room === 'number' && room > 0 ? room : ROOM,
    process: topologyVersion?.processId?.toString(),
    ahead: localTime instanceof Date ? localTime.getTime() - here : 0,
  };
}

/** The first of collections that compares texts by a collation; one that may not be asked is taken for one that does not. */
export async function collatedOf(collections: readonly Collection[]): Promise<string | undefined> {
  for (const collection of collections) {
    const named = dbOf(collection).listCollections({ name: collection.collectionName });
    const [about] = await named.toArray().catch(() => []);
    const { collation } = (about as { options?: CreateCollectionOptions })?.options ?? {};
    if (collation !== undefined && collation.locale !== 'simple') return collection.namespace;
  }
  return undefined;
}
