/** A run that is started again: when its documents are gone, when its files are elsewhere, and when others have its field of marks. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Collection, type Db, MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dedupCollection, unmark } from '../dist/connect/mongodb.js';
import { Folder } from './cli-run';
import { filled } from './mongo-runs';
import { MongoServer, missing } from './mongo-server';

const folder = mkdtempSync(join(tmpdir(), 'simhash-mongodb-again-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe.skipIf(missing !== undefined)(missing ?? 'MongoDB', () => {
  let server: MongoServer;
  let client: MongoClient;
  let db: Db;
  let source: Collection;

  beforeAll(async () => {
    server = await MongoServer.open();
    client = new MongoClient(server.uri);
    db = client.db('news');
    source = await filled(db.collection('a'), 300);
  }, 1_200_000);
  afterAll(async () => {
    await client?.close();
    await server?.close();
  });

  test.each([{ tmp: folder }, { texts: false }, { tmp: folder, append: true }])(
    'a run that is done and whose documents are gone is not said to be there, with %j',
    async (options) => {
      const name = `lost.${Object.keys(options).join('.')}`;
      const target = db.collection(name);
      const duplicates = db.collection(`${name}.duplicates`);
      const again = () => dedupCollection(source, target, options);
      const { run, kept } = await again();
      expect(await again()).toMatchObject({ repeated: true });
      const one = await duplicates.findOneAndDelete({});
      // Documents of others do not stand for them.
      if ('append' in options) await duplicates.insertOne({ other: true });
      await expect(again()).rejects.toMatchObject({ code: 'ERR_SIMHASH_TARGET' });
      await expect(again()).rejects.toThrow(`run ${run} is done, but news.${name}.duplicates`);
      await duplicates.insertOne(one as never);
      expect(await again()).toMatchObject({ repeated: true });
      await target.drop();
      await expect(again()).rejects.toThrow(`news.${name} holds 0 of the ${kept} documents`);
      await expect(again()).rejects.toThrow(`from news.${name}.runs`);
      // Nor do as many of somebody else.
      await target.insertMany(Array.from({ length: kept }, () => ({ other: true })));
      await expect(again()).rejects.toThrow(`news.${name} holds 0 of the ${kept} documents`);
      // As the message says.
      await target.deleteMany({ other: true });
      await duplicates.deleteMany({ run });
      await db.collection(`${name}.runs`).deleteMany({ run });
      expect(await again()).toMatchObject({ repeated: false, kept });
    },
  );

  test('the command says which run was made before, and where that is written', async () => {
    const cli = new Folder();
    const args = ['dedup', server.at('news.a'), '-o', server.at('news.cli')];
    const { status } = await cli.run(args);
    const second = await cli.run(args);
    expect(second.status).toBe(status);
    const [{ run } = { run: '' }] = await db.collection('cli.runs').find().toArray();
    expect(second.stderr).toContain(`run ${run} was made before, as TARGET.runs says`);
    await db.collection('cli').drop();
    const third = await cli.run(args);
    expect([third.status, third.stderr]).toEqual([3, expect.stringContaining('holds 0 of the')]);
  });

  test('duplicates that have a mark may be deleted', async () => {
    const marked = await filled(db.collection('deleted'), 120);
    const options = { mark: true, tmp: folder, batch: 64 };
    const { duplicates } = await dedupCollection(marked, undefined, options);
    await marked.deleteMany({ dedup: { $exists: true } });
    const again = await dedupCollection(marked, undefined, options);
    expect(again).toMatchObject({ repeated: true, duplicates });
  });

  test('a run that goes on with another tmp leaves no texts in the first', async () => {
    const [one, two] = [join(folder, 'one'), join(folder, 'two')];
    for (const path of [one, two]) mkdirSync(path);
    const target = db.collection('tmp');
    const stopped = new AbortController();
    const run = dedupCollection(source, target, {
      ...{ tmp: one, batch: 40, signal: stopped.signal },
      onProgress: ({ stage }) => stage === 'read' && stopped.abort(new Error('enough')),
    });
    await expect(run).rejects.toThrow('enough');
    const { folder: noted } = (await db.collection('tmp.runs').findOne({})) ?? {};
    expect(readdirSync(one)).toHaveLength(1);
    expect(noted).toBe(join(one, readdirSync(one)[0] ?? ''));
    const summary = await dedupCollection(source, target, { tmp: two, batch: 40 });
    expect(summary).toMatchObject({ read: 300, repeated: false });
    expect([...readdirSync(one), ...readdirSync(two)]).toEqual([]);
  });

  test('a folder that the database names, and that is not of the run, stays', async () => {
    const [one, two] = [join(folder, 'three'), join(folder, 'four')];
    for (const path of [one, two]) mkdirSync(path);
    const target = db.collection('tmp.foreign');
    const stopped = new AbortController();
    const run = dedupCollection(source, target, {
      ...{ tmp: one, batch: 40, signal: stopped.signal },
      onProgress: ({ stage }) => stage === 'read' && stopped.abort(new Error('enough')),
    });
    await expect(run).rejects.toThrow('enough');
    await db.collection('tmp.foreign.runs').updateMany({}, { $set: { folder: one } });
    await dedupCollection(source, target, { tmp: two, batch: 40 });
    expect(readdirSync(one)).toHaveLength(1);
  });

  test('a field of somebody else is found before the first mark', async () => {
    const own = await filled(db.collection('field'), 300);
    const options = { mark: true, tmp: folder, batch: 64 };
    const all = await own.find({}, { sort: { _id: -1 } }).toArray();
    await own.updateOne({ _id: all[0]?._id as never }, { $set: { dedup: 'mine', mine: true } });
    const run = dedupCollection(own, undefined, options);
    await expect(run).rejects.toMatchObject({ code: 'ERR_SIMHASH_TARGET' });
    await expect(run).rejects.toThrow("has a field 'dedup' that is not of this run");
    expect(await own.countDocuments({ 'dedup.run': { $exists: true } })).toBe(0);
    expect(await db.collection('field.runs').countDocuments()).toBe(0);
    // What is not read does not matter.
    const filter = { mine: { $exists: false } };
    const summary = await dedupCollection(own, undefined, { ...options, filter });
    expect(summary).toMatchObject({ read: 299 });
    await unmark(own);
    // The record is gone with the marks, and its collection is there, empty.
    const [runs] = await db.listCollections({ name: 'field.runs' }).toArray();
    expect(runs).toBeDefined();
    expect(await db.collection('field.runs').countDocuments()).toBe(0);
  });
});
