import { expect, test } from 'vitest';
import { Index } from '..';

test('a plan says what an index of its options has', () => {
  for (const options of [
    { maxDistance: 3 },
    { maxDistance: 5 },
    { plan: 'classic', maxDistance: 3 },
    { plan: 'k3-t6', maxDistance: 3 },
  ]) {
    const estimate = Index.plan({ ...options, capacity: 1_000_000 });
    const { plan, tables } = new Index({ ...options, capacity: 1_000_000 }).stats();
    expect([estimate.plan, estimate.tables]).toEqual([plan, tables]);
    expect(estimate.tableBits.length).toBe(tables);
    expect(estimate.prefixBits).toBe(Math.min(...estimate.tableBits));
    expect(estimate.bytesPerFingerprint).toBe(estimate.tableBytes + estimate.idBytes);
    expect(estimate.tableBytes).toBeGreaterThanOrEqual(8 * tables);
  }
});

test('every named plan can be asked for and built', () => {
  const names = Index.planNames();
  expect(names).toContain('k3-t6');
  for (const plan of ['k3-t6', 'k3-t11', 'classic']) {
    expect(Index.plan({ plan, maxDistance: 3, capacity: 50_000_000 })).toMatchObject({
      scans: false,
    });
    expect(new Index({ plan, texts: false }).checkAndAdd(1n)).toEqual({ id: 0 });
  }
});

test('small indexes scan, and say so', () => {
  expect(Index.plan({ capacity: 100 })).toMatchObject({ scans: true, lookups: 0, candidates: 100 });
});

test('a text counts the longest that is stored at most', () => {
  const of = (averageLength: number) =>
    Index.plan({ texts: { maxLength: 100 }, averageLength }).textBytes;
  expect([of(3000), of(101)]).toEqual([of(100), of(100)]);
  expect(of(50)).toBeLessThan(of(100));
});

test('what cannot be planned is refused by name', () => {
  const refused = (options: object, code: string) =>
    expect(() => Index.plan(options)).toThrowError(expect.objectContaining({ code }));
  refused({ maxDistance: 17 }, 'ERR_OUT_OF_RANGE');
  refused({ capacity: -1 }, 'ERR_OUT_OF_RANGE');
  refused({ plan: 'k9' }, 'ERR_INVALID_ARG_VALUE');
  refused({ distance: 1 }, 'ERR_INVALID_ARG_TYPE');
  refused({ count: -1 }, 'ERR_OUT_OF_RANGE');
  refused({ averageLength: 0.5 }, 'ERR_OUT_OF_RANGE');
  refused({ bands: 3 }, 'ERR_INVALID_ARG_VALUE');
});

const words = (seed: number) =>
  Array.from({ length: 120 }, (_, at) =>
    String.fromCodePoint(0x4e00 + ((Math.imul(seed * 120 + at + 1, 0x9e3779b1) >>> 7) % 3000)),
  ).join('');

test.each([
  { method: 'minhash' },
  { method: 'minhash', texts: false },
  { method: 'minhash', texts: false, signatures: false, keys: true, window: {} },
  { method: 'simhash' },
  { method: 'simhash', texts: false },
  { method: 'sentences' },
  { method: 'sentences', groups: true },
  { method: 'exact', texts: false },
] as const)('what a plan says is what an index takes: %j', async (options) => {
  const count = 20_000;
  const given = options as { method: 'minhash' };
  const index = new Index(given);
  const texts = Array.from({ length: count }, (_, row) => words(row));
  const keys = 'keys' in options ? texts.map((_, row) => `key ${10_000_000_000 + row}`) : undefined;
  await index.addManyAsync(texts, { keys });
  await index.compact();
  const planned = Index.plan({ ...given, count, averageLength: 360 });
  expect(planned.bytes).toBeCloseTo(planned.bytesPerDocument * count);
  const { bytes, textBytes } = index.stats();
  // Random characters do not compress, and tables grow by doubling.
  expect((bytes - textBytes) / count / planned.indexBytes).toBeGreaterThan(0.6);
  expect((bytes - textBytes) / count / planned.indexBytes).toBeLessThan(1.7);
  expect(textBytes > 0).toBe(planned.textBytes > 0);
  if (textBytes > 0) {
    expect(textBytes / count / planned.textBytes).toBeGreaterThan(0.6);
    expect(textBytes / count / planned.textBytes).toBeLessThan(2);
  }
  const own = planned.choices.find(
    (row) => row.method === index.method && row.texts === planned.texts,
  );
  expect(own).toMatchObject({ bytes: planned.bytes });
  expect(planned.choices).toHaveLength(7);
});
