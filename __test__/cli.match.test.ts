import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Folder, jsonLines, ROOT, SAMPLE } from './cli-run';

const { Fingerprinter, hammingDistance, jaccard } = (await import(
  join(ROOT, 'dist', 'index.js')
)) as typeof import('../ts');
const folder = new Folder();

interface Row {
  readonly id: string;
  readonly matches: readonly { id: string; similarity?: number; distance: number }[];
  readonly truncated?: true;
}
interface Doc {
  readonly id: string;
  readonly text: string;
}

const sample = jsonLines<Doc>(readFileSync(SAMPLE, 'utf8'));
const [corpus, fresh] = [sample.slice(0, 200), sample.slice(200)];
const lines = (docs: readonly unknown[]) => docs.map((doc) => `${JSON.stringify(doc)}\n`).join('');
folder.write('corpus', lines(corpus));
folder.write('fresh', lines(fresh));

async function match(...args: string[]): Promise<Row[]> {
  const { status, stdout, stderr } = await folder.run(['match', 'fresh', '-q', ...args]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return jsonLines<Row>(stdout);
}

/** Every document of the corpus with a fingerprint near that of `text`, or with the same short text. */
function near(text: string, maxDistance: number, by: InstanceType<typeof Fingerprinter>) {
  const own = by.fingerprint(text);
  return corpus.flatMap((doc) => {
    const other = by.fingerprint(doc.text);
    const same = by.normalize(text) === by.normalize(doc.text) && by.normalize(text) !== '';
    const distance =
      own !== undefined && other !== undefined ? hammingDistance(own, other) : same ? 0 : 99;
    const similarity = jaccard(text, doc.text, by);
    return distance <= maxDistance ? [{ id: doc.id, similarity, distance }] : [];
  });
}

test.each([
  ['the defaults', [], 8, 0.8, {}],
  ['a wide distance', ['--max-distance', '16', '--min-similarity', '0.5'], 16, 0.5, {}],
  ['other features', ['--ngram', '3', '--min-similarity', '0.6'], 8, 0.6, { ngram: 3 }],
] as const)(
  'with %s, matches are those that comparing all gives',
  async (_name, args, k, least, options) => {
    const by = new Fingerprinter(options);
    const rows = await match('--corpus', 'corpus', ...args);
    expect(rows.map(({ id }) => id)).toEqual(fresh.map(({ id }) => id));
    for (const [at, { matches, truncated }] of rows.entries()) {
      const expected = near(fresh[at]?.text ?? '', k, by)
        .filter(({ similarity }) => similarity >= least)
        .sort((a, b) => b.similarity - a.similarity || a.distance - b.distance);
      expect(matches).toEqual(expected);
      expect(truncated).toBeUndefined();
    }
    expect(rows.filter(({ matches }) => matches.length > 0).length).toBeGreaterThan(10);
  },
);

test('--limit keeps the most similar and says what it left out', async () => {
  const all = await match('--corpus', 'corpus', '--min-similarity', '0.2', '--max-distance', '16');
  const one = await match(
    ...['--corpus', 'corpus', '--min-similarity', '0.2', '--max-distance', '16', '--limit', '1'],
  );
  expect(one.map(({ matches }) => matches)).toEqual(all.map(({ matches }) => matches.slice(0, 1)));
  expect(one.map(({ truncated }) => truncated)).toEqual(
    all.map(({ matches }) => (matches.length > 1 ? true : undefined)),
  );
  expect(all.some(({ matches }) => matches.length > 1)).toBe(true);
});

test('with --min-similarity 0 the nearest fingerprints come, unverified', async () => {
  const by = new Fingerprinter();
  const rows = await match('--corpus', 'corpus', '--min-similarity', '0', '--max-distance', '12');
  for (const [at, { matches }] of rows.entries()) {
    const expected = near(fresh[at]?.text ?? '', 12, by).sort((a, b) => a.distance - b.distance);
    expect(matches).toEqual(expected.map(({ id, distance }) => ({ id, distance })));
  }
});

test('with --index it is index query', async () => {
  await folder.run(['index', 'build', 'corpus', '-o', 'saved']);
  const query = await folder.run(['index', 'query', 'fresh', '--index', 'saved', '-q']);
  expect(lines(await match('--index', 'saved'))).toBe(query.stdout);
});

test('malformed lines of either side are told and exit 1; the output is whole', async () => {
  folder.write('broken', '{"text": 7}\n{"id": "x", "text": "一"}\n');
  for (const [given, among] of [
    ['broken', 'corpus'],
    ['fresh', 'broken'],
  ] as const) {
    const ended = await folder.run(['match', given, '--corpus', among, '-o', 'out']);
    expect(ended.status).toBe(1);
    expect(ended.stderr).toContain('broken:1: field text is not a string');
    expect(folder.records<Row>('out')).toHaveLength(given === 'broken' ? 1 : fresh.length);
  }
});

test.each([
  [['match', 'fresh'], 'match needs --corpus FILE or --index INDEX'],
  [['match', 'fresh', '--corpus', 'corpus', '--index', 'i'], 'and not both'],
  [['match', 'fresh', '--index', 'i', '--features', 'words'], '--features is for --corpus'],
  [
    ['match', 'fresh', '--index', 'i', '--min-similarity', '0.9'],
    '--min-similarity is for --corpus',
  ],
  [['match', '-', '--corpus', '-'], 'only once'],
  [['match', 'fresh', '--corpus', 'corpus', '-o', 'corpus'], 'is an input, and would be replaced'],
])('%j exits 2', async (args, says) => {
  const { status, stdout, stderr } = await folder.run(args);
  expect(stderr).toContain(says);
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
});

test('the most similar come first, also where another fingerprint is nearer', async () => {
  const text =
    '青禾市图书馆新馆昨日起试运行，新馆位于云浦大道东侧，地上五层，藏书一百二十万册，设有阅览座位。';
  const by = new Fingerprinter();
  // Each loses some characters; what that does to a fingerprint is chance, so the two orders differ.
  const docs = Array.from({ length: 40 }, (_, row) => {
    const [at, length] = [(row * 7) % 30, 1 + (row % 9)];
    return { id: `d${row}`, text: text.slice(0, at) + text.slice(at + length) };
  });
  folder.write('one', lines([{ id: 'q', text }]));
  folder.write('cut', lines(docs));
  const args = ['match', 'one', '--corpus', 'cut', '-q', '--max-distance', '16'];
  const { stdout } = await folder.run([...args, '--min-similarity', '0.5']);
  const [row] = jsonLines<Row>(stdout);
  const expected = docs
    .map((doc) => ({
      id: doc.id,
      similarity: jaccard(text, doc.text, by),
      distance: hammingDistance(by.fingerprint(text) ?? 0n, by.fingerprint(doc.text) ?? 0n),
    }))
    .filter(({ similarity, distance }) => similarity >= 0.5 && distance <= 16)
    .sort((a, b) => b.similarity - a.similarity || a.distance - b.distance);
  expect(row?.matches).toEqual(expected);
  const distances = expected.map(({ distance }) => distance);
  expect(distances).not.toEqual([...distances].sort((a, b) => a - b));
});
