import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Cluster, ended, Folder, jsonLines, ROOT, SAMPLE } from './cli-run';
import { posix } from './posix';

const posixTest = posix('named pipes and signals');

const {
  Fingerprinter,
  hammingDistance,
  similarity: measure,
} = (await import(join(ROOT, 'dist', 'index.js'))) as typeof import('../ts');

interface Pair {
  readonly a: string;
  readonly b: string;
  readonly similarity?: number;
  readonly distance?: number;
}

const A = '望海市地铁四号线二期工程今天贯通，线路全长十六点七公里，设站十二座。';
const A2 = `【转载】${A}`;
const documents = jsonLines<{ id: string; text: string }>(readFileSync(SAMPLE, 'utf8'));
const textOf = new Map(documents.map(({ id, text }) => [id, text]));
const record = (id: string, text: string) => `${JSON.stringify({ id, text })}\n`;

/** Every pair of different texts with fingerprints within `k` bits; of equal texts the first stands for all. */
function bruteForce(k: number): string[] {
  const by = new Fingerprinter();
  const first = new Map<string, { id: string; value: bigint }>();
  const found: string[] = [];
  for (const { id, text } of documents) {
    const value = by.fingerprint(text);
    if (value === undefined) continue;
    const normalised = by.normalize(text);
    const same = first.get(normalised);
    if (same !== undefined) {
      found.push(`${same.id} ${id} 0`);
      continue;
    }
    for (const other of first.values()) {
      const distance = hammingDistance(value, other.value);
      if (distance <= k) found.push(`${other.id} ${id} ${distance}`);
    }
    first.set(normalised, { id, value });
  }
  return found.sort();
}

const shown = ({ a, b, distance }: Pair) => `${a} ${b} ${distance}`;
const long = (id: string) => new Fingerprinter().fingerprint(textOf.get(id) ?? '') !== undefined;

test.each([0, 3, 8, 12])('pairs within %i bits are those of comparing all with all', async (k) => {
  const folder = new Folder();
  const args = ['pairs', SAMPLE, '--max-distance', `${k}`, '--verify', 'off'];
  const { status, stdout } = await folder.run(args);
  const pairs = jsonLines<Pair>(stdout).filter(({ a }) => long(a));
  expect(status).toBe(0);
  expect(pairs.map(shown).sort()).toEqual(bruteForce(k));
  // Of copies alone it is known.
  expect(
    pairs.every(({ similarity, distance }) => similarity === undefined || distance === 0),
  ).toBe(true);
});

test('what pairs connect is what clusters --cluster components says, by every method', async () => {
  const folder = new Folder();
  for (const method of ['minhash', 'simhash', 'sentences', 'brute-force', 'exact']) {
    const args = [SAMPLE, '-q', '--method', method];
    const { stdout } = await folder.run(['pairs', ...args]);
    const label = new Map(documents.map(({ id }) => [id, id]));
    for (const { a, b } of jsonLines<Pair>(stdout)) {
      const [from, to] = [label.get(b), label.get(a) ?? a];
      for (const [id, own] of label) if (own === from) label.set(id, to);
    }
    const members = new Map<string, string[]>();
    for (const [id, own] of label) members.set(own, [...(members.get(own) ?? []), id].sort());
    const connected = [...members.values()];
    const said = await folder.run(['clusters', ...args, '--cluster', 'components']);
    const expected = jsonLines<Cluster>(said.stdout).map((cluster) =>
      cluster.members.map(({ id }) => id).sort(),
    );
    expect(connected.filter(({ length }) => length > 1).sort()).toEqual(expected.sort());
    expect(expected.length).toBeGreaterThan(10);
  }
});

test('short texts pair only with the same text', async () => {
  const folder = new Folder();
  folder.write(
    'in',
    record('x', '早 安') + record('y', '早安') + record('z', '晚安') + record('e', ''),
  );
  const { stdout } = await folder.run(['pairs', 'in']);
  expect(jsonLines(stdout)).toEqual([{ a: 'x', b: 'y', similarity: 1 }]);
  const simhash = await folder.run(['pairs', 'in', '--method', 'simhash']);
  expect(jsonLines(simhash.stdout)).toEqual([{ a: 'x', b: 'y', similarity: 1, distance: 0 }]);
});

test('verified pairs are those of the candidates that are similar enough', async () => {
  const folder = new Folder();
  const of = async (least: string) => {
    const args = ['pairs', SAMPLE, '--max-distance', '16', '--min-similarity', least, '-o', 'out'];
    expect(await folder.run(args)).toMatchObject({ status: 0, stdout: '' });
    return folder.records<Pair>('out');
  };
  const measured = (await of('0')).map((pair) => ({
    ...pair,
    similarity: measure(textOf.get(pair.a) ?? '', textOf.get(pair.b) ?? ''),
  }));
  const enough = measured.filter(({ similarity }) => similarity >= 0.8);
  expect(await of('0.8')).toEqual(enough);
  expect(enough.length).toBeGreaterThan(50);
  expect(enough.length).toBeLessThan(measured.length);
});

test('a thousand copies are 999 pairs with the first', async () => {
  const folder = new Folder();
  folder.write('in', Array.from({ length: 1_000 }, (_, n) => record(`${n}`, A)).join(''));
  const { stdout } = await folder.run(['pairs', 'in']);
  const pairs = jsonLines<Pair>(stdout);
  expect(new Set(pairs.map(({ b }) => b)).size).toBe(999);
  expect(pairs.every(({ a, similarity }) => a === '0' && similarity === 1)).toBe(true);
});

test('the number of threads changes no byte', async () => {
  const folder = new Folder();
  const of = async (threads: string) =>
    (await folder.run(['pairs', SAMPLE, '--threads', threads])).stdout;
  const [one, all] = [await of('1'), await of('0')];
  expect(one.length).toBeGreaterThan(1_000);
  expect(all).toBe(one);
});

test('several inputs are one collection, and their lines are named', async () => {
  const folder = new Folder();
  folder.write('a', `${JSON.stringify({ text: A })}\n`);
  folder.write('b', `oops\n${JSON.stringify({ text: A2 })}\n`);
  const { status, stdout, stderr } = await folder.run(['pairs', 'a', 'b']);
  expect(status).toBe(1);
  expect(jsonLines(stdout)).toEqual([{ a: 'a:1', b: 'b:2', similarity: expect.closeTo(0.9, 1) }]);
  expect(stderr).toContain('b:1: ');
  expect(stderr).toContain('read 3 = documents 2 + rejected 1');
});

test('--json is the summary, and goes where the pairs do not', async () => {
  const folder = new Folder();
  folder.write('in', record('a', A) + record('b', A2));
  const summary = { read: 2, documents: 2, rejected: 0, candidates: 1, pairs: 1 };
  const toFile = await folder.run(['pairs', 'in', '-o', 'out', '--json']);
  expect(JSON.parse(toFile.stdout)).toMatchObject(summary);
  const streamed = await folder.run(['pairs', 'in', '--json']);
  expect(JSON.parse(streamed.stderr)).toMatchObject({ ...summary, options: { method: 'minhash' } });
  expect(streamed.stdout).toBe(folder.read('out'));
});

test.each([
  [['pairs', '-', '-'], 2, 'only once'],
  [['pairs', 'in', '-o', 'in'], 2, 'the output in is also an input'],
  [['pairs', 'in', '--rejects', '-'], 2, 'only -o can be standard output'],
  [['pairs', 'in', '--cluster', 'components'], 2, 'unknown option'],
  [['pairs', 'missing'], 3, 'cannot read missing'],
  [
    ['pairs', 'in', '-o', 'no/folder'],
    3,
    'cannot write no/folder: there is no folder no; make it first',
  ],
  [['pairs', 'in', '--max-distanse', '3'], 2, 'did you mean --max-distance?'],
] as const)('%j exits %i and leaves no file', async (args, status, says) => {
  const folder = new Folder();
  folder.write('in', record('a', A));
  const ended = await folder.run(args);
  expect(ended).toMatchObject({ status, stdout: '', stderr: expect.stringContaining(says) });
  expect(folder.names()).toEqual(['in']);
  expect(folder.read('in')).toBe(record('a', A));
});

test('a reader that closes early ends pairs quietly', async () => {
  const folder = new Folder();
  // More pairs than the buffers of both pipes hold.
  folder.write('in', Array.from({ length: 20_000 }, (_, n) => record(`${n}`, A)).join(''));
  const child = folder.start(['pairs', 'in', '--min-similarity', '0', '-q']);
  const end = ended(child);
  if (child.stdout === null) throw new Error('the child has no standard output');
  await once(child.stdout, 'data');
  child.stdout.destroy();
  expect(await end).toMatchObject({ status: 0, stderr: '' });
});

posixTest('SIGINT says that a streamed output is incomplete', async () => {
  const folder = new Folder();
  execFileSync('mkfifo', [folder.join('in')]);
  const child = folder.start(['pairs', 'in']);
  const end = ended(child);
  const pipe = await open(folder.join('in'), 'w');
  child.kill('SIGINT');
  const result = await end;
  await pipe.close();
  expect(result).toMatchObject({ status: 130, stdout: '' });
  expect(result.stderr).toContain('interrupted; the output is incomplete');
});

posixTest('SIGINT leaves the old file and nothing else', async () => {
  const folder = new Folder();
  execFileSync('mkfifo', [folder.join('in')]);
  folder.write('out', 'old\n');
  const child = folder.start(['pairs', 'in', '-o', 'out']);
  const end = ended(child);
  // Opening the other end waits until the child reads: then its handlers are in place.
  const pipe = await open(folder.join('in'), 'w');
  await pipe.write(record('a', A));
  child.kill('SIGINT');
  const result = await end;
  await pipe.close();
  expect(result).toMatchObject({ status: 130, stdout: '' });
  expect(result.stderr).toContain('interrupted; no output was written');
  expect(folder.names()).toEqual(['in', 'out']);
  expect(folder.read('out')).toBe('old\n');
});
