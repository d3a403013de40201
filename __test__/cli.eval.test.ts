import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { Folder, ROOT, SAMPLE } from './cli-run';

const LABELS = join(ROOT, 'examples', 'sample.labels.jsonl');
const folder = new Folder();

/** The scorer of the corpora beside this repository. */
const SCORER = join(ROOT, '..', 'shared', 'data', 'tools', 'eval.py');
const python = spawnSync('python3', ['--version']).status === 0 && existsSync(SCORER);

const json = (values: readonly unknown[]) =>
  values.map((value) => `${JSON.stringify(value)}\n`).join('');

async function figures(...args: string[]): Promise<Record<string, number>> {
  const { status, stdout, stderr } = await folder.run(['eval', '--json', ...args]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(stdout) as Record<string, number>;
}

test('the result of dedup on the sample, as marks and as clusters, has the figures that its labels give', async () => {
  const run = ['dedup', SAMPLE, '-o', 'marked', '--mark', '--clusters', 'clusters', '-q'];
  expect((await folder.run([...run, '--max-distance', '12'])).status).toBe(0);
  for (const result of ['marked', 'clusters']) {
    expect(await figures(result, '--labels', LABELS, '--docs', SAMPLE)).toMatchObject({
      ...{ documents: 303, redundant: 117, removed: 117, documentRecall: 1, pairPrecision: 1 },
      ...{ labelledPrecision: 1, bcubedF1: 1, adjustedRand: 1, rejected: 0 },
    });
  }
});

test('the table is for people and goes to standard output', async () => {
  folder.write(
    'half',
    json([
      ['d001', 'd031'],
      ['d002', 'd003'],
    ]),
  );
  const args = ['eval', 'half', '--labels', LABELS, '--docs', SAMPLE];
  const { status, stdout, stderr } = await folder.run(args);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatch(/^documents +303 {2}117 redundant$/m);
  expect(stdout).toMatch(/^document recall +0\.008547 /m);
  expect(stdout).toMatch(/^pair precision +0\.500000 /m);
  expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThan(81);
});

test('files that name no duplicates are doubted', async () => {
  const twice = await folder.run(['eval', SAMPLE, '--labels', SAMPLE]);
  expect(twice.stderr).toContain('the labels name no duplicates: is --labels the right file?');
  expect(twice.stderr).toContain('the result names no duplicates: is RESULT the right file?');
  const half = await folder.run(['eval', SAMPLE, '--labels', LABELS]);
  expect(half.stderr).not.toContain('the labels name');
  expect(half.stderr).toContain('the result names no duplicates');
});

test('where the labels name no duplicates no recall is told', async () => {
  folder.write('apart', json([{ a: 'd001', b: 'd002', label: 0 }]));
  folder.write('some', json([['d001', 'd031']]));
  const args = ['eval', 'some', '--labels', 'apart', '--docs', SAMPLE];
  const { status, stdout, stderr } = await folder.run(args);
  expect(status).toBe(0);
  for (const name of ['document recall', 'removal recall', 'pair recall', 'B-cubed recall']) {
    expect(stdout).toMatch(new RegExp(`^${name} +-( |$)`, 'm'));
  }
  expect(stdout).toMatch(/^pair precision +1\.000000 /m);
  expect(stderr).toContain('the labels name no duplicates');
  const told = await figures(...args.slice(1));
  expect(told).toMatchObject({ redundant: 0, removed: 1, pairPrecision: 1 });
  for (const name of ['documentRecall', 'removalRecall', 'pairRecall', 'bcubedRecall', 'bcubedF1'])
    expect(told).not.toHaveProperty(name);
});

test('labels that say nothing at all are an error', async () => {
  folder.write('empty', '');
  folder.write('other', json([7, { members: 1 }]));
  const empty = await folder.run(['eval', SAMPLE, '--labels', 'empty']);
  expect(empty).toMatchObject({ status: 2, stdout: '' });
  expect(empty.stderr).toContain('--labels must be files that say what is true, got empty files');
  const other = await folder.run(['eval', SAMPLE, '--labels', 'other']);
  expect(other).toMatchObject({ status: 3, stdout: '' });
  expect(other.stderr).toContain('the first is other:1: 7 is no statement; it names no cluster');
});

test('a result comes from standard input, labels from several files, gzip or not', async () => {
  folder.write('one', json([['a', 'b']]));
  folder.write('two.gz', gzipSync(json([{ a: 'c', b: 'd', label: 1 }])));
  const args = ['eval', '-', '--labels', 'one', '--labels', 'two.gz', '--json'];
  const { stdout } = await folder.run(args, json([{ id: 'b', duplicateOf: 'a' }]));
  expect(JSON.parse(stdout)).toMatchObject({ redundant: 2, documentRecall: 0.5 });
});

test('a decision without an id has that of its line', async () => {
  folder.write('lines', json([{ text: '一' }, { text: '一', duplicateOf: 1 }]));
  folder.write('truth', json([[1, 2]]));
  expect(await figures('lines', '--labels', 'truth', '--docs', 'lines')).toMatchObject({
    ...{ documents: 2, documentRecall: 1, pairPrecision: 1 },
  });
});

test('malformed lines are named and counted, ids of no document are told', async () => {
  folder.write('broken', '["d001", "d031"]\n{"x": 1, "members": 2}\n{\n["d001", "nobody"]\n');
  const { status, stderr, stdout } = await folder.run([
    ...['eval', 'broken', '--labels', LABELS, '--docs', SAMPLE, '--json'],
  ]);
  expect(status).toBe(1);
  expect(stderr).toContain('broken:2: members is 2, not an array');
  expect(stderr).toContain('broken:3: ');
  expect(JSON.parse(stdout)).toMatchObject({ rejected: 2, unknownDecisions: 1, removed: 1 });
  const told = await folder.run(['eval', 'broken', '--labels', LABELS, '--docs', SAMPLE]);
  expect(told.stderr).toContain('1 id in the result is of no document');
});

test.each([
  [['eval', 'x'], 2, 'eval needs --labels FILE'],
  [['eval', '-', '--labels', '-'], 2, 'only once'],
  [['eval', 'x', '--labels'], 2, '--labels needs a value'],
  [['eval', 'nowhere', '--labels', LABELS], 3, 'cannot read nowhere'],
  [['eval', LABELS, '--labels', LABELS, '--ngram', '9'], 2, 'from 1 to 8'],
])('%j exits %i', async (args, status, says) => {
  const ended = await folder.run(args);
  expect(ended.stderr).toContain(says);
  expect(ended).toMatchObject({ status, stdout: '' });
});

/** The second of each pair, by the first. */
function grouped(pairs: readonly (readonly [string, string])[]): string[][] {
  const groups = new Map<string, string[]>();
  for (const [key, value] of pairs) groups.set(key, [...(groups.get(key) ?? []), value]);
  return [...groups.values()];
}

/** A generator of whole numbers below `bound`, the same every time. */
function numbers(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    // Marsaglia's xorshift, 32 bits.
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % bound;
  };
}

describe('the figures are those of the scorer beside this repository', () => {
  const NAMES = {
    documentRecall: 'doc_recall',
    removalRecall: 'doc_removed',
    pairs: 'pairs_reported',
    pairPrecision: 'pair_precision_j080',
    halfPrecision: 'pair_precision_j050',
    keptPrecision: 'kept_precision_j080',
    pairRecall: 'pair_recall_cap50',
    bcubedPrecision: 'bcubed_precision',
    bcubedRecall: 'bcubed_recall',
    bcubedF1: 'bcubed_f1',
    adjustedRand: 'adjusted_rand',
    redundant: 'redundant',
    documents: 'docs',
    removed: 'removed',
    unknownDecisions: 'unknown_ids',
  };
  const N = 3;

  test.each([1, 2, 3, 4, 5, 6])('on random corpora and results (seed %i)', async (seed) => {
    if (!python) {
      console.warn(`not compared: python3 or ${SCORER} is absent`);
      expect(python).toBe(false);
      return;
    }
    const next = numbers(seed * 7919);
    // Families of texts over few characters: many equal, many near.
    const bases = Array.from({ length: 8 }, () =>
      Array.from({ length: 18 + next(12) }, () => '甲乙丙丁戊己庚辛壬癸子丑寅卯'[next(14)]),
    );
    const corpus = Array.from({ length: 60 }, (_, row) => {
      const text = [...(bases[next(bases.length)] ?? [])];
      for (let edit = next(3); edit > 0; edit--) text[next(text.length)] = '天地玄黄'[next(4)];
      return { id: `d${row}`, text: text.join('') };
    });
    const set = `set-${seed}`;
    mkdirSync(folder.join(set), { recursive: true });
    const truth = exact(corpus);
    const labels = [
      ...truth.groups,
      ...truth.pairs.map(({ a, b, similarity }) => ({ a, b, similarity })),
    ];
    const put = (name: string, text: string) => folder.write(`${set}/${name}`, gzipSync(text));
    folder.write(`${set}/stats.json`, JSON.stringify({ truth: { [`char${N}`]: {} } }));
    put('docs.jsonl.gz', json(corpus));
    put('exact_groups.jsonl.gz', json(truth.groups));
    put(`clusters_j080_char${N}.jsonl.gz`, json(truth.clusters));
    const columns = truth.pairs.map(({ a, b, inter, sizes }) =>
      [a, b, 0, 0, inter, ...sizes].join('\t'),
    );
    put(`pairs_char${N}.tsv.gz`, ['header', ...columns, ''].join('\n'));
    folder.write(`${set}/labels`, json(labels));

    const id = () => `d${next(63)}`;
    const links = Array.from({ length: 12 }, () => ({
      id: id(),
      duplicateOf: next(3) ? id() : null,
    }));
    const clusters = Array.from({ length: 6 }, () => Array.from({ length: 1 + next(6) }, id));
    const near = truth.clusters.filter(() => next(2) === 0);
    for (const [name, result] of Object.entries({
      links,
      clusters,
      near,
      both: [...links, ...near],
    })) {
      const file = `${set}/${name}`;
      folder.write(file, json(result));
      const scored = spawnSync('python3', [SCORER, folder.join(set), folder.join(file)], {
        encoding: 'utf8',
      });
      const theirs = JSON.parse(scored.stdout) as Record<string, number | null>;
      const options = ['--ngram', String(N), '--normalize', 'default,whitespace=remove'];
      const docs = `${set}/docs.jsonl.gz`;
      const ours = await figures(file, '--labels', `${set}/labels`, '--docs', docs, ...options);
      for (const [own, their] of Object.entries(NAMES)) {
        expect([own, (ours[own] ?? Number.NaN).toFixed(6)]).toEqual([
          own,
          (theirs[their] ?? Number.NaN).toFixed(6),
        ]);
      }
    }
  });

  /** The truth of a small corpus, pair by pair. */
  function exact(corpus: readonly { id: string; text: string }[]) {
    const shingles = (text: string) =>
      new Set(Array.from({ length: text.length - N + 1 }, (_, at) => text.slice(at, at + N)));
    const groups = grouped(corpus.map(({ id, text }) => [text, id]));
    const firsts = groups.map(([id]) => corpus.find((document) => document.id === id));
    const pairs = [];
    for (const [row, one] of firsts.entries()) {
      for (const other of firsts.slice(row + 1)) {
        const [x, y] = [shingles(one?.text ?? ''), shingles(other?.text ?? '')];
        const inter = [...x].filter((shingle) => y.has(shingle)).length;
        const similarity = inter / (x.size + y.size - inter);
        if (similarity < 0.5) continue;
        pairs.push({
          a: one?.id ?? '',
          b: other?.id ?? '',
          similarity,
          inter,
          sizes: [x.size, y.size],
        });
      }
    }
    const name = new Map(groups.flatMap((ids) => ids.map((id) => [id, ids[0] ?? ''] as const)));
    for (const { a, b } of pairs.filter(({ similarity }) => similarity >= 0.8)) {
      const [from, to] = [name.get(b), name.get(a) ?? ''];
      for (const [id, old] of name) if (old === from) name.set(id, to);
    }
    const clusters = grouped([...name].map(([id, first]) => [first, id]));
    const long = (lists: string[][]) => lists.filter(({ length }) => length > 1);
    return { groups: long(groups), pairs, clusters: long(clusters) };
  }
});
