/** Options of an index that go with others only: each is honoured, or refused by its name. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { Index } from '..';
import { METHODS, of } from './indexes';

const folder = mkdtempSync(join(tmpdir(), 'simhash-options-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const TEXT = '今天的天气非常好，我们一起去公园散步，孩子们都很开心。';

/** Refused, with a message that begins with the option. */
const refused = (call: () => unknown, message: string) => {
  expect(call).toThrow(message);
  expect(call).toThrowError(
    expect.objectContaining({ name: 'TypeError', code: 'ERR_INVALID_ARG_VALUE' }),
  );
};
const made = (options: object) => () => new Index(options as { keys: true });

describe('hashes', () => {
  test('are the most positions that bands use which are not given', () => {
    for (const options of [{ hashes: 64 }, { hashes: 64, texts: false }]) {
      const [index, plan] = [new Index(options), Index.plan(options)];
      const { bands, rows } = index.stats();
      expect([bands, rows]).toEqual([plan.bands, plan.rows]);
      expect(bands * rows).toBeLessThanOrEqual(64);
      expect(plan.recall).toBeGreaterThanOrEqual(0.9999);
    }
    expect(Index.plan({ hashes: 64, texts: false }).hashes).toBe(64);
    expect(Index.plan().bands * Index.plan().rows).toBeGreaterThan(64);
  });

  test('beside bands that are given need signatures, unless they are as many', () => {
    const bands = { bands: 4, rows: 4 };
    refused(made({ ...bands, hashes: 32 }), 'hashes must be left out beside bands and rows');
    refused(made({ ...bands, hashes: 32, signatures: false, texts: false }), 'hashes must be');
    for (const more of [{ texts: false }, { signatures: true }, { verify: false }])
      expect(made({ ...bands, hashes: 32, ...more })).not.toThrow();
    expect(made({ ...bands, hashes: 16 })).not.toThrow();
    // The table of choices has a row without signatures as well.
    expect(Index.plan({ ...bands, hashes: 32, texts: false }).choices).toHaveLength(7);
  });
});

describe('where nothing is compared', () => {
  test('options of comparing are refused', () => {
    for (const [options, beside] of [
      [{ verify: false }, 'verify: false'],
      [{ minSimilarity: 0 }, 'minSimilarity: 0'],
      [{ groups: true }, 'groups: true'],
    ] as const) {
      const what = `maxVerifications must be left out beside ${beside}`;
      refused(made({ ...options, maxVerifications: 3 }), what);
      refused(() => Index.plan({ ...options, maxVerifications: 3 } as never), what);
      refused(() => Index.openSync('x', { ...options, maxVerifications: 3 } as never), what);
    }
    refused(
      made({ verify: 'edit', minSimilarity: 0 }),
      "minSimilarity must be above 0 beside verify: 'edit'",
    );
    for (const options of [{ verify: false }, { groups: true }, { method: 'exact' }]) {
      const index = made(options)();
      const textOf = () => TEXT;
      refused(() => index.checkAndAdd(TEXT, { textOf }), 'textOf is for an index that compares');
      expect(index.size).toBe(0);
    }
    // It compares what it is told.
    const told = new Index({ texts: false });
    told.add(TEXT);
    expect(told.checkAndAdd(`${TEXT}！`, { textOf: () => TEXT })).toMatchObject({ verified: true });
  });

  test('no texts are stored, unless they are asked for', () => {
    for (const options of [
      { verify: false },
      { minSimilarity: 0 },
      { verify: false, maxDistance: 3 },
    ]) {
      const [without, with_] = [made(options)(), made({ ...options, texts: true })()];
      for (const index of [without, with_]) index.add(TEXT);
      expect([without.share().texts, without.stats().textBytes]).toEqual([false, 0]);
      expect(with_.share().texts).toBe(true);
      expect(with_.stats().textBytes).toBeGreaterThan(0);
      expect(without.checkAndAdd(TEXT)).toMatchObject({ duplicateOf: 0, verified: false });
      expect(Index.plan(options as { verify: false }).texts).toBe(false);
    }
    // So fingerprints may come in their place.
    expect(new Index({ maxDistance: 3, verify: false }).add(7n)).toBe(0);
  });

  test('a least similarity of a search is refused where none is known', () => {
    const bare = new Index({ maxDistance: 3, texts: false });
    const what = 'minSimilarity is for an index that knows similarities';
    refused(() => bare.search(1n, { minSimilarity: 0.9 }), what);
    refused(() => bare.searchMany([1n], { minSimilarity: 0.9 }), what);
    refused(() => new Index({ groups: true }).search(TEXT, { minSimilarity: 0.9 }), what);
    for (const options of [{}, { texts: false }, { verify: false }, { method: 'exact' }])
      expect(made(options)().search(TEXT, { minSimilarity: 0.9 })).toEqual([]);
  });

  test("texts are nothing that 'exact' keeps", () => {
    refused(made({ method: 'exact', texts: true }), 'texts must be left out or false with method');
    refused(made({ method: 'exact', texts: { maxLength: 5 } }), 'texts must be left out or false');
    expect(new Index({ method: 'exact', texts: false }).share().texts).toBe(false);
  });
});

test.each(METHODS)('times need a window: %s', async (method) => {
  const index = of(method);
  const [at, touch] = [{ at: 5 }, { onDuplicate: 'touch' }] as const;
  const late = 'at needs an index that keeps times';
  refused(() => index.add(TEXT, at), late);
  refused(() => index.addMany([TEXT], at), late);
  refused(() => index.checkAndAdd(TEXT, at), late);
  refused(() => index.checkAndAddMany([TEXT], at), late);
  refused(() => index.checkAndAdd(TEXT, touch), "onDuplicate 'touch' needs an index that keeps");
  refused(() => index.checkAndAddMany([TEXT], touch), "onDuplicate 'touch' needs an index");
  const value = { code: 'ERR_INVALID_ARG_VALUE' };
  await expect(index.addManyAsync([TEXT], at)).rejects.toMatchObject(value);
  await expect(index.checkAndAddManyAsync([TEXT], touch)).rejects.toMatchObject(value);
  await expect(index.checkAndAddAll([{ text: TEXT, ...at }]).next()).rejects.toMatchObject(value);
  expect(index.size).toBe(0);
  const timed = of(method, { window: {} });
  timed.add(TEXT, at);
  expect(timed.checkAndAdd(TEXT, { at: 9, ...touch })).toMatchObject({ duplicateOf: 0 });
  expect([timed.expire(9), timed.expire(10)]).toEqual([0, 1]);
});

test('times of groups need a window', () => {
  const index = new Index({ groups: true });
  refused(() => index.similarId(TEXT, { at: 5 }), 'at needs an index that keeps times');
  refused(() => index.similarIdMany([TEXT], { at: 5 }), 'at needs an index that keeps times');
});

test('names of release 0.1 lead to those of today', () => {
  const index = new Index();
  for (const [call, hint] of [
    [made({ threshold: 0.5 }), "did you mean 'minSimilarity'?"],
    [made({ storeShortTexts: true }), "did you mean 'texts'?"],
    [made({ count: 3 }), "did you mean 'sentences'?"],
    [made({ fingerprinter: { ngram: 3 } }), 'new Index({ ngram: 3 })'],
    [() => index.search(TEXT, { threshold: 0.5 } as never), "did you mean 'minSimilarity'?"],
    [
      () => index.checkAndAdd(TEXT, { verify: 'edit' } as never),
      'verify is an option of the index',
    ],
    [() => index.checkAndAddMany([], { minSimilarity: 1 } as never), 'an option of the index'],
  ] as const) {
    expect(call).toThrow(hint);
  }
  // Where it is another option today it is that one.
  expect(Index.plan({ count: 3 }).count).toBe(3);
});
