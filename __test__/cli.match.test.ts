import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Folder, jsonLines, ROOT, SAMPLE } from './cli-run';

const {
  Fingerprinter,
  hammingDistance,
  similarity: measure,
} = (await import(join(ROOT, 'dist', 'index.js'))) as typeof import('../ts');
const folder = new Folder();

interface Row {
  readonly id: string;
  readonly matches: readonly { id: string; similarity?: number; distance?: number }[];
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

/** Every different text of the corpus with a fingerprint near that of `text`, or the same text and nothing else. */
function near(text: string, maxDistance: number, by: InstanceType<typeof Fingerprinter>) {
  const own = by.fingerprint(text);
  const normalised = by.normalize(text);
  const texts = new Set<string>();
  const different = corpus.filter((doc) => {
    const isNew = !texts.has(by.normalize(doc.text));
    texts.add(by.normalize(doc.text));
    return isNew;
  });
  const same = different.find((doc) => by.normalize(doc.text) === normalised && normalised !== '');
  if (same !== undefined) return [{ id: same.id, similarity: 1, distance: 0 }];
  return different.flatMap((doc) => {
    const other = by.fingerprint(doc.text);
    const distance = own !== undefined && other !== undefined ? hammingDistance(own, other) : 99;
    const similarity = measure(text, doc.text, by);
    return distance <= maxDistance ? [{ id: doc.id, similarity, distance }] : [];
  });
}

test.each([
  ['its defaults', ['--method', 'simhash'], 8, 0.8, {}],
  ['a wide distance', ['--max-distance', '16', '--min-similarity', '0.5'], 16, 0.5, {}],
  [
    'other features',
    ['--method', 'simhash', '--ngram', '3', '--min-similarity', '0.6'],
    8,
    0.6,
    { ngram: 3 },
  ],
] as const)(
  'by simhash with %s, matches are those that comparing all gives',
  async (_name, args, k, least, options) => {
    const by = new Fingerprinter(options);
    const rows = await match('--against', 'corpus', ...args);
    expect(rows.map(({ id }) => id)).toEqual(fresh.map(({ id }) => id));
    for (const [at, { matches, truncated }] of rows.entries()) {
      const expected = near(fresh[at]?.text ?? '', k, by)
        .filter(({ similarity }) => similarity >= least)
        .sort((a, b) => b.similarity - a.similarity);
      expect(matches).toEqual(expected);
      expect(truncated).toBeUndefined();
    }
    expect(rows.filter(({ matches }) => matches.length > 0).length).toBeGreaterThan(10);
  },
);

test('--limit keeps the most similar and says what it left out', async () => {
  const all = await match('--against', 'corpus', '--min-similarity', '0.2', '--max-distance', '16');
  const one = await match(
    ...['--against', 'corpus', '--min-similarity', '0.2', '--max-distance', '16', '--limit', '1'],
  );
  expect(one.map(({ matches }) => matches)).toEqual(all.map(({ matches }) => matches.slice(0, 1)));
  expect(one.map(({ truncated }) => truncated)).toEqual(
    all.map(({ matches }) => (matches.length > 1 ? true : undefined)),
  );
  expect(all.some(({ matches }) => matches.length > 1)).toBe(true);
});

test('by every method, matches are the pairs between the two', async () => {
  for (const method of ['minhash', 'simhash', 'sentences', 'brute-force', 'exact']) {
    const { stdout } = await folder.run(['pairs', 'corpus', 'fresh', '-q', '--method', method]);
    const pairs = jsonLines<{ a: string; b: string; similarity: number; distance?: number }>(
      stdout,
    );
    const place = new Map(corpus.map(({ id }, row) => [id, row]));
    for (const { id, matches } of await match('--against', 'corpus', '--method', method)) {
      const own = pairs.filter(({ a, b }) => b === id && place.has(a));
      // A copy of a new document has the matches of that one.
      const first = pairs.find(
        ({ a, b, similarity }) => b === id && similarity === 1 && !place.has(a),
      );
      const all = first ? pairs.filter(({ a, b }) => b === first.a && place.has(a)) : own;
      const expected = all
        .sort(
          (x, y) => y.similarity - x.similarity || (place.get(x.a) ?? 0) - (place.get(y.a) ?? 0),
        )
        .map(({ a, b: _b, ...related }) => ({ id: a, ...related }));
      expect(matches).toEqual(expected);
    }
  }
});

test('without verification the nearest fingerprints come first', async () => {
  const by = new Fingerprinter();
  const rows = await match('--against', 'corpus', '--verify', 'off', '--max-distance', '12');
  for (const [at, { matches }] of rows.entries()) {
    const expected = near(fresh[at]?.text ?? '', 12, by).sort((a, b) => a.distance - b.distance);
    expect(matches).toEqual(
      expected.map(({ id, distance, similarity }) =>
        // Of copies it is known.
        similarity === 1 ? { id, similarity, distance } : { id, distance },
      ),
    );
  }
});

test('with --index it is index query', async () => {
  await folder.run(['index', 'build', 'saved', 'corpus']);
  const query = await folder.run(['index', 'query', 'saved', 'fresh', '-q']);
  expect(await match('--index', 'saved')).toEqual(jsonLines(query.stdout));
});

test('malformed lines of either side are told and exit 1; the output is whole', async () => {
  folder.write('broken', '{"text": 7}\n{"id": "x", "text": "一"}\n');
  for (const [given, among] of [
    ['broken', 'corpus'],
    ['fresh', 'broken'],
  ] as const) {
    const ended = await folder.run(['match', given, '--against', among, '-o', 'out']);
    expect(ended.status).toBe(1);
    expect(ended.stderr).toContain('broken:1: field text is a number, not a string');
    expect(folder.records<Row>('out')).toHaveLength(given === 'broken' ? 1 : fresh.length);
  }
});

test.each([
  [['match', 'fresh'], 'match needs --against FILE or --index DIR'],
  [['match', 'fresh', '--against', 'corpus', '--index', 'i'], 'and not both'],
  [['match', 'fresh', '--index', 'i', '--features', 'words'], '--features is for --against'],
  [['match', 'fresh', '--index', 'i', '--method', 'simhash'], '--method is for --against'],
  [['match', '-', '--against', '-'], 'only once'],
  [['match', 'fresh', '--against', 'corpus', '-o', 'corpus'], 'the output corpus is also an input'],
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
  const args = ['match', 'one', '--against', 'cut', '-q', '--max-distance', '16'];
  const { stdout } = await folder.run([...args, '--min-similarity', '0.5']);
  const [row] = jsonLines<Row>(stdout);
  const expected = docs
    .map((doc) => ({
      id: doc.id,
      similarity: measure(text, doc.text, by),
      distance: hammingDistance(by.fingerprint(text) ?? 0n, by.fingerprint(doc.text) ?? 0n),
    }))
    .filter(({ similarity, distance }) => similarity >= 0.5 && distance <= 16)
    .sort((a, b) => b.similarity - a.similarity);
  expect(row?.matches).toEqual(expected);
  const distances = expected.map(({ distance }) => distance);
  expect(distances).not.toEqual([...distances].sort((a, b) => a - b));
});

test('--remove leaves the records without a match, byte for byte, and --mark names the best of the others', async () => {
  const rows = await match('--against', 'corpus');
  const matched = new Map(rows.flatMap(({ id, matches: [best] }) => (best ? [[id, best]] : [])));
  expect(matched.size).toBeGreaterThan(5);
  const run = async (...args: string[]) => {
    const { status, stdout } = await folder.run(['match', 'fresh', '-q', ...args]);
    expect(status).toBe(0);
    return stdout;
  };
  const removed = await run('--against', 'corpus', '--remove');
  expect(removed).toBe(lines(fresh.filter(({ id }) => !matched.has(id))));
  const marked = jsonLines<Doc & { duplicateOf?: string; similarity?: number }>(
    await run('--against', 'corpus', '--mark'),
  );
  const expected = fresh.map((doc) => {
    const best = matched.get(doc.id);
    return best ? { ...doc, duplicateOf: best.id, similarity: best.similarity } : doc;
  });
  expect(marked).toEqual(expected);
  // An index of the same documents says the same.
  const built = await folder.run(['index', 'build', 'looked-in', 'corpus', '-q']);
  expect(built.status).toBe(0);
  expect(await run('--index', 'looked-in', '--remove')).toBe(removed);
  const queried = await folder.run(['index', 'query', 'looked-in', 'fresh', '-q', '--remove']);
  expect(queried.stdout).toBe(removed);
  const told = await folder.run(['match', 'fresh', '--against', 'corpus', '--remove', '-o', 'out']);
  expect(told.stderr).toContain(`\n${fresh.length - matched.size} documents without\n`);
});

test('of texts in files those without a match are listed, or copied', async () => {
  mkdirSync(join(folder.path, 'texts'));
  folder.write('texts/a.txt', corpus[0]?.text ?? '');
  folder.write('texts/b.txt', '另一篇与它无关的文章，讲的是山里的一座老桥和一条小河');
  const listed = await folder.run(['match', 'texts', '--against', 'corpus', '--list', '-q']);
  expect(listed.stdout).toBe('texts/b.txt\n');
  const args = ['match', 'texts', '--against', 'corpus', '--copy', 'left', '-q', '--json'];
  const copied = await folder.run(args);
  expect(JSON.parse(copied.stdout)).toMatchObject({ documents: 2, matched: 1 });
  expect(readdirSync(join(folder.path, 'left'))).toEqual(['b.txt']);
});

test.each([
  [['--remove', '--mark'], '--mark must be left out beside --remove'],
  [['--list', '--copy', 'x'], '--copy must be left out beside --list'],
  [['--remove', '--limit', '3'], '--limit must be left out beside --remove'],
  [['--output-encoding', 'gbk'], '--output-encoding is for --remove and --mark'],
  [['--copy', 'x', '-o', 'y'], '--copy is instead of -o FILE'],
])('%j is refused', async (args, why) => {
  const { status, stderr } = await folder.run(['match', 'fresh', '--against', 'corpus', ...args]);
  expect(status).toBe(2);
  expect(stderr).toContain(`error: ${why}`);
});
