/** What a run over a collection will take, said before it: `planCollection`, and `plan mongodb://…`. */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Db, MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CollectionPlan, dedupCollection, planCollection } from '../dist/connect/mongodb.js';
import { advisedOf } from '../ts/connect/mongodb/plan';
import { Folder } from './cli-run';
import { documents, filled } from './mongo-runs';
import { MongoServer, missing } from './mongo-server';
import { passage } from './passages';

const folder = mkdtempSync(join(tmpdir(), 'simhash-mongodb-plan-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('verified is advised wherever it fits, and nothing where neither way does', () => {
  const way = (memoryBytes: number, diskBytes: number) => {
    return { memoryBytes, diskBytes, cpuSeconds: { least: 1, most: 2 } };
  };
  const free = { memoryBytes: 100, diskBytes: 1000 };
  expect(advisedOf(way(100, 1000), way(1, 0), free)).toBe('verified');
  expect(advisedOf(way(1, 1001), way(100, 0), free)).toBe('fingerprints');
  expect(advisedOf(way(101, 0), way(100, 0), free)).toBe('fingerprints');
  expect(advisedOf(way(1, 1001), way(101, 0), free)).toBeUndefined();
});

test.each([
  [['plan', 'mongodb://h/a.b', 'in.jsonl'], 'plan reads one collection at a time'],
  [['plan', 'mongodb://h/a.b', '--format', 'csv'], '--format is for files, not for a collection'],
  [['plan', 'mongodb://h/a.b', '-n', '5'], '--count is for an index'],
  [['plan', 'mongodb://h/a.b', '--known', 'old.jsonl'], "'old.jsonl' must be mongodb://HOST"],
  [['plan', 'in.jsonl', '--filter', '{}'], '--filter is for a collection, mongodb://…'],
  [['plan', '--known', 'old.jsonl'], '--known is for files or a collection'],
  [['dedup', 'in', '-o', 'out', '--fingerprint', 'long'], '--fingerprint is for a collection'],
])('%j exits 2', async (args, says) => {
  const { status, stdout, stderr } = await new Folder().run(args);
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toContain(says);
});

describe.skipIf(missing !== undefined)(missing ?? 'MongoDB', () => {
  let server: MongoServer;
  let client: MongoClient;
  let db: Db;

  beforeAll(async () => {
    server = await MongoServer.open();
    client = new MongoClient(server.uri);
    db = client.db('news');
    await filled(db.collection('a'), 3000);
  }, 1_200_000);
  afterAll(async () => {
    await client?.close();
    await server?.close();
  });

  test('of what is read whole nothing is an estimate, and the disk is what the run takes', async () => {
    const source = db.collection('a');
    const plan = await planCollection(source, { tmp: folder });
    expect(plan).toMatchObject({ documents: 3000, sampled: 3000, exact: true, known: 0 });
    expect(readdirSync(folder)).toEqual([]);
    const { verified, fingerprints, textBytes } = plan;
    let [most, bytes] = [0, 0];
    const look = () => {
      const own = readdirSync(folder, { recursive: true }).map((name) => {
        return statSync(join(folder, String(name)), { throwIfNoEntry: false });
      });
      most = Math.max(
        most,
        own.reduce((sum, one) => sum + (one?.isFile() ? one.size : 0), 0),
      );
    };
    const target = db.collection('a.unique');
    // Between two calls for progress much can come and go.
    const often = setInterval(look, 2);
    const summary = await dedupCollection(source, target, {
      ...{ tmp: folder, batch: 100 },
      onProgress: look,
    }).finally(() => clearInterval(often));
    bytes = [...documents(3000)].reduce((sum, { text }) => {
      return sum + (typeof text === 'string' ? Buffer.byteLength(text) : 0);
    }, 0);
    expect(textBytes).toBe(bytes);
    expect(verified.diskBytes).toBeGreaterThan(most);
    expect(verified.diskBytes).toBeLessThan(2 * most);
    expect(fingerprints.diskBytes).toBe(0);
    // A run has the driver in its process whatever the way.
    expect(verified.memoryBytes).toBeGreaterThanOrEqual(160 * 2 ** 20);
    expect(fingerprints.memoryBytes).toBeGreaterThan(160 * 2 ** 20);
    for (const { cpuSeconds } of [verified, fingerprints]) {
      expect(cpuSeconds.least).toBeGreaterThan(0);
      expect(cpuSeconds.most).toBeGreaterThan(cpuSeconds.least);
    }
    expect(summary.read).toBe(plan.documents);
  });

  test('of a large one both ends are read, and known documents count', async () => {
    const source = db.collection('large');
    const one = passage(1).repeat(10_000);
    for (let at = 0; at < 40; at++) {
      await source.insertOne({ _id: at as never, text: `${at} ${one}`, at });
    }
    const bytes = Buffer.byteLength(one);
    expect(40 * bytes).toBeGreaterThan(26_000_000);
    const plan = await planCollection(source, { batch: 1 });
    expect(plan).toMatchObject({ documents: 40, exact: false });
    expect(plan.sampled).toBeLessThan(40);
    expect(plan.textBytes / (40 * bytes)).toBeCloseTo(1, 2);
    expect(plan.verified.diskBytes / (2 * 40 * bytes)).toBeCloseTo(1, 1);
    const known = await planCollection(source, { batch: 1, known: source, memory: 2 ** 31 });
    expect(known).toMatchObject({ documents: 40, known: 40, exact: false });
    const whole = await planCollection(db.collection('a'), { known: db.collection('a') });
    expect(whole).toMatchObject({ documents: 3000, sampled: 3000, known: 3000, exact: true });
    expect(known.textBytes / plan.textBytes).toBeCloseTo(2, 1);
    const some = await planCollection(source, { filter: { at: { $lt: 20 } }, limit: 7 });
    expect(some).toMatchObject({ documents: 7, sampled: 7, exact: true });
    const none = await planCollection(source, { filter: { at: 100 } });
    expect(none).toMatchObject({ documents: 0, sampled: 0, exact: true, textBytes: 0 });
    await expect(planCollection(source, { mark: true } as object)).rejects.toThrow('mark');
  });

  test('plan says it in lines that fit, with an arrow, and as JSON', async () => {
    const address = server.at('news.a');
    const { status, stdout, stderr } = await new Folder().run(['plan', address]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^3,000 documents, texts of [\d.]+ kB; all were read\n {3}way /);
    expect(stdout).toMatch(/^→ {2}verified \(default\) .* MB .* 0:01 to 0:0\d$/m);
    expect(stdout).toMatch(/^ {3}--no-texts .* MB +- /m);
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    const filter = '{"_id": {"$type": "string"}}';
    const json = await new Folder().run(['plan', address, '--json', '--filter', filter]);
    const said = JSON.parse(json.stdout) as CollectionPlan;
    expect(said.documents).toBeGreaterThan(300);
    expect(said).toMatchObject({ exact: true, advised: 'verified' });
  });

  test('the command writes fingerprints as it is told', async () => {
    for (const [form, type] of [
      ['string', 'string'],
      ['long', 'long'],
      ['none', undefined],
    ] as const) {
      const to = `form.${form}`;
      const args = ['dedup', server.at('news.a'), '-o', server.at(`news.${to}`)];
      const { status } = await new Folder().run([...args, '--fingerprint', form, '--limit', '200']);
      expect(status).toBe(0);
      const target = db.collection(to);
      const kept = await target.countDocuments();
      const found = type && (await target.countDocuments({ fingerprint: { $type: type } }));
      const without = await target.countDocuments({ fingerprint: { $exists: false } });
      expect(kept).toBeGreaterThan(100);
      // A text that is too short has none.
      if (type) expect(found).toBeGreaterThan(kept - 5);
      expect(without).toBe(type ? 0 : kept);
    }
  });
});
