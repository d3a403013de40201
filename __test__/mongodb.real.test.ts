/**
 * What only a server of MongoDB itself can show: MONGODB_URI=mongodb://… npx vitest run __test__/mongodb.real.test.ts
 *
 * The tests make a database of their own there, and drop it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  BSON,
  BSONSymbol,
  Code,
  type Collection,
  type CommandSucceededEvent,
  type Db,
  Decimal128,
  Double,
  Long,
  MaxKey,
  MinKey,
  MongoClient,
  ObjectId,
  Timestamp,
} from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dedupCollection, unmark } from '../dist/connect/mongodb.js';
import { inOrder } from '../ts/connect/mongodb/read';
import { content, filled } from './mongo-runs';
import { stoppedAtEachBatch } from './mongo-stopped';
import { passage } from './passages';

const { MONGODB_URI } = process.env;
const { EJSON } = BSON;
const skipped = 'MongoDB itself: skipped, MONGODB_URI is not set';

/** Ids of every type, in their order. */
const IDS: readonly unknown[] = [
  new MinKey(),
  null,
  new Double(Number.NaN),
  new Double(Number.NEGATIVE_INFINITY),
  Long.MIN_VALUE,
  Decimal128.fromString('-0.5'),
  0,
  Decimal128.fromString('1E+20'),
  new Double(Number.POSITIVE_INFINITY),
  '',
  new BSONSymbol('a symbol'),
  'b text',
  { part: 1 },
  new BSON.Binary(Buffer.from('b')),
  new ObjectId('0'.repeat(24)),
  false,
  true,
  new Date(-1),
  new Date(1),
  new Timestamp({ t: 1, i: 1 }),
  new MaxKey(),
];

// Reporters do not name what is skipped.
if (MONGODB_URI === undefined) console.warn(skipped);

describe.skipIf(MONGODB_URI === undefined)(MONGODB_URI ? 'MongoDB itself' : skipped, () => {
  let folder: string;
  let client: MongoClient;
  let db: Db;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'simhash-mongodb-real-'));
    client = new MongoClient(MONGODB_URI as string, {
      ...{ forceServerObjectId: true, monitorCommands: true },
    });
    db = client.db(`simhash_test_${process.pid}`);
  });
  afterAll(async () => {
    await db?.dropDatabase();
    await client?.close();
    rmSync(folder, { recursive: true });
  });

  const name = (id: unknown) => EJSON.stringify(id, { relaxed: false });
  const ids = async (collection: Collection, last?: { id: unknown }) => {
    const reading = { filter: {}, projection: { _id: 1 }, batch: 2, signal: undefined };
    const found: string[] = [];
    for await (const some of inOrder(collection, reading, last)) {
      found.push(...some.map(({ _id }) => name(_id)));
    }
    return found;
  };

  test('ids of every type are read in one order, wherever reading begins', async () => {
    const source = db.collection('ids');
    for (const [at, _id] of IDS.toReversed().entries()) {
      await source.insertOne({ _id: _id as never, text: passage(at) });
    }
    const all = await ids(source);
    expect(all).toEqual(IDS.map(name));
    const typed = await source
      .find({}, { sort: { _id: 1 }, promoteValues: false })
      .map(({ _id }) => _id as unknown)
      .toArray();
    for (const [at, id] of typed.entries()) {
      expect(await ids(source, { id }), name(id)).toEqual(all.slice(at + 1));
    }
    for (const options of [{ tmp: folder }, { texts: false, maxDistance: 0 }]) {
      const target = db.collection(`ids.${Object.keys(options)[0]}`);
      const summary = await dedupCollection(source, target, { ...options, batch: 3 });
      expect(summary).toMatchObject({ read: IDS.length, kept: IDS.length });
      expect(await ids(target)).toEqual(all);
    }
  });

  // The same on the server of the tests, with the types that it has: mongodb.pass.test.ts
  test('a run by fingerprints that is stopped at any batch takes back what is behind, of any type', async () => {
    expect(await stoppedAtEachBatch(client, db.collection('ids'))).toBe(IDS.length - 4);
  });

  test('texts of other types, and those in decimals, are rejected', async () => {
    const source = db.collection('types');
    const values = [
      Decimal128.fromString('1.5'),
      new Double(Number.NaN),
      new Code('x'),
      new MinKey(),
    ];
    await source.insertMany(
      [...values, passage(1)].map((text, _id) => ({ _id: _id as never, text })),
    );
    const summary = await dedupCollection(source, db.collection('types.unique'), { tmp: folder });
    expect(summary).toMatchObject({ read: 5, kept: 1, rejected: 4 });
  });

  test('a document of 16 MB is rejected where it is to be written, and takes no mark', async () => {
    const source = db.collection('large');
    const { maxBsonObjectSize: room } = await db.command({ hello: 1 });
    const own = BSON.calculateObjectSize({ _id: '1', text: '' });
    const one = passage(1);
    const text = (bytes: number) => {
      const whole = one.repeat(Math.floor(bytes / Buffer.byteLength(one)));
      return whole + 'x'.repeat(bytes - Buffer.byteLength(whole));
    };
    // The driver takes no document of exactly the limit.
    await source.insertOne({ _id: '0' as never, text: text(room - own - 101) });
    await source.insertOne({ _id: '1' as never, text: text(room - own - 1) });
    const target = db.collection('large.unique');
    const summary = await dedupCollection(source, target, { tmp: folder });
    expect(summary).toMatchObject({ read: 2, kept: 0, rejected: 2 });
    const marked = await dedupCollection(source, undefined, { mark: true, tmp: folder });
    expect(marked).toMatchObject({ read: 2, kept: 1, duplicates: 1, unmarked: 1 });
    expect(marked.firstUnmarked).toEqual(['_id "1": no room for a mark']);
  });

  test('marks in batches of thousands, and taken back', async () => {
    const source = await filled(db.collection('marks'), 5000);
    const before = await content(source);
    const summary = await dedupCollection(source, undefined, { mark: true, tmp: folder });
    expect(await source.countDocuments({ 'dedup.run': summary.run })).toBe(summary.duplicates);
    expect(await unmark(source)).toEqual({ documents: summary.duplicates });
    expect(await content(source)).toEqual(before);
  });

  test('what a transaction commits behind the cursor is not read, and is counted at the end', async ({
    skip,
  }) => {
    const { setName, msg } = await db.command({ hello: 1 });
    if (setName === undefined && msg !== 'isdbgrid') skip('the server has no transactions');
    const source = await filled(db.collection('transaction'), 2000);
    const session = client.startSession();
    session.startTransaction();
    // Behind the null that comes first, and so soon behind the cursor.
    await source.insertOne({ _id: -5 as never, text: passage(9) }, { session });
    let [answers, committed] = [0, undefined as Promise<void> | undefined];
    const commit = ({ commandName, reply }: CommandSucceededEvent) => {
      const { ns } = (reply as { cursor?: { ns: string } }).cursor ?? {};
      if (ns !== source.namespace || !/^(find|getMore)$/.test(commandName)) return;
      answers += 1;
      if (answers === 2) committed = session.commitTransaction();
    };
    client.on('commandSucceeded', commit);
    try {
      // Answers of ten: the most of them come when it has been committed.
      const summary = await dedupCollection(source, db.collection('transaction.unique'), {
        ...{ tmp: folder, batch: 10 },
      });
      expect(answers).toBeGreaterThan(100);
      expect(summary).toMatchObject({ read: 2000, countAtEnd: 2001 });
    } finally {
      client.off('commandSucceeded', commit);
      await committed;
      await session.endSession();
    }
    expect(await source.countDocuments()).toBe(2001);
  });
});
