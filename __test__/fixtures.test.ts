// Files that fixtures/make.mjs made with a release. Those of the present format open and answer as they did; those of 0.1.0
// are of formats that are no longer read, and are refused by name, but for the databases of sentences.
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryLevel } from 'memory-level';
import { afterAll, describe, expect, test } from 'vitest';
import { Index } from '..';
import { KeptIndex, type Level } from '../dist/connect/level.js';
import { BARE } from './indexes';

const scratch = mkdtempSync(join(tmpdir(), 'simhash-fixtures-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

interface Answers {
  size: number;
  matches: unknown[];
  keys?: (string | null)[];
}
interface Expected {
  texts: string[];
  fingerprints: Answers;
  signatures: Answers;
  equal?: Answers;
  bare?: Answers;
  sentences: Answers;
  level: Answers;
  cli: string;
}

const folderOf = (release: string) => join(__dirname, 'fixtures', release);
const expectedOf = (release: string): Expected =>
  JSON.parse(readFileSync(join(folderOf(release), 'expected.json'), 'utf8'));

/** A copy that may be written to. */
function copied(release: string, name: string): string {
  const path = join(scratch, `${release}-${name}`);
  copyFileSync(join(folderOf(release), name), path);
  return path;
}

const plain = (value: unknown) => JSON.parse(JSON.stringify(value));

const window = { maxAge: 100 };
const bin = join(__dirname, '..', 'dist', 'cli', 'bin.js');
const sample = join(__dirname, '..', 'examples', 'sample.jsonl');

/** Asks the index of the command line. */
function query(release: string) {
  const path = copied(release, 'cli.index');
  const args = ['index', 'query', sample, '--index', path, '-o', '-', '--quiet'];
  return spawnSync(process.execPath, [bin, ...args], { encoding: 'utf8' });
}

describe('a file of the present format opens and answers as it did', () => {
  const release = '0.2.0';
  const expected = expectedOf(release);
  const { texts } = expected;

  test.each([
    ['fingerprints', { method: 'simhash' }],
    ['signatures', { method: 'minhash' }],
    ['equal', { method: 'exact' }],
  ] as const)('%s, with keys, texts and a window', async (name, options) => {
    const answers = expected[name] as Answers;
    for (const index of [
      await Index.open(copied(release, `${name}.index`), options as { method: 'exact' }),
      Index.openSync(copied(release, `${name}.index`), options as { method: 'exact' }),
    ]) {
      expect(index.size).toBe(answers.size);
      expect(plain(texts.map((text) => index.search(text)))).toEqual(answers.matches);
      expect(texts.map((_, id) => index.keyOf(id) ?? null)).toEqual(answers.keys);
      expect(index.add(texts[0] ?? '', { at: 2_000 })).toBe(texts.length);
    }
  });

  test('bare signatures', async () => {
    const index = await Index.open(copied(release, 'bare.index'), { texts: false });
    expect(index.size).toBe(expected.bare?.size);
    expect(plain(texts.map((text) => index.search(text)))).toEqual(expected.bare?.matches);
  });

  test('a folder of groups, with a log behind its checkpoint, goes on', async () => {
    const path = join(scratch, 'sentences');
    cpSync(join(folderOf(release), 'sentences'), path, { recursive: true });
    const index = await Index.open(path, { groups: true, window });
    expect(index.position).toBe(3 * Math.ceil(texts.length / 3));
    expect(index.size).toBe(expected.sentences.size);
    expect(plain(texts.map((text) => index.search(text)))).toEqual(expected.sentences.matches);
    index.add('一句在旧文件之后写下的足够长的句子。', { at: 1_123 });
    const size = index.size;
    await index.close();
    const again = await Index.open(path, { groups: true, window });
    expect(again.size).toBe(size);
    await again.close();
  });

  test('the index of the command line', () => {
    expect(query(release).stdout).toBe(expected.cli);
  });
});

test.each(['0.1.0', '0.2.0'])('a database of sentences of %s opens', async (release) => {
  const { texts, level } = expectedOf(release);
  const db = new MemoryLevel<Buffer, Buffer>({ keyEncoding: 'buffer', valueEncoding: 'buffer' });
  const lines = readFileSync(join(folderOf(release), 'level.jsonl'), 'utf8')
    .trim()
    .split('\n');
  for (const line of lines) {
    const [key, value] = JSON.parse(line).map((part: string) => Buffer.from(part, 'base64'));
    await db.put(key, value);
  }
  const { index } = await KeptIndex.open(db as unknown as Level, { window });
  expect(index.size).toBe(level.size);
  // 0.1.0 had no word on how a match is known.
  const found = texts.map((text) =>
    index
      .search(text)
      .map(({ id, shared, ...how }) =>
        release === '0.1.0' ? { id, shared } : { id, ...how, shared },
      ),
  );
  expect(plain(found)).toEqual(level.matches);
});

describe('a file of 0.1.0 is refused with what to do, and stays as it was', () => {
  const release = '0.1.0';
  const refused = (path: string, format: number) => ({
    name: 'SimHashError',
    code: 'ERR_SIMHASH_INDEX_FORMAT',
    message: `${path}: the index was saved by release 0.1 (format ${format}), and this release reads format 3 only; build it again from its documents`,
  });

  test.each([
    ['fingerprints.index', BARE, 2],
    ['signatures.index', { texts: false }, 2],
    ['sentences.index', { groups: true }, 1],
  ] as [string, { texts: false }, number][])('%s', async (name, options, format) => {
    const path = copied(release, name);
    await expect(Index.open(path, options)).rejects.toMatchObject(refused(path, format));
    expect(() => Index.openSync(path, options)).toThrowError(
      expect.objectContaining(refused(path, format)),
    );
    expect(readFileSync(path)).toEqual(readFileSync(join(folderOf(release), name)));
  });

  test('the index of the command line', () => {
    const { status, stderr } = query(release);
    expect(status).toBe(4);
    expect(stderr).toContain('saved by release 0.1');
  });
});
