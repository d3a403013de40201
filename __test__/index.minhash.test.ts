import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { type Checked, Index, jaccard, MinHasher, type MinHashIndexOptions } from '..';
import { bare } from './indexes';

const folder = mkdtempSync(join(tmpdir(), 'simhash-minhash-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string) => join(folder, name);

let state = 1;
const random = (bound: number) => {
  state = (state * 48_271) % 2_147_483_647;
  return state % bound;
};

/** `count` texts of some hundred words, every third a changed copy of an earlier one. */
function texts(count: number): string[] {
  const all: string[][] = [];
  for (let row = 0; row < count; row++) {
    const words =
      row % 3 === 2
        ? (all[random(all.length)] ?? []).map((word) => (random(12) === 0 ? `n${row}` : word))
        : Array.from({ length: 150 }, () => `w${random(100_000)}`);
    all.push(words);
  }
  return all.map((words) => words.join(' '));
}
const items = texts(600);
const features = { features: 'words', ngram: 2 } as const;

/** An index of signatures alone. */
const signed = (options: Omit<MinHashIndexOptions, 'texts'> = {}) =>
  new Index({ recall: 0.95, ...options, texts: false });

test('search finds what its plan promises, confirmed by signatures, and says how similar', () => {
  const index = signed({ ...features, minSimilarity: 0.6, recall: 0.99 });
  expect(index.addMany(items)).toEqual({ first: 0, count: items.length });
  const hasher = new MinHasher({ fingerprinter: features });
  const signatures = hasher.signatureMany(items);
  const signature = (row: number) => signatures.get(row) ?? new Uint32Array();
  let [pairs, found] = [0, 0];
  for (const [row, text] of items.slice(0, 40).entries()) {
    const matches = index.search(text);
    expect(matches[0]).toMatchObject({ id: row, similarity: 1, verified: false });
    for (const { id, similarity } of matches) {
      expect(similarity).toBe(hasher.estimate(signature(row), signature(id)).similarity);
      expect(similarity).toBeGreaterThanOrEqual(0.6);
    }
    for (const [id, other] of items.entries()) {
      if (jaccard(text, other, features) < 0.75) continue;
      pairs++;
      if (matches.some((match) => match.id === id)) found++;
    }
  }
  expect(pairs).toBeGreaterThan(45);
  // At 0.75 the plan finds more than 0.9999, and an estimate below 0.6 is four standard errors away.
  expect(found).toBe(pairs);
});

test('batches, jobs and signatures in place of texts decide as one by one', async () => {
  const options = { ...features, minSimilarity: 0.5 };
  const index = signed(options);
  const single: Checked<'minhash'>[] = items.map((item) => index.checkAndAdd(item));
  expect(single.filter(({ duplicateOf }) => duplicateOf !== undefined).length).toBeGreaterThan(100);
  expect([...signed({ ...options, threads: 1 }).checkAndAddMany(items)]).toEqual(single);
  expect([...(await signed(options).checkAndAddManyAsync(items))]).toEqual(single);
  const signatures = [...new MinHasher({ fingerprinter: features }).signatureMany(items)];
  expect([...signed(options).checkAndAddMany(signatures)]).toEqual(single);
  const rows = await index.searchManyAsync(items.slice(0, 20), { minSimilarity: 0, limit: 3 });
  expect([...rows]).toEqual([
    ...index.searchMany(items.slice(0, 20), { minSimilarity: 0, limit: 3 }),
  ]);
  for (const row of [0, 7, 19]) {
    expect(rows.get(row)).toEqual(index.search(items[row] ?? '', { minSimilarity: 0, limit: 3 }));
  }
});

test('with bands alone a shared band is the claim, and memory is a quarter', () => {
  const [bands, kept] = [signed({ signatures: false }), signed()];
  for (const index of [bands, kept]) index.addMany(items);
  const [match] = bands.search(items[0] ?? '', { limit: 1 });
  expect(match).toEqual({ id: 0, verified: false, bands: 13 });
  expect(bands.checkAndAdd(items[5] ?? '')).toMatchObject({ duplicateOf: 5, bands: 13 });
  expect(bands.stats()).toMatchObject({
    live: items.length,
    signatureBytes: 0,
    bands: 13,
    rows: 7,
  });
  expect(kept.stats().signatureBytes).toBe(4 * 128 * 1024);
});

test('plan prints the curve, by recall, by weights or as given', () => {
  const plan = Index.plan({ minSimilarity: 0.8, recall: 0.99 });
  expect(plan).toMatchObject({ bands: 16, rows: 6, hashes: 0, threshold: 0.8, method: 'minhash' });
  expect(Index.plan({ recall: 0.99, texts: false }).hashes).toBe(128);
  expect(plan.recall).toBeCloseTo(1 - (1 - 0.8 ** 6) ** 16, 12);
  expect(plan.curve).toHaveLength(21);
  for (const { similarity, probability } of plan.curve) {
    expect(probability).toBeCloseTo(1 - (1 - similarity ** 6) ** 16, 12);
  }
  const lenient = Index.plan({ weights: { falsePositive: 0.1, falseNegative: 0.9 } });
  const strict = Index.plan({ weights: { falsePositive: 0.9, falseNegative: 0.1 } });
  expect(strict.half).toBeGreaterThan(lenient.half);
  expect(Index.plan({ bands: 16, rows: 8 }).recall).toBeCloseTo(0.947, 3);
  expect(new Index({ bands: 16, rows: 8 }).stats()).toMatchObject({ bands: 16, rows: 8 });
});

test('options that do not go together are refused', () => {
  const code = (code: string) => expect.objectContaining({ code });
  const make = (options: object) => () => new Index({ method: 'minhash', ...options });
  expect(make({ bands: 4 })).toThrowError(code('ERR_INVALID_ARG_VALUE'));
  expect(make({ bands: 4, rows: 4, recall: 0.9 })).toThrowError(code('ERR_INVALID_ARG_VALUE'));
  expect(make({ scheme: 'bottom-k' })).toThrowError(code('ERR_INVALID_ARG_VALUE'));
  expect(make({ bands: 40, rows: 4, hashes: 128, texts: false })).toThrowError(
    code('ERR_OUT_OF_RANGE'),
  );
  expect(make({ recall: 0.9, weights: { falsePositive: 1, falseNegative: 1 } })).toThrowError(
    code('ERR_INVALID_ARG_VALUE'),
  );
  expect(make({ recall: 0 })).toThrowError(code('ERR_OUT_OF_RANGE'));
  expect(make({ recall: 1 })).toThrowError(code('ERR_OUT_OF_RANGE'));
  expect(make({ weights: { falsePositive: 1 } })).toThrowError(code('ERR_INVALID_ARG_TYPE'));
  expect(make({ hashs: 4 })).toThrow("did you mean 'hashes'?");
  expect(() => signed().add(new Uint32Array(5))).toThrowError(code('ERR_OUT_OF_RANGE'));
  expect(() => signed().add(5n as never)).toThrowError(code('ERR_INVALID_ARG_TYPE'));
});

test('delete hides, ids are not reused, empty texts match nothing, a closed index says so', () => {
  const index = signed();
  expect([index.add('一段文本'), index.add(''), index.add('')]).toEqual([0, 1, 2]);
  expect(index.checkAndAdd('一段文本')).toMatchObject({ duplicateOf: 0, similarity: 1 });
  expect(index.checkAndAdd('')).toEqual({ id: 3 });
  expect([index.delete(0), index.delete(0), index.has(0), index.size]).toEqual([
    true,
    false,
    false,
    3,
  ]);
  expect(index.checkAndAdd('一段文本')).toEqual({ id: 4 });
  expect(index.checkAndAdd('一段文本', { onDuplicate: 'add' })).toMatchObject({
    id: 5,
    duplicateOf: 4,
  });
  index.close();
  index.close();
  expect(() => index.size).toThrowError(expect.objectContaining({ code: 'ERR_SIMHASH_CLOSED' }));
});

test('forty thousand equal texts that are all added stay linear, and an answer says that it was cut', () => {
  const index = signed({ signatures: false });
  index.addMany(Array.from({ length: 40_000 }, () => '同一段文本，一再重复'));
  const found = index.searchMany(['同一段文本，一再重复'], { limit: 2 });
  expect([...found.get(0)]).toEqual([
    { id: 0, verified: false, bands: 13 },
    { id: 1, verified: false, bands: 13 },
  ]);
  expect(found.isTruncated(0)).toBe(true);
  expect(index.checkAndAdd('同一段文本，一再重复')).toEqual({
    duplicateOf: 0,
    verified: false,
    bands: 13,
    truncated: true,
  });
});

test('a window lets documents leave by age and count, as that of Index does', () => {
  const [index, plain] = [
    signed({ window: { maxAge: 100, maxCount: 50 } }),
    bare({ window: { maxAge: 100, maxCount: 50 } }),
  ];
  for (const [row, item] of items.slice(0, 200).entries()) {
    for (const each of [index, plain]) each.add(item, { at: row * 3 });
  }
  for (let id = 0; id < 200; id++) expect(index.has(id)).toBe(plain.has(id));
  expect(index.expire(new Date(580))).toBe(plain.expire(580));
  expect(index.size).toBe(plain.size);
  expect(() => signed().expire(1)).toThrowError(
    expect.objectContaining({ code: 'ERR_SIMHASH_NO_WINDOW' }),
  );
});

test('a saved index opens with equal answers and ids; another one is a mismatch', async () => {
  const options = {
    ...features,
    hashes: 96,
    window: { maxCount: 10_000 },
    seed: 9,
    texts: false,
  } as const;
  const index = signed({ ...options, minSimilarity: 0.6 });
  index.addMany(items.slice(0, 400), { at: 5 });
  index.delete(17);
  await index.save(at('whole'));
  const opened = [
    await Index.open(at('whole'), options),
    Index.openSync(at('whole'), { ...options, minSimilarity: 0.6 }),
  ];
  const expected = [...index.checkAndAddMany(items, { at: 6 })];
  for (const other of opened) {
    expect(other.size).toBe(399);
    expect([...other.checkAndAddMany(items, { at: 6 })]).toEqual(expected);
  }
  const mismatch = expect.objectContaining({ code: 'ERR_SIMHASH_INDEX_MISMATCH' });
  for (const wrong of [
    { ...options, seed: 8 },
    { ...options, ngram: 3 },
    { ...options, minSimilarity: 0.7 },
    { ...options, method: 'simhash', hashes: undefined, seed: undefined },
    { ...options, bands: 4, rows: 4 },
    { ...options, signatures: false },
    { ...options, hashes: options.hashes + 8 },
    { ...options, window: { maxCount: 5 } },
  ]) {
    await expect(Index.open(at('whole'), wrong as typeof options)).rejects.toThrowError(mismatch);
    expect(() => Index.openSync(at('whole'), wrong as typeof options)).toThrowError(mismatch);
  }
  // What is not given is its own.
  expect([...Index.openSync(at('whole')).checkAndAddMany(items, { at: 6 })]).toEqual(expected);
});

test('damage is named with the file', async () => {
  const index = signed({ signatures: false });
  index.addMany(items.slice(0, 20));
  await index.save(at('small'));
  const bytes = readFileSync(at('small'));
  const damaged = expect.objectContaining({
    code: 'ERR_SIMHASH_INDEX_DAMAGED',
    message: expect.stringContaining(at('bad')),
  });
  for (let step = 0; step < 40; step++) {
    const byte = Math.floor((bytes.length * step) / 40);
    writeFileSync(at('bad'), bytes.subarray(0, byte));
    expect(() => Index.openSync(at('bad'), { texts: false })).toThrowError(damaged);
    const flipped = Buffer.from(bytes);
    flipped[byte] = (flipped[byte] ?? 0) ^ 0x40;
    writeFileSync(at('bad'), flipped);
    expect(() => Index.openSync(at('bad'), { texts: false })).toThrowError(damaged);
  }
  await expect(Index.open(at('nowhere'), { create: false })).rejects.toMatchObject({
    code: 'ERR_SIMHASH_INPUT',
  });
  const unwritable = index.save(join(at('nowhere'), 'file'));
  await expect(unwritable).rejects.toMatchObject({
    code: 'ERR_SIMHASH_OUTPUT',
    message: expect.stringContaining(`there is no folder ${at('nowhere')}; make it first`),
  });
});
