/** Fingerprints that a release must not change: the files that the Rust tests hold, read from JavaScript. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Fingerprinter, Index, type Preset, toHex } from '..';
import { ROOT } from './cli-run';

const GOLDEN = join(ROOT, 'crates', 'sketch', 'tests', 'golden');

/** Every preset: a new one does not compile here without its file. */
const presets: Record<Preset, string> = {
  auto: 'auto.tsv',
  chars: 'chars.tsv',
  'jieba-tfidf': 'jieba_tfidf.tsv',
};

test.each(Object.entries(presets) as [Preset, string][])('%s', (name, file) => {
  const by = Fingerprinter.preset(name);
  const lines = readFileSync(join(GOLDEN, file), 'utf8').split('\n').filter(Boolean);
  const texts = lines.map((line) =>
    (line.split('\t')[0] ?? '').replaceAll('\\n', '\n').replaceAll('\\t', '\t'),
  );
  const expected = lines.map((line) => line.split('\t')[1]);
  const hex = (value: bigint | undefined) => (value === undefined ? '-' : toHex(value));
  expect([...by.fingerprintMany(texts)].map(hex)).toEqual(expected);
  expect(texts.map((text) => hex(by.fingerprint(Buffer.from(text))))).toEqual(expected);
  expect(expected.filter((value) => value !== '-').length).toBeGreaterThan(4);
  // The index fingerprints as the preset does.
  const index = new Index({ preset: name, maxDistance: 0, texts: false });
  for (const [row, text] of texts.entries()) {
    const value = by.fingerprint(text);
    if (value === undefined) continue;
    const id = index.add(text);
    expect(index.search(value).map((match) => match.id)).toContain(id);
    expect(toHex(value)).toBe(expected[row]);
  }
});

test('the default fingerprinter is the preset auto', () => {
  const text = '青禾市图书馆新馆昨日起试运行，新馆位于云浦大道东侧，地上五层。';
  expect(new Fingerprinter().fingerprint(text)).toBe(
    Fingerprinter.preset('auto').fingerprint(text),
  );
});
