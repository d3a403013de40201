/** The documents of a collection in the order of their ids, by one cursor, which is opened anew behind the last id where it breaks. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Collection, Document, MongoError } from 'mongodb';
import { after, isOrdered, typeOf } from './order';

/** Milliseconds before a cursor is opened again: the first time at once, and no more often than this without a document between. */
const PAUSES = [0, 1000, 2000, 4000, 8000];

/** How values are read, whatever the client has been told: with their types. */
export const AS_THEY_ARE = { promoteValues: false, useBigInt64: false, raw: false } as const;

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
  let tries = 0;
  for (;;) {
    try {
      // Without an id the one cursor goes over all types.
      const isWhole = last === undefined;
      for (const behind of last === undefined ? [{}] : after(last.id)) {
        const both = [filter, behind].filter((query) => Object.keys(query).length > 0);
        const cursor = collection.find(both.length > 1 ? { $and: both } : (both[0] ?? {}), {
          projection,
          batchSize: batch,
          sort: { _id: 1 },
          ...AS_THEY_ARE,
        });
        try {
          while (await cursor.hasNext()) {
            signal?.throwIfAborted();
            const documents: Document[] = cursor.readBufferedDocuments();
            last = { id: documents.at(-1)?.['_id'] };
            tries = 0;
            yield documents;
          }
        } finally {
          await cursor.close().catch(() => {});
        }
      }
      if (last !== undefined && !isWhole) yield* greatest(collection, filter, projection, last.id);
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

/**
 * The document whose id is MaxKey, where there is one and it is not the last that was read; and one behind which nobody can go on (its id is code,
 * which stands before MaxKey alone), so that it is refused as a cursor over all refuses it.
 */
async function* greatest(
  collection: Collection,
  filter: Document,
  projection: Document,
  last: unknown,
) {
  const options = { projection, sort: { _id: -1 }, limit: 2, ...AS_THEY_ARE } as const;
  const greatest = await collection.find(filter, options).toArray();
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
    GONE.includes(code)
  );
}
