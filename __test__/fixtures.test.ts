// Files that release 0.1.0 saved must open in every later one and answer as they did: fixtures/0.1.0/make.mjs made them.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryLevel } from 'memory-level';
import { afterAll, describe, expect, test } from 'vitest';
import { Index, type Level, LevelSentenceIndex, MinHashIndex, SentenceIndex } from '..';

const folder = join(__dirname, 'fixtures', '0.1.0');
const scratch = mkdtempSync(join(tmpdir(), 'simhash-fixtures-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

interface Answers {
  size: number;
  matches: unknown[];
}
const expected: {
  texts: string[];
  fingerprints: Answers & { keys: (string | null)[] };
  signatures: Answers;
  sentences: Answers;
  level: Answers;
  cli: string;
} = JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8'));
const { texts } = expected;

/** A copy that may be written to. */
function copied(name: string): string {
  const path = join(scratch, name);
  copyFileSync(join(folder, name), path);
  return path;
}

const plain = (value: unknown) => JSON.parse(JSON.stringify(value));

describe('a file saved by 0.1.0 opens and answers as it did', () => {
  test('Index, with keys, texts and a window', async () => {
    for (const index of [
      await Index.open(copied('fingerprints.index')),
      Index.openSync(copied('fingerprints.index')),
    ]) {
      expect(index.size).toBe(expected.fingerprints.size);
      expect(plain(texts.map((text) => index.search(text)))).toEqual(expected.fingerprints.matches);
      expect(texts.map((_, id) => index.keyOf(id) ?? null)).toEqual(expected.fingerprints.keys);
      expect(index.add(texts[0] ?? '', { at: 2_000 })).toBe(texts.length);
    }
  });

  test('MinHashIndex', async () => {
    const index = await MinHashIndex.open(copied('signatures.index'));
    expect(index.size).toBe(expected.signatures.size);
    expect(plain(texts.map((text) => index.search(text)))).toEqual(expected.signatures.matches);
    expect(index.add(texts[0] ?? '', { at: 2_000 })).toBe(texts.length);
  });

  test('SentenceIndex, with frames behind its snapshot, and goes on', async () => {
    const path = copied('sentences.index');
    const index = await SentenceIndex.open(path, { window: { maxAge: 100 } });
    expect(index.size).toBe(expected.sentences.size);
    expect(plain(texts.map((text) => index.search(text)))).toEqual(expected.sentences.matches);
    index.add('一句在旧文件之后写下的足够长的句子。', { at: 1_123 });
    const size = index.size;
    await index.close();
    const again = await SentenceIndex.open(path, { window: { maxAge: 100 } });
    expect(again.size).toBe(size);
    await again.close();
  });

  test('LevelSentenceIndex, from the keys and values of its database', async () => {
    const db = new MemoryLevel<Buffer, Buffer>({ keyEncoding: 'buffer', valueEncoding: 'buffer' });
    const lines = readFileSync(join(folder, 'level.jsonl'), 'utf8').trim().split('\n');
    for (const line of lines) {
      const [key, value] = JSON.parse(line).map((part: string) => Buffer.from(part, 'base64'));
      await db.put(key, value);
    }
    const index = await LevelSentenceIndex.open(db as unknown as Level, {
      window: { maxAge: 100 },
    });
    expect(index.size).toBe(expected.level.size);
    expect(plain(texts.map((text) => index.search(text)))).toEqual(expected.level.matches);
  });

  test('the index of the command line', () => {
    const [path] = [copied('cli.index'), copied('cli.index.ids.jsonl')];
    const bin = join(__dirname, '..', 'dist', 'cli', 'bin.js');
    const sample = join(__dirname, '..', 'examples', 'sample.jsonl');
    const args = ['index', 'query', sample, '--index', path, '-o', '-', '--quiet'];
    expect(execFileSync(process.execPath, [bin, ...args], { encoding: 'utf8' })).toBe(expected.cli);
  });
});
