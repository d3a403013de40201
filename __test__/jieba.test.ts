/** The keywords of Python jieba's `extract_tags`, bit for bit, as JavaScript sees them. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { Fingerprinter } from '..';
import { jsonLines, ROOT } from './cli-run';

const SHARED = join(ROOT, '..', 'shared');
const FIXTURE = join(SHARED, 'fixtures', 'jieba', 'extract_tags.jsonl.gz');
const by = Fingerprinter.preset('jieba-tfidf');

interface Line {
  readonly set: string;
  readonly id: string;
  readonly text?: string;
  readonly sha256_16: string;
  readonly tags: readonly (readonly [word: string, weight: string])[];
}

const unpacked = (path: string) => gunzipSync(readFileSync(path)).toString();
const keywords = (text: string) => by.features(text).map(({ token, weight }) => [token, weight]);

test('the lines of the repository, made with Python jieba 0.42.1', () => {
  const golden = join(ROOT, 'crates', 'text', 'tests', 'jieba_parity', 'golden.jsonl');
  const lines = jsonLines<{ text: string; tags: Line['tags'] }>(readFileSync(golden, 'utf8'));
  expect(lines.length).toBeGreaterThan(30);
  for (const { text, tags } of lines) {
    const expected = tags.map(([word, weight]) => [word, Number(weight)]);
    expect(keywords(text), text).toEqual(expected);
  }
});

const present = existsSync(FIXTURE);
if (!present) console.log(`not tested: no fixtures at ${FIXTURE}`);

describe.runIf(present)('the fixtures', () => {
  const fixture = jsonLines<Line>(present ? unpacked(FIXTURE) : '');
  const texts = new Map<string, Map<string, string>>();

  /** The text that a line is about: its own, or that of a record of a data set. */
  function textOf({ set, id, text }: Line): string {
    if (text !== undefined) return text;
    let known = texts.get(set);
    if (known === undefined) {
      const records = jsonLines<{ id: string | number; text: string }>(
        unpacked(join(SHARED, 'data', set, 'docs.jsonl.gz')),
      );
      known = new Map(records.map((record) => [String(record.id), record.text]));
      texts.set(set, known);
    }
    return known.get(String(id)) ?? '';
  }

  test.each([...new Set(fixture.map(({ set }) => set))])('%s: words, weights and order', (set) => {
    const lines = fixture.filter((line) => line.set === set);
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) {
      const text = textOf(line);
      const digest = createHash('sha256').update(text).digest('hex').slice(0, 16);
      expect(digest, `${set} ${line.id} is not the text of the fixture`).toBe(line.sha256_16);
      const tags = line.tags.map(([word, weight]) => [word, Number(weight)]);
      expect(keywords(text), `${set} ${line.id}`).toEqual(tags);
    }
  });
});
