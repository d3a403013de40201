/** Documents near what a server takes, ids beyond 2^53, and how much is under way. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  BSON,
  type Collection,
  type CommandStartedEvent,
  type Db,
  Long,
  MongoBulkWriteError,
  MongoClient,
} from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dedupCollection } from '../dist/connect/mongodb.js';
import { jsonOf } from '../ts/connect/mongodb/document';
import { Collections, Marks } from '../ts/connect/mongodb/sink';
import { MongoServer, missing } from './mongo-server';
import { passage } from './passages';

/** Bytes of a document that the server does not take. */
const ROOM = 2 ** 24;
/** Bytes that a run adds to text and ids, at most. */
const OWN = 256;
const { EJSON } = BSON;

const folder = mkdtempSync(join(tmpdir(), 'simhash-mongodb-large-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A text of so many bytes, unlike that of another number. */
function long(number: number, bytes: number): string {
  const one = passage(number);
  const whole = one.repeat(Math.floor(bytes / Buffer.byteLength(one)));
  return whole + 'x'.repeat(bytes - Buffer.byteLength(whole));
}

describe('a mark', () => {
  const duplicate = { of: 0, known: false, similarity: 1 };
  const decided = [1, 2, 3].map((id) => ({ id, text: '', duplicate }));
  const marks = (bulkWrite: () => Promise<unknown>, here: object[]) => {
    const collection = { bulkWrite, find: () => ({ toArray: async () => here }), namespace: 'a.b' };
    return new Marks(collection as unknown as Collection, 'dedup', 'run', async () => {}, EJSON);
  };
  const refused = (codes: readonly number[]) => async () => {
    const writeErrors = codes.map((code, index) => ({ code, index: index + 1 }));
    const result = { matchedCount: 3 - codes.length } as never;
    throw new MongoBulkWriteError({ message: 'refused', writeErrors } as never, result);
  };

  test('for which a document has no room is left out, and said', async () => {
    const left = await marks(refused([17_419, 10_334]), []).write(decided);
    expect(left).toEqual([2, 3].map((id) => ({ id, reason: 'no room for a mark' })));
  });

  test('that the server refuses for another reason ends the run', async () => {
    await expect(marks(refused([17_419, 121]), []).write(decided)).rejects.toThrow('refused');
  });

  test('is not written by a command that fails as a whole', async () => {
    await expect(marks(refused([]), []).write(decided)).rejects.toThrow('refused');
    const insertMany = async () => {
      throw new MongoBulkWriteError(
        { message: 'connection closed', writeErrors: [] } as never,
        {
          insertedCount: 0,
        } as never,
      );
    };
    const collection = { insertMany, countDocuments: async () => 0, namespace: 'a.b' };
    const both = [collection, collection] as unknown as [Collection, Collection];
    const kept = [{ id: 1, text: '' }];
    for (const batch of [kept, decided]) {
      const sink = new Collections(both, 'run', async () => {}, EJSON);
      await expect(sink.write(batch)).rejects.toThrow('connection closed');
    }
  });

  test('of a document that is gone is left out, and said', async () => {
    const here = [
      { _id: 1, dedup: { run: 'run' } },
      { _id: 3, dedup: { run: 'run' } },
    ];
    const left = await marks(async () => ({ matchedCount: 2 }), here).write(decided);
    expect(left).toEqual([{ id: 2, reason: 'gone from the collection' }]);
  });
});

test('what the keep rule looks at keeps all digits', () => {
  expect(jsonOf(Long.fromString('9007199254740993'))).toBe('9007199254740993');
  expect(jsonOf(9007199254740993n)).toBe('9007199254740993');
  expect(jsonOf(BSON.Decimal128.fromString('0.1'))).toBe('0.1');
  expect(jsonOf(BSON.Decimal128.fromString('NaN'))).toBe('{}');
  expect(jsonOf(new BSON.Double(Number.NaN))).toBe('null');
  expect(jsonOf(new Date(0))).toBe('"1970-01-01T00:00:00.000Z"');
});

describe.skipIf(missing !== undefined)(missing ?? 'MongoDB', () => {
  let server: MongoServer;
  let client: MongoClient;
  let db: Db;

  beforeAll(async () => {
    server = await MongoServer.open();
    client = new MongoClient(server.uri, { monitorCommands: true });
    db = client.db('large');
  }, 1_200_000);
  afterAll(async () => {
    await client?.close();
    await server?.close();
  });

  test('a document that would be too large in the target is rejected, by a byte, and the run goes on', async () => {
    const source = db.collection('near');
    const most = ROOM - OWN - 2 * BSON.calculateObjectSize({ _id: '0' }) - 1;
    const texts = [long(1, most), long(2, most + 1), long(3, most - 300), passage(4)];
    for (const [at, text] of texts.entries())
      await source.insertOne({ _id: String(at) as never, text });
    const half = ROOM / 2 - 64;
    await source.insertOne({ _id: 'k'.repeat(half) as never, text: passage(5) });
    for (const options of [{ tmp: folder }, { texts: false }]) {
      const target = db.collection(`near.${Object.keys(options)[0]}`);
      const summary = await dedupCollection(source, target, options);
      expect(summary).toMatchObject({ read: 5, kept: 3, duplicates: 0, rejected: 2 });
      const [first, second] = summary.firstRejected.map(({ reason }) => reason);
      expect(first).toBe(
        `_id "1": its text and its _id, which is written twice, would take about ${ROOM} bytes: the server takes documents of less than ${ROOM}`,
      );
      expect(second).toMatch(/^_id "k{199}…: its text and its _id/);
      const kept = await target.find({}, { sort: { _id: 1 } }).toArray();
      expect(kept.map(({ text }) => text.length)).toEqual([0, 2, 3].map((at) => texts[at]?.length));
    }
  });

  test('in place there is room for the text, and documents that are gone are counted', async () => {
    const source = db.collection('place');
    const text = passage(6);
    const many = Array.from({ length: 40 }, (_, at) => ({ _id: at as never, text }));
    await source.insertMany([...many, { _id: 100 as never, text: long(7, ROOM - OWN) }]);
    const stopped = new AbortController();
    const how = { mark: true, tmp: folder } as const;
    const run = dedupCollection(source, undefined, {
      ...{ ...how, signal: stopped.signal },
      onProgress: () => stopped.abort(new Error('enough')),
    });
    await expect(run).rejects.toThrow('enough');
    // It was read, and is gone before the run goes on.
    await source.deleteOne({ _id: 7 as never });
    const summary = await dedupCollection(source, undefined, how);
    expect(summary).toMatchObject({ read: 41, rejected: 0, duplicates: 39, unmarked: 1 });
    expect(summary.firstUnmarked).toEqual(['_id {"$numberInt":"7"}: gone from the collection']);
    expect(await source.countDocuments({ 'dedup.run': summary.run })).toBe(38);
  });

  test('no command is longer than the server takes, and no more than three batches are under way', async () => {
    const source = db.collection('many');
    const count = 5;
    for (let at = 0; at < count; at++) {
      await source.insertOne({ _id: at as never, text: long(20 + at, 15_000_000) });
    }
    for (const options of [{ tmp: folder }, { texts: false, batch: 1 }]) {
      const under = new Map<number, number>();
      let [largest, most, inserted, reads] = [0, 0, 0, 0];
      const begun = ({ command, commandName, requestId }: CommandStartedEvent) => {
        const sent = command['documents'] ?? [];
        if (commandName === 'getMore' || commandName === 'find') reads += 1;
        if (commandName !== 'insert') return;
        const bytes = BSON.calculateObjectSize({ documents: sent });
        under.set(requestId, bytes);
        largest = Math.max(largest, bytes);
        most = Math.max(
          most,
          [...under.values()].reduce((sum, one) => sum + one, 0),
        );
        inserted += bytes;
      };
      const over = ({ requestId }: { requestId: number }) => under.delete(requestId);
      client.on('commandStarted', begun).on('commandSucceeded', over).on('commandFailed', over);
      const target = db.collection(`many.${Object.keys(options)[0]}`);
      const summary = await dedupCollection(source, target, options);
      client.off('commandStarted', begun).off('commandSucceeded', over).off('commandFailed', over);
      expect(summary).toMatchObject({ read: count, kept: count });
      expect(inserted).toBeGreaterThan(count * 15_000_000);
      expect(largest).toBeLessThan(48_000_000);
      expect(most).toBeLessThanOrEqual(3 * ROOM);
      expect(reads).toBeGreaterThan(0);
    }
    expect(await db.collection('many.tmp').countDocuments()).toBe(count);
  }, 300_000);

  test('ids and numbers beyond 2^53 stay what they are', async () => {
    const big = new MongoClient(server.uri, { useBigInt64: true });
    try {
      const source = big.db('large').collection('ids');
      const ids = [
        '9007199254740993',
        '9007199254740992',
        '-9223372036854775808',
        '9223372036854775807',
      ];
      const longs = ids.map((id) => Long.fromString(id));
      await source.insertMany(
        longs.map((_id, at) => ({
          _id: _id as never,
          text: passage(at < 2 ? 40 : 40 + at),
          // Of the two that are alike, the larger is by one.
          rank: Long.fromString(at === 0 ? '9007199254740993' : '9007199254740992'),
        })),
      );
      const filter = { rank: { $gte: 9007199254740992n } };
      const target = big.db('large').collection('ids.unique');
      const summary = await dedupCollection(source, target, {
        ...{ filter, tmp: folder, batch: 1 },
        keep: { field: 'rank' },
      });
      expect(summary).toMatchObject({
        ...{ read: 4, kept: 3, duplicates: 1 },
        lastId: '{"$numberLong":"9223372036854775807"}',
      });
      const pass = big.db('large').collection('ids.pass');
      await dedupCollection(source, pass, { texts: false, filter, batch: 1 });
      const found = async (collection: Collection) => {
        const all = await collection.find({}, { sort: { _id: 1 } }).toArray();
        return all.map(({ _id, old_id, duplicateOf }) => [_id, old_id, duplicateOf].map(String));
      };
      const kept = (id?: string) => [id, id, undefined].map(String);
      expect(await found(target)).toEqual([kept(ids[2]), kept(ids[0]), kept(ids[3])]);
      const copies = (collection: Collection) =>
        found(big.db('large').collection(`${collection.collectionName}.duplicates`));
      expect(await copies(target)).toEqual([[ids[1], undefined, ids[0]].map(String)]);
      // The first is kept: fingerprints come in the order of the ids.
      expect(await copies(pass)).toEqual([[ids[0], undefined, ids[1]].map(String)]);
    } finally {
      await big.close();
    }
  });
});
