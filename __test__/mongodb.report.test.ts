/** The page of a report about a collection: the figures of the run, documents by their _id, and what cannot have one. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Db, MongoClient, ObjectId } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dedupFiles } from '..';
import { dedupCollection } from '../dist/connect/mongodb.js';
import { CHROMIUM, launch, NO_CHROMIUM, open } from './chromium';
import { Folder } from './cli-run';
import { filled } from './mongo-runs';
import { MongoServer, missing } from './mongo-server';
import { passage } from './passages';

if (CHROMIUM === undefined) console.warn(`mongodb.report.test.ts ${NO_CHROMIUM}`);

const folder = new Folder();

// biome-ignore lint/suspicious/noExplicitAny: whatever a page says
type Data = any;

/** The data of a page. */
function dataOf(name: string, id: 'figures' | 'run'): Data {
  const page = folder.read(name);
  const [, data = ''] = new RegExp(`id="${id}">(.*?)</script>`, 's').exec(page) ?? [];
  return JSON.parse(data);
}

describe.skipIf(missing !== undefined)(missing ?? 'a report about a collection', () => {
  let server: MongoServer;
  let client: MongoClient;
  let db: Db;
  const tmp = mkdtempSync(join(tmpdir(), 'simhash-mongodb-report-'));

  // The first time the server is built.
  beforeAll(async () => {
    server = await MongoServer.open();
    client = new MongoClient(server.uri);
    db = client.db('news');
  }, 1_200_000);
  afterAll(async () => {
    await client?.close();
    await server?.close();
    rmSync(tmp, { recursive: true });
  });

  /** Ten documents: three alike, two alike, one without a text; dates in three months. */
  async function news(name: string) {
    const source = db.collection(name);
    const texts = [0, 1, 0, 2, 0, 3, 1, 4, 5];
    await source.insertMany([
      ...texts.map((text, n) => ({
        _id: new ObjectId(n.toString(16).padStart(24, '0')),
        body: passage(text),
        at: { day: new Date(Date.UTC(2026, n % 3, 5)) },
      })),
      { body: null },
    ]);
    return source;
  }

  test('has the figures of the run, and those of the same documents in a file', async () => {
    const source = await news('a');
    const summary = await dedupCollection(source, db.collection('a.unique'), {
      ...{ textField: 'body', report: folder.join('a.html'), dateField: 'at.day', tmp },
    });
    expect(summary).toMatchObject({ read: 10, duplicates: 3, rejected: 1, clusters: 2 });
    expect(summary.report).toMatchObject({ documents: 9, duplicates: 3, groups: 2, unknown: 0 });
    expect(readdirSync(tmp)).toEqual([]);
    const [figures, run] = [dataOf('a.html', 'figures'), dataOf('a.html', 'run')];
    expect(run).toMatchObject({
      ...{ command: 'dedup', inputs: ['news.a'], names: ['news.a'], rejected: 1, texts: 'cut' },
      ...{ method: 'minhash', threshold: 0.8 },
    });
    expect(figures.dates).toMatchObject({ unit: 'day', undated: { documents: 0 } });
    // The same as of files.
    const all = await source.find({ body: { $ne: null } }, { sort: { _id: 1 } }).toArray();
    const lines = all.map(({ _id, body, at }) =>
      JSON.stringify({ id: `{"$oid":"${_id}"}`, text: body, date: at.day }),
    );
    folder.write('a.jsonl', `${lines.join('\n')}\n`);
    await dedupFiles(folder.join('a.jsonl'), folder.join('a.unique.jsonl'), {
      ...{ report: folder.join('files.html'), dateField: 'date' },
    });
    const { names, inputs, ...ofFiles } = dataOf('files.html', 'figures');
    const { names: _, inputs: bars, ...ofCollection } = figures;
    expect(ofCollection).toEqual(ofFiles);
    expect(bars.bars).toHaveLength(1);
    expect(figures.examples[0].members[0].id).toBe('{"$oid":"000000000000000000000000"}');
  });

  test('shows known documents by their collection, marks too, and as much of texts as is asked for', async () => {
    const [source, known] = [await news('b'), await news('b.known')];
    const summary = await dedupCollection(source, undefined, {
      ...{ textField: 'body', known, mark: true, report: folder.join('b.html'), tmp },
      reportTexts: 'none',
    });
    expect(summary.report).toMatchObject({ documents: 9, duplicates: 9 });
    expect(dataOf('b.html', 'run')).toMatchObject({ names: ['news.b.known', 'news.b'] });
    expect(dataOf('b.html', 'figures').others).toBe(9);
    expect(folder.read('b.html')).not.toContain(passage(0).slice(0, 20));
  });

  test('of awkward ids and texts is whole, and without near-duplicates says so', async () => {
    const source = await filled(db.collection('c'), 400);
    const report = folder.join('c.html');
    const { rejected } = await dedupCollection(source, db.collection('c.unique'), { report, tmp });
    expect(dataOf('c.html', 'run').rejected).toBe(rejected);
    expect(dataOf('c.html', 'figures').all.documents).toBe(400 - rejected);
    const single = db.collection('d');
    await single.insertOne({ text: passage(1) });
    const options = { report: folder.join('d.html'), tmp };
    const summary = await dedupCollection(single, db.collection('d.unique'), options);
    expect(summary.report).toMatchObject({ documents: 1, duplicates: 0, groups: 0 });
  });

  test('that cannot be written leaves a run that goes on with it', async () => {
    const source = await news('e');
    const target = db.collection('e.unique');
    const options = { textField: 'body', tmp };
    const place = folder.join('gone');
    const { mkdirSync } = await import('node:fs');
    mkdirSync(place);
    const run = dedupCollection(source, target, {
      ...options,
      report: join(place, 'e.html'),
      onProgress: () => rmSync(place, { recursive: true, force: true }),
    });
    await expect(run).rejects.toThrow('all documents are written: the same command goes on');
    expect(await target.countDocuments()).toBe(6);
    expect(readdirSync(tmp)).toHaveLength(1);
    // The clusters are made again where they are not there.
    rmSync(join(tmp, readdirSync(tmp)[0] ?? '', 'clusters.jsonl'));
    const report = folder.join('e.html');
    const summary = await dedupCollection(source, target, { ...options, report });
    expect(summary).toMatchObject({ repeated: false, report: { documents: 9, duplicates: 3 } });
    expect(await target.countDocuments()).toBe(6);
    expect(readdirSync(tmp)).toEqual([]);
    // What is done has nothing left of which one could be made.
    rmSync(report);
    await expect(dedupCollection(source, target, { ...options, report })).rejects.toMatchObject({
      code: 'ERR_SIMHASH_TARGET',
      message: expect.stringContaining('was done before, and what it read is gone'),
    });
    expect(existsSync(report)).toBe(false);
    expect((await dedupCollection(source, target, options)).repeated).toBe(true);
  });

  test.skipIf(CHROMIUM === undefined)(
    'says where documents are, and what was rejected, in a browser',
    async () => {
      const source = await news('p');
      const known = await news('p.known');
      const report = folder.join('p.html');
      const options = { textField: 'body', known, report, tmp };
      await dedupCollection(source, db.collection('p.unique'), options);
      const browser = await launch();
      try {
        const { page, complaints } = await open(browser, pathToFileURL(report).href);
        // biome-ignore lint/performance/useDomNodeTextContent: as it is seen
        const said = await page.evaluate(() => document.body.innerText);
        expect(complaints).toEqual([]);
        expect(said).toMatch(/Rejected\s+1\b/i);
        expect(said).toMatch(/Known before\s+9\b/i);
        expect(said).toContain('news.p.known:1');
        expect(said).toContain('news.p:1');
        expect(said).toContain('as extended JSON');
        expect(said).not.toContain('simhash-mongodb-');
      } finally {
        await browser.close();
      }
    },
  );

  test.each([
    [{ report: '-' }, 'a report is a file of its own'],
    [{ report: folder.path }, 'it is a folder'],
    [{ report: folder.join('none/x.html') }, 'there is no folder'],
    [{ report: 'x.html', texts: false }, 'report must be left out beside texts: false'],
    [{ dateField: 'at' }, 'dateField is for report, which is not given'],
    [{ reportTexts: 'none' }, 'reportTexts is for report, which is not given'],
  ])('%j is refused before anything is read', async (options, reason) => {
    const run = dedupCollection(db.collection('f'), db.collection('g'), options as never);
    await expect(run).rejects.toThrow(reason);
    expect(await db.listCollections({ name: 'g.runs' }).toArray()).toEqual([]);
  });

  test('comes from the command line, too', async () => {
    await news('h');
    const args = [server.at('news.h'), '-o', server.at('news.h.unique'), '--text-field', 'body'];
    const { status, stdout } = await folder.run([
      ...['dedup', ...args, '--report', 'h.html', '--date-field', 'at.day', '--json'],
    ]);
    expect(status).toBe(1);
    const marked = await folder.run([
      ...['dedup', server.at('news.h'), '--mark', '--text-field', 'body', '--report', 'm.html'],
    ]);
    expect(marked.stderr).toContain('m.html: 2 of 2 clusters with their members');
    expect(dataOf('m.html', 'figures').all).toEqual({ documents: 9, duplicates: 3 });
    expect(JSON.parse(stdout).report).toMatchObject({ documents: 9, groups: 2 });
    expect(dataOf('h.html', 'run').names).toEqual(['news.h']);
    for (const [more, reason] of [
      [['--report', 'x.html', '--no-texts'], '--report must be left out beside --no-texts'],
      [['--date-field', 'at'], '--date-field is for --report FILE'],
    ] as const) {
      const refused = await folder.run(['dedup', ...args, ...more]);
      expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining(reason)]);
    }
    expect(readFileSync(folder.join('h.html'), 'utf8')).toContain('Content-Security-Policy');
  });
});
