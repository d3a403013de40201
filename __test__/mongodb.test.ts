import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BSON, type Db, Double, Long, MongoClient, ObjectId } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dedup } from '..';
import { dedupCollection, unmark } from '../dist/connect/mongodb.js';
import { after } from '../ts/connect/mongodb/order';
import { LineFile, linesFrom } from '../ts/connect/mongodb/work';
import { BIN, Folder, ROOT } from './cli-run';
import { content, ENTRY, filled, started } from './mongo-runs';
import { MongoServer, missing } from './mongo-server';
import { passage } from './passages';

/** Documents of the test that is killed. */
const DOCUMENTS = Number(process.env.SIMHASH_MONGO_DOCUMENTS ?? 6000);
const { EJSON } = BSON;
/** What an example imports, from where it lies here. */
const MODULES: Readonly<Record<string, string>> = {
  '@x/simhash-native/mongodb': join(ROOT, 'dist', 'mongodb.mjs'),
  mongodb: join(ROOT, 'node_modules', 'mongodb', 'lib', 'index.js'),
};

const folder = mkdtempSync(join(tmpdir(), 'simhash-mongodb-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

test.each([
  [['--copy', 'kept'], 2, '--copy is for files, not for a collection'],
  [['--id-field', 'no'], 2, '--id-field is for files'],
  // Nobody listens there.
  [[], 3, 'error: source: MongoDB: connect ECONNREFUSED 127.0.0.1:1'],
])('the command over a collection with %j ends with %i', async (options, status, said) => {
  const address = (name: string) => `mongodb://127.0.0.1:1/a.${name}?serverSelectionTimeoutMS=200`;
  const cwd = new Folder();
  const end = await cwd.run(['dedup', address('b'), '-o', address('c'), ...options]);
  expect(end.stderr).toContain(said);
  expect(end).toMatchObject({ status, stdout: '' });
  if (status === 3) expect((await cwd.run(['unmark', address('b')])).status).toBe(3);
});

test('what comes after an id are the later ids of its type and all of the types behind it', () => {
  const later = (from: number) => ({
    _id: { $type: [3, 5, 7, 8, 9, 17].slice(from) },
  });
  expect(after('a')).toEqual([{ _id: { $gt: 'a' } }, later(0)]);
  expect(after(new ObjectId('0'.repeat(24)))[1]).toEqual(later(3));
  const texts = { _id: { $gte: '' } };
  expect(after(null)).toEqual([{ _id: { $type: ['number'] } }, texts, later(0)]);
  expect(after(5)).toEqual([{ _id: { $gt: 5 } }, texts, later(0)]);
  expect(after(new Double(Number.NaN))[0]).toEqual({ _id: { $gte: Number.NEGATIVE_INFINITY } });
  expect(() => after(/x/)).not.toThrow();
});

test('a file of lines goes on behind its last whole line', async () => {
  const path = join(folder, 'lines');
  const lines = Array.from({ length: 3000 }, (_, n) => `${n} ${'\u2028中'.repeat(n % 70)}`);
  writeFileSync(path, `${lines.slice(0, 2000).join('\n')}\n${'half a line'.repeat(9000)}`);
  const { file, last } = await LineFile.open(path);
  expect(last).toBe(lines[1999]);
  for (const line of lines.slice(2000)) file.push(line);
  await file.sync();
  await file.close();
  const found: string[] = [];
  let end = 0;
  for await (const some of linesFrom(path, 0, 7)) {
    found.push(...some.lines);
    end = some.end;
  }
  expect(found).toEqual(lines);
  expect(end).toBe(statSync(path).size);
  writeFileSync(path, 'no line');
  const none = await LineFile.open(path);
  expect(none.last).toBeUndefined();
  await none.file.close();
});

describe.skipIf(missing !== undefined)(missing ?? 'MongoDB', () => {
  let server: MongoServer;
  let client: MongoClient;
  let db: Db;

  // The first time the server is built.
  beforeAll(async () => {
    server = await MongoServer.open();
    client = new MongoClient(server.uri);
    db = client.db('news');
  }, 1_200_000);
  afterAll(async () => {
    await client?.close();
    await server?.close();
  });

  const fill = (name: string, count: number) => filled(db.collection(name), count);

  const names = () => readdirSync(folder).filter((name) => name.startsWith('simhash-mongodb-'));

  test('a collection goes into another one as dedup decides, whatever its ids and texts are', async () => {
    const source = await fill('a', 800);
    const target = db.collection('a.unique');
    const seen: string[] = [];
    const summary = await dedupCollection(source, target, {
      tmp: folder,
      batch: 100,
      onProgress: ({ stage }) => seen.push(stage),
    });
    expect(summary).toMatchObject({ read: 800, rejected: 8, repeated: false, countAtEnd: 800 });
    expect(summary.firstRejected[0]?.reason).toBe(
      '_id "awkward 0": field text is null, not a string',
    );
    expect(summary.kept + summary.duplicates + summary.rejected).toBe(800);
    expect(summary.duplicates).toBeGreaterThan(50);
    expect(seen).toContain('read');
    expect(names()).toEqual([]);
    // The oracle: the same documents in the order of their ids.
    const all = await source.find({}, { sort: { _id: 1 }, promoteValues: false }).toArray();
    const decisions = dedup(all, { text: (it) => it.text as string, onMissing: 'reject' });
    const [kept, duplicates]: [string[], string[]] = [[], []];
    for await (const it of decisions) {
      const id = EJSON.stringify(it.doc._id, { relaxed: false });
      if (it.status === 'kept') kept.push(id);
      if (it.status === 'duplicate') {
        const of = EJSON.stringify(all[it.duplicateOf]?._id, { relaxed: false });
        duplicates.push(`${id} ${of} ${it.similarity}`);
      }
    }
    const written = await target.find({}, { promoteValues: false }).toArray();
    expect(written.map(({ _id }) => EJSON.stringify(_id, { relaxed: false })).sort()).toEqual(
      kept.sort(),
    );
    for (const { _id, old_id, text, fingerprint, run, ...rest } of written) {
      expect([old_id, run, rest]).toEqual([_id, summary.run, {}]);
      expect(fingerprint === null || /^[0-9a-f]{16}$/.test(fingerprint)).toBe(true);
      const own = all.find((it) => EJSON.stringify(it._id) === EJSON.stringify(_id));
      expect(text).toBe(own?.text);
    }
    const marked = await db
      .collection('a.unique.duplicates')
      .find({}, { promoteValues: false })
      .toArray();
    const said = marked.map(
      ({ _id, duplicateOf, similarity }) =>
        `${EJSON.stringify(_id, { relaxed: false })} ${EJSON.stringify(duplicateOf, { relaxed: false })} ${Number(similarity)}`,
    );
    expect(said.sort()).toEqual(duplicates.sort());
  });

  test.each([
    ['no', []],
    ['no usable', [{ text: null }, { other: 1 }]],
  ])('a collection of %s documents leaves an empty target', async (name, all) => {
    const source = db.collection(`empty.${name}`);
    await db.createCollection(source.collectionName);
    if (all.length > 0) await source.insertMany(all.map((it) => ({ ...it })));
    for (const options of [{ tmp: folder }, { texts: false }]) {
      const target = db.collection(`empty.${name}.${Object.keys(options)[0]}`);
      const summary = await dedupCollection(source, target, options);
      expect(summary).toMatchObject({ read: all.length, kept: 0, rejected: all.length });
      expect(await target.countDocuments()).toBe(0);
    }
  });

  test('documents that come behind the cursor are not read, and the summary says how many there are', async () => {
    const source = db.collection('late');
    await source.insertMany(
      Array.from({ length: 50 }, (_, at) => ({ _id: at as never, text: passage(at) })),
    );
    for (const options of [{ tmp: folder }, { texts: false }]) {
      const before = await source.countDocuments();
      // Asked at the beginning, and when all was read.
      let asked = 0;
      const late = new Proxy(source, {
        get: (collection, name) => {
          const value = Reflect.get(collection, name, collection);
          if (name !== 'estimatedDocumentCount') {
            return typeof value === 'function' ? value.bind(collection) : value;
          }
          return async () => {
            asked += 1;
            if (asked === 2) await collection.insertOne({ _id: -before as never, text: 'late' });
            return collection.estimatedDocumentCount();
          };
        },
      });
      const target = db.collection(`late.${Object.keys(options)[0]}`);
      const summary = await dedupCollection(late, target, options);
      const lastId = '{"$numberInt":"49"}';
      expect(summary).toMatchObject({ read: before, countAtEnd: before + 1, lastId });
      expect(await target.findOne({ _id: -before as never })).toBeNull();
    }
  });

  test('a run that is done is not done again', async () => {
    const [source, target] = [db.collection('a'), db.collection('a.unique')];
    const [before, runs] = [
      await content(target),
      await db.collection('a.unique.runs').find().toArray(),
    ];
    const summary = await dedupCollection(source, target, { tmp: folder, batch: 100 });
    expect(summary).toMatchObject({ repeated: true, read: 800 });
    expect(await content(target)).toEqual(before);
    // Nor is what was removed from its target written again: that is said.
    const one = await target.findOneAndDelete({ _id: 'id 108' as never });
    const again = dedupCollection(source, target, { tmp: folder, batch: 100 });
    await expect(again).rejects.toMatchObject({ code: 'ERR_SIMHASH_TARGET' });
    expect((await content(target)).length).toBe(before.length - 1);
    await target.insertOne(one as never);
    const [run] = await db.collection('a.unique.runs').find().toArray();
    expect(run?.finished).toEqual(runs[0]?.finished);
  });

  test('a target that holds documents is refused before anything is written', async () => {
    const source = db.collection('a');
    for (const held of ['b', 'c.duplicates']) {
      await db.collection(held).insertOne({ mine: held });
      const target = db.collection(held.replace('.duplicates', ''));
      const refused = dedupCollection(source, target, { tmp: folder });
      await expect(refused).rejects.toMatchObject({ code: 'ERR_SIMHASH_TARGET' });
      await expect(refused).rejects.toThrow(`news.${held} holds documents`);
      expect(await db.collection(held).find().toArray()).toMatchObject([{ mine: held }]);
      expect(await db.listCollections({ name: `${target.collectionName}.runs` }).toArray()).toEqual(
        [],
      );
    }
    // The same source into the same target by other options is another run.
    const other = dedupCollection(source, db.collection('a.unique'), { minSimilarity: 0.9 });
    await expect(other).rejects.toMatchObject({ code: 'ERR_SIMHASH_TARGET' });
    await expect(dedupCollection(source, source)).rejects.toThrow('target must not be the source');
    const own = server.at('news.a');
    await expect(dedupCollection(source, own)).rejects.toThrow('target must not be the source');
  });

  test('append leaves what others have, and stops before an _id that they have', async () => {
    const source = db.collection('a');
    const target = db.collection('d');
    await target.insertMany([{ _id: 'foreign' as never, mine: 1 }, { mine: 2 }]);
    await dedupCollection(source, target, { tmp: folder, append: true });
    expect(await target.countDocuments({ mine: { $gt: 0 } })).toBe(2);
    const clash = db.collection('e');
    await clash.insertOne({ _id: 'id 108' as never, mine: 3 });
    const run = dedupCollection(source, clash, { tmp: folder, append: true });
    await expect(run).rejects.toMatchObject({ code: 'ERR_SIMHASH_TARGET' });
    await expect(run).rejects.toThrow('"id 108"');
    expect(await clash.findOne({ _id: 'id 108' as never })).toEqual({ _id: 'id 108', mine: 3 });
    // When it has gone, the run goes on.
    await clash.deleteOne({ _id: 'id 108' as never });
    const summary = await dedupCollection(source, clash, { tmp: folder, append: true });
    expect(await clash.countDocuments()).toBe(summary.kept);
    expect(names()).toEqual([]);
  });

  test('known documents are duplicates of nobody, and their copies are not kept', async () => {
    const [source, target] = [db.collection('a'), db.collection('f')];
    const known = db.collection('a.unique');
    const one = await known.findOneAndDelete({ _id: 'id 108' as never });
    const summary = await dedupCollection(source, target, { known, tmp: folder });
    await known.insertOne(one as never);
    // The one that is not known, and the one that has no text to compare.
    expect(summary.kept).toBe(2);
    const found = await db.collection('f.duplicates').find({ known: true }).toArray();
    expect(found.length).toBeGreaterThan(500);
  });

  test('a filter, a limit, several fields, longs and the longest of a cluster', async () => {
    const [source, target] = [db.collection('g'), db.collection('g.unique')];
    const [one, two] = [passage(500), passage(501)];
    await source.insertMany([
      { _id: 1 as never, head: 'A', body: { text: one }, on: true },
      { _id: 2 as never, head: 'A', body: { text: `${one}加长。` }, on: true },
      { _id: 3 as never, head: 'B', body: { text: two }, on: false },
      { _id: 4 as never, head: 'B', body: { text: two }, on: true },
      { _id: 5 as never, head: 'C', body: { text: passage(502) }, on: true },
    ]);
    const summary = await dedupCollection(source, target, {
      textField: ['head', 'body.text'],
      filter: { on: true },
      limit: 3,
      keep: 'longest',
      fingerprint: 'long',
      tmp: folder,
    });
    expect(summary).toMatchObject({
      read: 3,
      kept: 2,
      duplicates: 1,
      countAtEnd: 4,
      lastId: '{"$numberInt":"4"}',
    });
    const kept = await target.find({}, { sort: { _id: 1 }, promoteValues: false }).toArray();
    expect(kept.map(({ text }) => text)).toEqual([`A\n${one}加长。`, `B\n${two}`]);
    expect(kept.every(({ fingerprint }) => fingerprint instanceof Long)).toBe(true);
  });

  test('marks in place, which are taken back', async () => {
    const source = await fill('h', 300);
    const before = await content(source);
    // FerretDB keeps a connection to its database for each update of a command, has a hundred, and then waits for ever: no command may
    // change as many documents.
    const summary = await dedupCollection(source, undefined, {
      mark: true,
      tmp: folder,
      batch: 64,
    });
    const marked = await source.find({ 'dedup.run': summary.run }).toArray();
    expect(marked.length).toBe(summary.duplicates);
    expect(marked[0]?.dedup).toMatchObject({ similarity: expect.any(Number) });
    // Another run finds a field that is not its own.
    const [own, minSimilarity] = [mkdtempSync(join(folder, 'own-')), 0.85];
    const other = dedupCollection(source, undefined, { mark: true, minSimilarity, tmp: own });
    await expect(other).rejects.toThrow("has a field 'dedup' that is not of this run");
    await expect(unmark(source, { signal: AbortSignal.abort(new Error('no')) })).rejects.toThrow(
      'no',
    );
    expect(await unmark(source, { run: summary.run })).toEqual({ documents: summary.duplicates });
    expect(await content(source)).toEqual(before);
    expect(await unmark(source)).toEqual({ documents: 0 });
  });

  test('taking back what a killed run has marked leaves nothing of its texts', async () => {
    const source = await fill('taken', 1200);
    const before = await content(source);
    const options = { mark: true, tmp: folder, batch: 64, lease: 2000 };
    const marks = () => source.countDocuments({ dedup: { $exists: true } });
    const killed = async () => {
      const run = start('news.taken', undefined, options);
      const ended = once(run.child, 'exit');
      expect(await run.reached('write', 1)).toBe(true);
      run.child.kill('SIGKILL');
      await ended;
      // The server may be at work on its last command yet.
      for (let some = await marks(), then = -1; some !== then; then = some, some = await marks()) {
        await sleep(500);
      }
      expect(names()).toHaveLength(1);
    };
    await killed();
    const [own = ''] = names();
    const runs = source.db.collection<{ _id: string; folder: string }>('taken.runs');
    expect(await runs.findOne({})).toMatchObject({ folder: join(folder, own) });
    await unmark(source);
    expect(names()).toEqual([]);
    expect(await content(source)).toEqual(before);
    // What is removed is named by the database: a folder that has not the name of the run stays.
    await killed();
    await runs.updateMany({}, { $set: { folder } });
    await unmark(source);
    expect(names()).toHaveLength(1);
    expect(await content(source)).toEqual(before);
  });

  test('marking that is killed goes on, and so does taking the marks back', async () => {
    const source = await fill('m', 1200);
    const before = await content(source);
    const options = { mark: true, tmp: folder, batch: 64, lease: 2000 };
    const marks = () => source.countDocuments({ dedup: { $exists: true } });
    const killed = start('news.m', undefined, options);
    const ended = once(killed.child, 'exit');
    expect(await killed.reached('write', 1)).toBe(true);
    killed.child.kill('SIGKILL');
    await ended;
    const left = await marks();
    const summary = await dedupCollection(source, undefined, options);
    expect(await marks()).toBe(summary.duplicates);
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(summary.duplicates);
    // Of those that an uninterrupted one marks, each has the same mark.
    const marked = await content(source);
    expect(await unmark(source)).toEqual({ documents: summary.duplicates });
    expect(await content(source)).toEqual(before);
    await dedupCollection(source, undefined, options);
    const again = (mark: string) => mark.replaceAll(/"run":"[^"]*"/g, '');
    expect((await content(source)).map(again)).toEqual(marked.map(again));
    const script = `require(${JSON.stringify(ENTRY)}).unmark(${JSON.stringify(server.at('news.m'))})`;
    const child = spawn(process.execPath, ['-e', script], { stdio: 'inherit' });
    const over = once(child, 'exit');
    while ((await marks()) === summary.duplicates) await sleep(1);
    child.kill('SIGKILL');
    await over;
    // How far it came is not known: the server may be at work on the last command of the killed one yet.
    for (let some = await marks(), then = -1; some !== then; then = some, some = await marks()) {
      await sleep(500);
    }
    // The run is not done any more: it marks again, and all marks are taken back.
    expect(await dedupCollection(source, undefined, options)).toMatchObject({ repeated: false });
    expect((await content(source)).map(again)).toEqual(marked.map(again));
    expect(await unmark(source)).toEqual({ documents: summary.duplicates });
    expect(await content(source)).toEqual(before);
    // A field within another one, which somebody else has filled.
    await source.updateMany({}, { $set: { meta: { dedup: 'mine' } } });
    const within = { ...options, markField: 'meta.dedup' };
    await expect(dedupCollection(source, undefined, within)).rejects.toThrow(
      "has a field 'meta.dedup' that is not of this run",
    );
    expect(await source.countDocuments({ 'meta.dedup': 'mine' })).toBe(before.length);
    await expect(unmark(source, { markfield: 'meta.dedup' } as never)).rejects.toThrow('markfield');
  });

  test('a run at work is not taken over, and one that was stops before it writes', async () => {
    const [source, target] = [db.collection('a'), db.collection('i')];
    let second: Promise<unknown> | undefined;
    const first = dedupCollection(source, target, {
      tmp: folder,
      batch: 50,
      onProgress: () => {
        second ??= dedupCollection(source, target, { tmp: folder, batch: 50 }).catch(
          (error) => error,
        );
      },
    });
    await first;
    expect(await second).toMatchObject({ code: 'ERR_SIMHASH_RUN_LOCKED' });
    const [lost, runs] = [db.collection('j'), db.collection('j.runs')];
    let taken = false;
    const run = dedupCollection(source, lost, {
      tmp: folder,
      batch: 20,
      onProgress: () => {
        if (taken) return;
        taken = true;
        void runs.updateOne({}, { $inc: { 'lease.epoch': 1 } });
      },
    });
    await expect(run).rejects.toMatchObject({ code: 'ERR_SIMHASH_RUN_LOCKED' });
    await expect(run).rejects.toThrow('taken over by another process');
    const [left, position] = [await lost.countDocuments(), (await runs.findOne())?.position];
    expect(position).toBeLessThan(790);
    await sleep(100);
    expect(await lost.countDocuments()).toBe(left);
  });

  const start = (source: string, target: string | undefined, options: object) =>
    started(server.at(source), target && server.at(target), options);

  /** Documents of others, before, between and behind those of a run. */
  const FOREIGN = [-5, 'id 1', true, new Date(4e12)].map((_id) => ({ _id, mine: 'foreign' }));

  test.each([
    ['verified', DOCUMENTS, {}, ['read', 'read', 'decide', 'write', 'write']],
    [
      'by fingerprints alone',
      // The server of the tests takes half a minute for an uninterrupted run of 100,000, and longer for one that is killed.
      Math.min(DOCUMENTS, 6000),
      { texts: false },
      ['write', 'write', 'write', 'write', 'write'],
    ],
  ] as const)(
    'killed five times, client, server and both, a run %s of %i documents leaves what an uninterrupted one leaves',
    async (name, count, mode, stages) => {
      const left = names();
      const collection = name.replaceAll(' ', '-');
      const source = await fill(`k.${collection}`, count);
      const options = { ...mode, batch: 256, lease: 2000 };
      const own = 'texts' in mode ? {} : { tmp: folder };
      const whole = await dedupCollection(source, db.collection(`k.${collection}.whole`), {
        ...options,
        ...own,
      });
      const place = `k.${collection}.killed`;
      const both = [db.collection(place), db.collection(`${place}.duplicates`)] as const;
      for (const one of both) await one.insertMany(FOREIGN as never);
      const who = ['client', 'server', 'both', 'client', 'server'] as const;
      const shares = [0.15, 0.3, 0, 0.45, 0.6];
      let reached = 0;
      for (const [at, stage] of stages.entries()) {
        const run = start(`news.k.${collection}`, `news.${place}`, {
          ...{ ...options, ...own },
          append: true,
        });
        const ended = once(run.child, 'exit');
        reached += Number(await run.reached(stage, count * (shares[at] ?? 0)));
        if (who[at] !== 'server') run.child.kill('SIGKILL');
        if (who[at] !== 'client') {
          await server.kill();
          await server.start();
        }
        // The last one lives: it goes on, or ends with the error of the server, and counts nothing as written that is not.
        if (who[at] === 'server' && at < stages.length - 1) {
          await sleep(50);
          run.child.kill('SIGKILL');
        }
        await ended;
      }
      expect(reached).toBe(stages.length);
      const last = start(`news.k.${collection}`, `news.${place}`, {
        ...{ ...options, ...own },
        append: true,
      });
      await once(last.child, 'exit');
      const { read, kept, duplicates, rejected, clusters } = whole;
      expect(last.summary()).toMatchObject({ read, kept, duplicates, rejected, clusters });
      expect(read).toBe(count);
      for (const [at, one] of both.entries()) {
        expect(await one.countDocuments({ mine: 'foreign' })).toBe(FOREIGN.length);
        await one.deleteMany({ mine: 'foreign' });
        const uninterrupted = `k.${collection}.whole${at === 1 ? '.duplicates' : ''}`;
        expect(await content(one)).toEqual(await content(db.collection(uninterrupted)));
      }
      expect(names()).toEqual(left);
    },
    1_200_000,
  );

  /** The block of a page below a comment. */
  const block = (page: string, comment: string, language: string) =>
    page.split(`<!-- ${comment} -->\n\`\`\`${language}\n`)[1]?.split('```')[0];

  describe.each(['docs/mongodb.md', 'docs/zh/mongodb.md'])('%s', (name) => {
    const page = readFileSync(join(ROOT, name), 'utf8');

    test('shows the example, what it prints, and what the commands say', () => {
      const example = join(ROOT, 'examples/mongodb.mjs');
      expect(block(page, 'examples/mongodb.mjs', 'js')).toBe(readFileSync(example, 'utf8'));
      const database = name.includes('zh') ? 'zh' : 'en';
      // Each page in a database of its own.
      const own = join(folder, `${database}.mjs`);
      const code = readFileSync(example, 'utf8').replace("db('example')", `db('${database}')`);
      writeFileSync(
        own,
        code.replaceAll(/from '(.*?)'/g, (_, id) => `from '${MODULES[id]}'`),
      );
      const env = { ...process.env, MONGODB_URI: server.uri.replace(/\/\?.*/, '') };
      const options = { cwd: ROOT, env, encoding: 'utf8' } as const;
      expect(execFileSync(process.execPath, [own], options)).toBe(block(page, 'output', 'text'));
      let said = '';
      for (const line of (block(page, 'commands', 'sh') ?? '').trim().split('\n')) {
        const args = line.replaceAll('example.', `${database}.`).split(' ').slice(2);
        const { stderr, status } = spawnSync(process.execPath, [BIN, ...args], options);
        expect([line, status]).toEqual([line, args[0] === 'unmark' ? 0 : 1]);
        said += stderr.replaceAll(`${database}.`, 'example.');
      }
      const timeless = (text = '') => text.replaceAll(/in [\d.]+ s \(.*?\)/g, 'in TIME');
      expect(timeless(said)).toBe(timeless(block(page, 'said', 'text')));
      expect(said).toContain('took the marks out of 2 documents');
    });

    test('shows what a plan says', () => {
      const database = name.includes('zh') ? 'zh' : 'en';
      const env = { ...process.env, MONGODB_URI: server.uri.replace(/\/\?.*/, '') };
      const line = (block(page, 'plan', 'sh') ?? '').trim().replace('example.', `${database}.`);
      const args = [BIN, ...line.split(' ').slice(2)];
      const said = execFileSync(process.execPath, args, { cwd: ROOT, env, encoding: 'utf8' });
      // What is free differs, and with it the units.
      const shape = (text = '') =>
        text.replaceAll(/\d[\d.,:]*( [kMGT]?B)?/g, 'N').replaceAll(/ +/g, ' ');
      expect(shape(said)).toBe(shape(block(page, 'planned', 'text')));
      expect(said).toContain('→');
    });

    test('shows options and their results', async () => {
      const source = db.collection(`options.${name}`);
      await source.insertMany([
        { _id: 1 as never, body: passage(1) },
        { _id: 2 as never, body: passage(1) },
      ]);
      const code = block(page, 'options', 'js') ?? '';
      const run = new Function('dedupCollection', 'news', 'db', `return (async () => {${code}})()`);
      await run(dedupCollection, source, {
        collection: (it: string) => db.collection(`${name}.${it}`),
      });
      const kept = await db
        .collection(`${name}.unique`)
        .find({}, { promoteValues: false })
        .toArray();
      expect(kept).toMatchObject([{ fingerprint: expect.any(Long) }]);
    });
  });

  test('an error names no password', async () => {
    const address = 'mongodb://me:secret@127.0.0.1:1/a.b?serverSelectionTimeoutMS=200';
    const error = await dedupCollection(address, 'mongodb://me:secret@127.0.0.1:1/a.c').catch(
      (error) => error,
    );
    expect(error).toBeInstanceOf(Error);
    expect(`${error.message} ${error.stack}`).not.toContain('secret');
  });
});
