/** What a run refuses before it writes anything, and a run that was made before, which writes nothing. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Db, MongoClient, ObjectId } from 'mongodb';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { dedupCollection, unmark } from '../dist/connect/mongodb.js';
import { filled } from './mongo-runs';
import { MongoServer, missing } from './mongo-server';

const folder = mkdtempSync(join(tmpdir(), 'simhash-mongodb-refuse-'));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.restoreAllMocks());

describe.skipIf(missing !== undefined)(missing ?? 'MongoDB', () => {
  let server: MongoServer;
  let client: MongoClient;
  let db: Db;

  beforeAll(async () => {
    server = await MongoServer.open();
    client = new MongoClient(server.uri);
    db = client.db('news');
    await filled(db.collection('a'), 300);
  }, 1_200_000);
  afterAll(async () => {
    await client?.close();
    await server?.close();
  });

  /** All that the database holds, byte for byte. */
  async function everything(): Promise<Record<string, string[]>> {
    const all = await db.listCollections().toArray();
    const held = all.map(async ({ name }) => {
      const documents = await db.collection(name).find({}, { raw: true }).toArray();
      const bytes = documents.map((it) => Buffer.from(it as unknown as Uint8Array).toString('hex'));
      return [name, bytes.sort()] as const;
    });
    return Object.fromEntries(await Promise.all(held));
  }

  /** A pass over fingerprints has no files. */
  const within = (options: object) => ('texts' in options ? options : { ...options, tmp: folder });

  test.each([
    ['source', 'b.runs', 'b', {}, undefined],
    ['source', 'b.duplicates', 'b', {}, undefined],
    ['source', 'b.runs', 'b', { append: true }, undefined],
    ['source', 'b.duplicates', 'b', { append: true }, undefined],
    ['source', 'b.runs', 'b', { texts: false }, undefined],
    ['known', 'a', 'b', {}, 'b.runs'],
    ['known', 'a', 'b', { append: true }, 'b.runs'],
    ['known', 'a', undefined, { mark: true }, 'a.runs'],
  ] as const)('%s %s into %s with %j is refused', async (name, from, into, options, known) => {
    const source = db.collection(from);
    if (from !== 'a' && (await source.countDocuments()) === 0) await filled(source, 50);
    const before = await everything();
    const target = into === undefined ? undefined : db.collection(into);
    const others = known === undefined ? {} : { known: db.collection(known) };
    const run = dedupCollection(source, target, { ...within(options), ...others });
    await expect(run).rejects.toMatchObject({ code: 'ERR_INVALID_ARG_VALUE' });
    await expect(run).rejects.toThrow(
      `${name} must not be news.${known ?? from}, which a run into this target writes itself`,
    );
    expect(await everything()).toEqual(before);
  });

  test.each([{}, { append: true }, { texts: false }, { mark: true }])(
    'a collection of runs that holds anything else is refused with %j',
    async (options) => {
      const isMarked = 'mark' in options;
      const name = isMarked ? 'a' : `c${Object.keys(options)}`;
      await db
        .collection(`${name}.runs`)
        .insertMany([{ _id: 'mine' as never, run: 'marathon', phase: 1 }, { mark: 'dedup' }]);
      const before = await everything();
      const target = isMarked ? undefined : db.collection(name);
      const run = dedupCollection(db.collection('a'), target, within(options));
      await expect(run).rejects.toMatchObject({ code: 'ERR_SIMHASH_TARGET' });
      await expect(run).rejects.toThrow(`news.${name}.runs, where runs record how far they are`);
      if (isMarked) await expect(unmark(db.collection('a'))).rejects.toThrow(/runs/);
      expect(await everything()).toEqual(before);
      await db.collection(`${name}.runs`).drop();
    },
  );

  describe('of one server with two names', () => {
    let process: ObjectId | undefined;
    /** The server of the tests says no process; those from version 4.4 on do. */
    const saying = (idOf: (db: Db) => ObjectId | undefined) => {
      const command = Db.prototype.command;
      vi.spyOn(Db.prototype, 'command').mockImplementation(async function (this: Db, ...given) {
        const said = await command.apply(this, given);
        return 'hello' in given[0] ? { ...said, topologyVersion: { processId: idOf(this) } } : said;
      });
    };

    test.each([{}, { append: true }])('the source is no target with %j', async (options) => {
      process = new ObjectId();
      saying(() => new ObjectId(process?.toHexString()));
      const before = await everything();
      const again = server.at('news.a').replace('127.0.0.1', 'localhost');
      const run = dedupCollection(db.collection('a'), again, { ...options, tmp: folder });
      await expect(run).rejects.toThrow('target must not be the source');
      const runs = dedupCollection(server.at('news.d.runs'), again.replace('.a', '.d'), options);
      await expect(runs).rejects.toThrow('source must not be news.d.runs');
      expect(await everything()).toEqual(before);
    });

    test('collections of two processes are two, whatever their names', async () => {
      const other = await MongoServer.open();
      try {
        saying(() => new ObjectId());
        const target = other.at('news.a').replace('127.0.0.1', 'localhost');
        const summary = await dedupCollection(db.collection('a'), target, { tmp: folder });
        expect(summary).toMatchObject({ read: 300, repeated: false });
      } finally {
        await other.close();
      }
    });
  });

  test.each([{}, { texts: false }, { append: true }, { mark: true }])(
    'a run that is done writes nothing when it is started again with %j',
    async (options) => {
      const target = 'mark' in options ? undefined : db.collection(`done${Object.keys(options)}`);
      const how = within(options);
      const first = await dedupCollection(db.collection('a'), target, how);
      expect(first).toMatchObject({ read: 300, repeated: false });
      const before = await everything();
      const again = await dedupCollection(db.collection('a'), target, how);
      expect(again).toEqual({ ...first, repeated: true });
      const page = { ...how, report: join(folder, 'page.html') };
      if (!('texts' in options)) {
        const reported = dedupCollection(db.collection('a'), target, page);
        await expect(reported).rejects.toMatchObject({ code: 'ERR_SIMHASH_TARGET' });
      }
      expect(await everything()).toEqual(before);
      expect(readdirSync(folder)).toEqual([]);
      // The id of a run becomes the name of a folder that is removed: it is looked at here too.
      const runs = db.collection(`${target?.collectionName ?? 'a'}.runs`);
      await runs.updateMany({}, { $set: { run: '../..' } });
      const foreign = dedupCollection(db.collection('a'), target, how);
      await expect(foreign).rejects.toMatchObject({ code: 'ERR_SIMHASH_TARGET' });
    },
  );
});
