// Files that fixtures/make.mjs made with a release. Those of the present format open and answer as they did: 0.2.0 from before an index stated the
// version of the specification by which it decides, 0.2.0-specification-1 with it. Those of 0.1.0
// are of formats that are no longer opened: they are refused by name, and converted, but for the databases of sentences, which open.
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { MemoryLevel } from 'memory-level';
import { afterAll, describe, expect, test } from 'vitest';
import { convertIndex, dedup, Index, openState } from '..';
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
  'fingerprints.folder'?: Answers;
  'signatures.folder'?: Answers;
  'equal.folder'?: Answers;
  state?: unknown[];
}

const folderOf = (release: string) => join(__dirname, 'fixtures', release);
const expectedOf = (release: string): Expected =>
  JSON.parse(readFileSync(join(folderOf(release), 'expected.json'), 'utf8'));

/** A copy that may be written to. */
function copied(release: string, name: string): string {
  const path = join(scratch, `${release}-${name}`);
  cpSync(join(folderOf(release), name), path, { recursive: true });
  return path;
}

const plain = (value: unknown) => JSON.parse(JSON.stringify(value));

const window = { maxAge: 100 };
const bin = join(__dirname, '..', 'dist', 'cli', 'bin.js');
const sample = join(__dirname, '..', 'examples', 'sample.jsonl');
const records = new Map<string, string>(
  readFileSync(sample, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .map(({ id, text }) => [id, text]),
);

/** Asks the index of the command line. */
function query(release: string) {
  const path = copied(release, 'cli.index');
  const args = ['index', 'query', path, sample, '-o', '-', '--quiet'];
  return spawnSync(process.execPath, [bin, ...args], { encoding: 'utf8' });
}

/** Folders of the present format, and whether the indexes in them state a version. */
const PRESENT = [
  ['0.2.0', false],
  ['0.2.0-specification-1', true],
] as const;

describe.each(PRESENT)('a file of %s opens and answers as it did', (release, isStated) => {
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

  test('every index states the version of the specification, or none', () => {
    const files = readdirSync(folderOf(release), { recursive: true, encoding: 'utf8' });
    const indexes = files.filter((name) => /\.index$|checkpoint-\d+$/.test(name));
    const isFile = (name: string) => statSync(join(folderOf(release), name)).isFile();
    expect(indexes.filter(isFile)).toHaveLength(10);
    for (const name of indexes.filter(isFile)) {
      // Head, frame HEAD with its length, length of the recipe.
      const recipe = readFileSync(join(folderOf(release), name)).subarray(32 + 16 + 8);
      expect([name, recipe.toString('latin1').startsWith('specification 1; ')]).toEqual([
        name,
        isStated,
      ]);
    }
  });

  test('bare signatures', async () => {
    const index = await Index.open(copied(release, 'bare.index'), { texts: false });
    expect(index.size).toBe(expected.bare?.size);
    expect(plain(texts.map((text) => index.search(text)))).toEqual(expected.bare?.matches);
  });

  test('a folder of groups, with a log behind its checkpoint, goes on', async () => {
    const path = join(scratch, `${release}-sentences`);
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

  test.each(['fingerprints', 'signatures', 'equal'] as const)('a folder: %s', async (name) => {
    const path = join(scratch, `${release}-${name}.folder`);
    cpSync(join(folderOf(release), `${name}.folder`), path, { recursive: true });
    const answers = expected[`${name}.folder`] as Answers;
    for (const readOnly of [true, false]) {
      const index = await Index.open(path, { readOnly, create: readOnly ? undefined : false });
      expect(index.position).toBe(texts.length);
      expect(index.size).toBe(answers.size);
      expect(plain(texts.map((text) => index.search(text)))).toEqual(answers.matches);
      expect(texts.map((_, id) => index.keyOf(id) ?? null)).toEqual(answers.keys);
      if (!readOnly) expect(index.add(texts[0] ?? '', { at: 2_000 })).toBe(texts.length);
      await index.close();
    }
  });

  test('the state of a stream goes on', async () => {
    const path = join(scratch, `${release}-state`);
    cpSync(join(folderOf(release), 'state'), path, { recursive: true });
    await using state = await openState(path);
    const rows = texts.map((text, row) => ({
      text: row % 7 === 6 ? undefined : text,
      id: row % 5 === 4 ? row : `key-${row}`,
    }));
    const how = { text: 'text', key: 'id', onMissing: 'reject', state } as const;
    const found: unknown[] = [];
    for await (const { doc: _, ...decision } of dedup<object>(rows.slice(state.position), how)) {
      found.push(plain(decision));
    }
    expect(found).toEqual(expected.state);
  });
});

test('an index of 0.2.0 repeats what keys were answered, from its checkpoint and its log', async () => {
  const release = '0.2.0-runs';
  const { texts, told } = JSON.parse(
    readFileSync(join(folderOf(release), 'expected.json'), 'utf8'),
  );
  const index = await Index.open(copied(release, 'answers'), { create: false });
  expect(index.size).toBe(2);
  for (const [row, answer] of told.entries()) {
    // The document of this key was deleted: the key is new. Its duplicates are answered as before, less the key.
    if (row === 2) continue;
    const again = index.checkAndAdd(`与${texts.length}篇都不同的第${row}篇`, {
      key: `key-${row}`,
      at: 1_010,
    });
    const key = answer.key === 'key-2' ? undefined : answer.key;
    expect(plain(again)).toEqual({ ...answer, key, repeated: true });
  }
  expect(index.checkAndAdd('又一篇', { key: 'key-2', at: 1_010 }).repeated).toBeUndefined();
  expect(index.size).toBe(3);
  await index.close();
});

describe('a file of 0.1.0 is converted, answers as it did, and stays as it was', () => {
  const release = '0.1.0';
  const expected = expectedOf(release);
  const { texts } = expected;
  const made = (name: string) => join(scratch, `${name}.made`);

  async function converted(name: string): Promise<string> {
    const [old, folder] = [copied(release, `${name}.index`), made(name)];
    const before = readFileSync(old);
    const { documents } = await convertIndex(old, folder);
    expect(documents).toBe(expected[name as 'level']?.size ?? 303);
    expect(readFileSync(old)).toEqual(before);
    return folder;
  }

  /** What both releases say of a match, in the order of 0.1.0. */
  const both = (rows: object[][], fields: string[], by: string) =>
    rows.map((row) =>
      row
        .map((match) => Object.fromEntries(fields.map((name) => [name, Reflect.get(match, name)])))
        .sort((a, b) => Number(a[by]) - Number(b[by]) || Number(a.id) - Number(b.id)),
    );

  test('fingerprints, with keys and short texts', async () => {
    const index = await Index.open(await converted('fingerprints'), { method: 'simhash' });
    const fields = ['id', 'distance', 'key'];
    const found = texts.map((text) => index.search(text));
    expect(both(found, fields, 'distance')).toEqual(
      both(expected.fingerprints.matches as object[][], fields, 'distance'),
    );
    expect(texts.map((_, id) => index.keyOf(id) ?? null)).toEqual(expected.fingerprints.keys);
    // Only equal texts are known to be duplicates.
    expect(found.flat().every(({ verified, distance }) => !verified || distance === 0)).toBe(true);
    expect(index.stats().durable?.path).toBe(made('fingerprints'));
    await index.close();
  });

  test('signatures', async () => {
    const index = await Index.open(await converted('signatures'), {
      texts: false,
      scheme: 'permutations',
      minSimilarity: 0.8,
      window,
    });
    const found = texts.map((text) => index.search(text));
    expect(found.flat().every(({ verified }) => verified === false)).toBe(true);
    expect(plain(found.map((row) => row.map(({ verified: _, ...match }) => match)))).toEqual(
      expected.signatures.matches,
    );
    expect(index.add(texts[0] ?? '', { at: 2_000 })).toBe(texts.length);
    await index.close();
  });

  test('sentences with their log', async () => {
    const index = await Index.open(await converted('sentences'), { groups: true, window });
    const found = texts.map((text) => index.search(text).map(({ id, shared }) => ({ id, shared })));
    expect(found).toEqual(expected.sentences.matches);
    await index.close();
  });

  test('a database of sentences, by a snapshot of its index', async () => {
    const { index } = await KeptIndex.open(await database(release), { window });
    await index.snapshot(made('level'));
    const folder = await Index.open(made('level'), { groups: true, window, readOnly: true });
    const found = texts.map((text) =>
      folder.search(text).map(({ id, shared }) => ({ id, shared })),
    );
    expect(found).toEqual(expected.level.matches);
    await folder.close();
  });

  test('the index of the command line, by the command line', async () => {
    const old = copied(release, 'cli.index');
    copied(release, 'cli.index.ids.jsonl');
    const run = (...args: string[]) =>
      spawnSync(process.execPath, [bin, 'index', 'convert', ...args], { encoding: 'utf8' });
    const { stdout, stderr, status } = run(old, made('cli'));
    expect({ stdout, stderr, status }).toEqual({
      stdout: `${made('cli')}: 303 documents, simhash\n`,
      stderr: '',
      status: 0,
    });
    const index = await Index.open(made('cli'), { method: 'simhash', keys: true });
    for (const line of expected.cli.trim().split('\n')) {
      const { id, matches } = JSON.parse(line);
      const own = index.idOf(id) as number;
      expect(index.keyOf(own)).toBe(id);
      const record = records.get(id) ?? '';
      const found = index.search(record);
      expect(found.map(({ key, distance }) => ({ id: key, distance }))).toEqual(matches);
      expect(found.every(({ verified, similarity }) => !verified || similarity === 1)).toBe(true);
    }
    await index.close();
    const again = run(old, made('cli'), '--json');
    expect(again).toMatchObject({ status: 3, stdout: '' });
    expect(again.stderr).toContain(
      'it holds an index already; name a folder that does not exist yet',
    );
    const json = run(old, made('json'), '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({
      index: made('json'),
      method: 'simhash',
      documents: 303,
      tornBytes: 0,
    });
  });

  test('into the folder that one is in, if it is empty', async () => {
    const here = join(scratch, 'here');
    mkdirSync(here);
    const run = (old: string) =>
      spawnSync(process.execPath, [bin, 'index', 'convert', old, '.'], {
        encoding: 'utf8',
        cwd: here,
      });
    const beside = copied(release, 'signatures.index');
    expect(run(beside)).toMatchObject({
      status: 0,
      stderr: '',
      stdout: `.: ${expected.signatures.size} documents, minhash\n`,
    });
    const options = { texts: false, scheme: 'permutations', minSimilarity: 0.8, window } as const;
    const index = await Index.open(here, options);
    expect(index.size).toBe(expected.signatures.size);
    await index.close();
    expect(run(beside)).toMatchObject({ status: 3, stdout: '' });
    // The old file in the folder is a file of somebody: it stays, and no index is made around it.
    rmSync(here, { recursive: true });
    mkdirSync(here);
    copyFileSync(beside, join(here, 'old.index'));
    const refused = run('old.index');
    expect(refused).toMatchObject({ status: 3, stdout: '' });
    expect(refused.stderr).toContain('other files (old.index); name a folder of its own');
    expect(readdirSync(here)).toEqual(['old.index']);
    expect(readFileSync(join(here, 'old.index'))).toEqual(readFileSync(beside));
  });

  test('damage exits 4 and names file and byte, and nothing is made', () => {
    const old = join(scratch, 'damaged.index');
    const bytes = readFileSync(join(folderOf(release), 'signatures.index'));
    bytes.writeUInt8(bytes.readUInt8(40_000) ^ 4, 40_000);
    writeFileSync(old, bytes);
    const args = ['index', 'convert', old, made('damaged')];
    const { status, stderr } = spawnSync(process.execPath, [bin, ...args], { encoding: 'utf8' });
    expect(status).toBe(4);
    expect(stderr).toMatch(/damaged\.index: the saved index is damaged at byte \d+: the checksum/);
    expect(existsSync(made('damaged'))).toBe(false);
  });

  test('misuse', async () => {
    const old = copied(release, 'signatures.index');
    await expect(convertIndex(old, made('x'), { keys: true } as object)).rejects.toThrow(TypeError);
    await expect(convertIndex(1 as never, made('x'))).rejects.toThrow(TypeError);
    await expect(convertIndex(join(scratch, 'none'), made('x'))).rejects.toMatchObject({
      code: 'ERR_SIMHASH_INPUT',
    });
    await expect(convertIndex(scratch, made('x'))).rejects.toThrow(/it is a folder/);
    const reason = new Error('enough');
    const job = convertIndex(old, made('x'), { signal: AbortSignal.abort(reason) });
    await expect(job).rejects.toBe(reason);
    const own = join(folderOf('0.2.0'), 'signatures.index');
    const { method, documents } = await convertIndex(pathToFileURL(own), made('x'));
    expect({ method, documents }).toEqual({ method: 'minhash', documents: 42 });
  });
});

/** The database of a release. */
async function database(release: string): Promise<Level> {
  const db = new MemoryLevel<Buffer, Buffer>({ keyEncoding: 'buffer', valueEncoding: 'buffer' });
  const lines = readFileSync(join(folderOf(release), 'level.jsonl'), 'utf8');
  for (const line of lines.trim().split('\n')) {
    const [key, value] = JSON.parse(line).map((part: string) => Buffer.from(part, 'base64'));
    await db.put(key, value);
  }
  return db as unknown as Level;
}

const ALL = ['0.1.0', ...PRESENT.map(([release]) => release)];
test.each(ALL)('a database of sentences of %s opens', async (release) => {
  const { texts, level } = expectedOf(release);
  const { index } = await KeptIndex.open(await database(release), { window });
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
    message: `${path}: the index was saved by release 0.1 (format ${format}), and this release reads format 3 only; make a folder of it with \`simhash-native index convert\`, or build it again from its documents`,
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
