import { expect, test } from 'vitest';
import { jaccard, MinHasher, minHash } from '..';

/** Of bigrams, by the definition in another language: the golden file of the core holds all schemes. */
const GOLDEN = [2_269_035_741, 3_242_895_500, 2_543_535_602, 2_329_512_590];

/** Texts that share more or less of one long text. */
const words = Array.from({ length: 400 }, (_, at) => `w${(at * 7919) % 1000}`);
const text = words.join(' ');
const changed = (every: number) =>
  words.map((word, at) => (at % every === 0 ? `x${at}` : word)).join(' ');

const schemes = ['fast-similarity', 'permutations', 'one-permutation', 'bottom-k'] as const;

test.each(schemes)('%s: estimates are near the exact similarity of the same features', (scheme) => {
  const hasher = new MinHasher({ scheme, hashes: 512, fingerprinter: { ngram: 4 } });
  for (const every of [3, 5, 10, 50]) {
    const exact = jaccard(text, changed(every), { ngram: 4 });
    const { similarity, standardError } = hasher.estimate(
      hasher.signature(text),
      hasher.signature(changed(every)),
    );
    // Five standard errors; the seed is fixed.
    expect(Math.abs(similarity - exact)).toBeLessThan(5 * standardError + 1e-9);
    expect(standardError).toBeLessThan(0.03);
  }
});

test('strings, bytes, batches and jobs give the same signatures', async () => {
  const texts = Array.from({ length: 300 }, (_, at) => changed(2 + at));
  texts.push('', '短');
  const hasher = new MinHasher({ hashes: 40 });
  const single = texts.map((one) => hasher.signature(one));
  expect(hasher.signature(Buffer.from(text))).toEqual(hasher.signature(text));
  const [many, job] = [hasher.signatureMany(texts), await hasher.signatureManyAsync(texts)];
  for (const batch of [many, job]) {
    expect(batch.length).toBe(texts.length);
    expect([...batch]).toEqual(single);
    expect(batch.get(300)).toEqual(new Uint32Array());
    expect(batch.get(302)).toBeUndefined();
  }
});

test('signatures are the same in every release, and 64 bits are others', () => {
  expect([...minHash('近似重复的文本', { hashes: 4 })]).toEqual(GOLDEN);
  const hasher = new MinHasher({ hashes: 4, seed: 2n ** 64n - 1n });
  expect([...hasher.signature('近似重复的文本')]).not.toEqual(GOLDEN);
  const wide = hasher.signature64('近似重复的文本');
  expect(wide).toBeInstanceOf(BigUint64Array);
  expect(wide).toHaveLength(4);
  expect(hasher.estimate(wide, wide).similarity).toBe(1);
});

test('an empty text resembles nothing, not even another', () => {
  const hasher = new MinHasher();
  const [empty, full] = [hasher.signature('  '), hasher.signature(text)];
  expect(empty).toHaveLength(0);
  expect(hasher.estimate(empty, empty)).toEqual({ similarity: 0, standardError: 0 });
  expect(hasher.estimate(empty, full)).toEqual({ similarity: 0, standardError: 0 });
});

test('small sets are exact by bottom-k, which keeps at most the distinct features', () => {
  const hasher = new MinHasher({ scheme: 'bottom-k', fingerprinter: { ngram: 1 } });
  const [a, b] = [hasher.signature('abcdef'), hasher.signature('cdefgh')];
  expect([a.length, b.length]).toEqual([6, 6]);
  expect([...a]).toEqual([...a].sort((x, y) => x - y));
  expect(hasher.estimate(a, b)).toEqual({ similarity: 0.5, standardError: 0 });
});

test('misuse is refused with what is wrong', () => {
  const hasher = new MinHasher({ hashes: 8 });
  const eight = hasher.signature(text);
  expect(() => hasher.estimate(eight, new Uint32Array(7))).toThrowError(
    expect.objectContaining({ code: 'ERR_OUT_OF_RANGE' }),
  );
  expect(() => hasher.estimate(eight, new BigUint64Array(8) as never)).toThrowError(
    expect.objectContaining({ code: 'ERR_INVALID_ARG_TYPE' }),
  );
  expect(() => hasher.signature(5 as never)).toThrow(TypeError);
  expect(() => new MinHasher({ hashes: 0 })).toThrow(RangeError);
  expect(() => new MinHasher({ seed: -1 })).toThrow(RangeError);
  expect(() => new MinHasher({ seed: 2n ** 64n })).toThrow(RangeError);
  expect(() => new MinHasher({ scheme: 'minwise' as never })).toThrow(TypeError);
  expect(() => new MinHasher({ hashs: 8 } as never)).toThrow("did you mean 'hashes'?");
});

test('an aborted job rejects with the reason', async () => {
  const reason = new Error('enough');
  const job = new MinHasher().signatureManyAsync([text], { signal: AbortSignal.abort(reason) });
  await expect(job).rejects.toBe(reason);
});
