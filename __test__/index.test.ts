import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { type Checked, Index } from '..';
import { distance, nearby } from './fingerprints';
import { bare, copy, near } from './indexes';

const items = nearby(3000);
const ARTICLE =
  '青禾市图书馆新馆昨日起试运行。新馆位于云浦大道东侧，地上五层，藏书一百二十万册，设有阅览座位两千三百个。';
const REPOST = `【转载】${ARTICLE}`;
const OTHER =
  '临溪县今年的早稻收割进入尾声，全县二十八万亩早稻已收割九成以上，平均亩产比去年增加十一公斤。';

const code = (call: () => unknown): string => {
  try {
    call();
  } catch (error) {
    return (error as { code: string }).code;
  }
  return 'none';
};

test('a batch of checkAndAdd decides as one by one, synchronous and not', async () => {
  const index = bare();
  const single: Checked<'simhash'>[] = items.map((item) => index.checkAndAdd(item));
  expect(single.some(({ duplicateOf }) => duplicateOf !== undefined)).toBe(true);
  expect([...bare({ threads: 1 }).checkAndAddMany(items)]).toEqual(single);
  expect([...(await bare().checkAndAddManyAsync(BigUint64Array.from(items)))]).toEqual(single);
});

test('search finds what comparing with everything finds', async () => {
  const index = bare();
  expect(index.addMany(items)).toEqual({ first: 0, count: items.length });
  const queries = items.slice(0, 50);
  const found = await index.searchManyAsync(queries);
  for (const [row, query] of queries.entries()) {
    const oracle = items
      .map((value, id) => near(id, distance(value, query)))
      .filter(({ distance }) => distance <= 3)
      .sort((a, b) => a.distance - b.distance || a.id - b.id);
    expect(found.get(row)).toEqual(oracle);
    expect(index.search(query)).toEqual(oracle);
  }
});

test('a limit cuts and says so', () => {
  const index = bare();
  index.addMany([1n, 1n, 1n]);
  const found = index.searchMany([1n, 2n ** 63n - 1n], { limit: 2 });
  expect([...found.get(0)]).toEqual([near(0, 0), near(1, 0)]);
  expect([found.isTruncated(0), found.isTruncated(1)]).toEqual([true, false]);
  expect(index.search(1n, { limit: 2 })).toEqual(found.get(0));
  expect(index.search(1n, { limit: 2 }).truncated).toBe(true);
  for (const whole of [index.search(1n, { limit: 3 }), index.search(1n), found.get(1)])
    expect('truncated' in whole).toBe(false);
  expect([...found].map((row) => row.truncated)).toEqual([true, undefined]);
  // Who looks at an answer sees it, however that is done.
  const cut = index.search(1n, { limit: 1 });
  expect(inspect(cut)).toContain('truncated: true');
  expect([Object.keys(cut), { ...cut }.truncated]).toEqual([['0', 'truncated'], true]);
  expect(JSON.parse(JSON.stringify(cut))).toEqual({ truncated: true, matches: [near(0, 0)] });
  expect(JSON.parse(JSON.stringify(found))[0].truncated).toBe(true);
  expect(JSON.parse(JSON.stringify(index.search(1n)))).toHaveLength(3);
});

test('a search with more matches than its buffer holds has all of them', () => {
  const index = bare({ keys: true });
  const keys = Array.from({ length: 300 }, (_, row) => `key ${row}`);
  index.addMany(new BigUint64Array(300).fill(7n), { keys });
  const found = index.search(7n);
  expect(found).toEqual(keys.map((key, id) => ({ ...near(id, 0), key })));
  // The next one has the room.
  expect(index.search(7n)).toEqual(index.searchMany([7n]).get(0));
});

test('delete hides, ids are not reused, empty texts match nothing', () => {
  const index = bare();
  expect([index.add(7n), index.add('短'), index.add('')]).toEqual([0, 1, 2]);
  expect(index.checkAndAdd(' 短 ')).toMatchObject({ duplicateOf: 1, similarity: 1 });
  expect(index.checkAndAdd('')).toEqual({ id: 3 });
  expect([index.delete(0), index.delete(0), index.has(0), index.size]).toEqual([
    true,
    false,
    false,
    3,
  ]);
  expect(index.checkAndAdd(7n)).toEqual({ id: 4 });
});

describe('the method', () => {
  test.each([
    [{}, 'minhash'],
    [{ keys: true, ngram: 3, features: 'chars' }, 'minhash'],
    [{ bands: 4, rows: 4 }, 'minhash'],
    [{ recall: 0.99 }, 'minhash'],
    [{ weights: { falsePositive: 1, falseNegative: 1 } }, 'minhash'],
    [{ hashes: 128 }, 'minhash'],
    [{ signatures: false }, 'minhash'],
    [{ bucketLimit: 9 }, 'minhash'],
    [{ seed: 3 }, 'minhash'],
    [{ maxDistance: 3 }, 'simhash'],
    [{ plan: 'classic' }, 'simhash'],
    [{ capacity: 100 }, 'simhash'],
    [{ sentences: 3 }, 'sentences'],
    [{ minLength: 5 }, 'sentences'],
    [{ common: false }, 'sentences'],
    [{ groups: true }, 'sentences'],
    [{ hash: 'md5' }, 'sentences'],
    [{ method: 'exact' }, 'exact'],
    [{ method: 'sentences', sentences: 2 }, 'sentences'],
  ] as const)('of %j is %s', (options, method) => {
    expect(new Index(options as { keys: true }).method).toBe(method);
  });

  test('an option of another one is refused and says whose it is', () => {
    const refused = (options: object) => {
      const make = () => new Index(options as { keys: true });
      expect(code(make)).toBe('ERR_INVALID_ARG_VALUE');
      return make;
    };
    expect(refused({ maxDistance: 3, bands: 4, rows: 4 })).toThrow(
      "bands is for method 'minhash', and the method is 'simhash'",
    );
    expect(refused({ method: 'exact', hash: 'md5' })).toThrow("hash is for method 'sentences'");
    expect(refused({ method: 'minhash', plan: 'classic' })).toThrow("plan is for method 'simhash'");
    expect(refused({ method: 'brute-force' })).toThrow(
      "method 'brute-force' compares every pair, and has no live index",
    );
    expect(refused({ groups: true, verify: 'auto' })).toThrow(
      'verify must be left out beside groups: true',
    );
    expect(refused({ verify: false, minSimilarity: 0.5 })).toThrow(
      'minSimilarity must be left out beside verify: false',
    );
    expect(refused({ fingerprinter: {} })).toThrow(
      'fingerprinter is gone: its options are options',
    );
    const index = new Index();
    expect(code(() => index.search('x', { maxDistance: 3 } as never))).toBe(
      'ERR_INVALID_ARG_VALUE',
    );
  });

  test('what stands for a text needs the method that makes it, and no texts', () => {
    const [texts, simhash, minhash] = [new Index(), bare(), new Index({ texts: false })];
    for (const [index, wrong] of [
      [texts, 1n],
      [texts, new Uint32Array(128)],
      [simhash, new Uint32Array(128)],
      [minhash, 1n],
      [new Index({ maxDistance: 3 }), 1n],
      [new Index({ method: 'exact', texts: false }), 1n],
    ] as [Index, never][]) {
      for (const call of [
        () => index.add(wrong),
        () => index.search(wrong),
        () => index.checkAndAdd(wrong),
        () => index.addMany([wrong]),
      ]) {
        expect(code(call)).toBe('ERR_INVALID_ARG_TYPE');
      }
    }
    expect(() => texts.add(1n as never)).toThrow(
      "with texts: false, a bigint for method 'simhash'",
    );
    expect(() => texts.addMany(new BigUint64Array(1) as never)).toThrow(
      "unless the index has method: 'simhash' and texts: false, got a BigUint64Array",
    );
    expect(() => minhash.addMany([new Uint32Array(7)])).toThrow(RangeError);
  });
});

describe('verified by default', () => {
  test.each(['minhash', 'simhash', 'sentences'] as const)('%s: a repost is one', (method) => {
    const index = new Index({ method } as { method: 'minhash' });
    expect(index.checkAndAdd(ARTICLE)).toEqual({ id: 0 });
    const found = index.checkAndAdd(REPOST);
    expect(found).toMatchObject({ duplicateOf: 0, verified: true });
    expect(found.duplicateOf !== undefined && found.similarity).toBeCloseTo(0.926, 3);
    expect(index.checkAndAdd(OTHER)).toEqual({ id: 1 });
    // What is near by the method is no duplicate where the texts say otherwise.
    expect(index.checkAndAdd(`${OTHER}${ARTICLE}`)).toEqual({ id: 2 });
    // As it is, without a look at the texts; an equal one is known to be equal.
    const raw = index.search(`${OTHER}${ARTICLE}`, { verify: false });
    expect(raw.every(({ id, verified }) => verified === (id === 2))).toBe(true);
  });

  test('texts that are not stored count by the method, and say so', () => {
    const index = new Index({ texts: { maxLength: 10 } });
    index.add(ARTICLE);
    expect(index.checkAndAdd(REPOST)).toMatchObject({ duplicateOf: 0, verified: false });
    const known = index.checkAndAdd(REPOST, { textOf: () => ARTICLE });
    expect(known).toMatchObject({ duplicateOf: 0, verified: true });
    expect(index.checkAndAdd(REPOST, { textOf: () => OTHER })).toEqual({ id: 1 });
  });
});

test('inspect and JSON are short, and say what it is', () => {
  const index = new Index({ maxDistance: 5 });
  index.add(ARTICLE);
  const about = { method: 'simhash', size: 1, verify: 'auto', minSimilarity: 0.8 };
  expect(JSON.parse(JSON.stringify(index))).toEqual({ ...about, texts: true, keys: false });
  expect(inspect(index)).toMatch(/^Index \{\s+method: 'simhash',\s+size: 1/);
  const found = index.searchMany(Array.from({ length: 12 }, () => ARTICLE));
  expect(inspect(found)).toMatch(/^Matches\(12\) \[[\s\S]*\.\.\. 2 more\s+\]$/);
  expect(JSON.parse(JSON.stringify(found))[11]).toEqual([
    { id: 0, similarity: 1, verified: true, distance: 0 },
  ]);
  const checked = index.checkAndAddMany([OTHER]);
  expect([inspect(checked), JSON.stringify(checked)]).toEqual([
    'CheckedItems(1) [ { id: 1 } ]',
    '[{"id":1}]',
  ]);
  index.close();
  expect(inspect(index)).toContain('closed');
});

test('a copy of bare fingerprints', () => {
  const index = bare();
  index.add(7n);
  expect(index.checkAndAdd(6n)).toEqual(copy(0, 1));
});
