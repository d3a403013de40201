import { describe, expect, test } from 'vitest';
import {
  type Checked,
  cosine,
  dedup,
  Index,
  jaccard,
  levenshtein,
  type Measure,
  similarity,
} from '..';
import { METHODS } from './indexes';

const ARTICLE =
  '青禾市图书馆新馆昨日起试运行，新馆位于云浦大道东侧，地上五层，藏书八十万册，周一闭馆。';
const REPOST =
  '青禾市图书馆新馆昨日起试运行，新馆位于云浦大道东侧，地上六层，藏书八十万册，周一闭馆。';
/** Far from both as texts; the index is told that it lies near. */
const OTHER =
  '四号线今日贯通，全长十六点七公里，设站十四座，预计明年六月底开通初期运营并接入既有线网。';

const code = (call: () => unknown): string => {
  try {
    call();
  } catch (error) {
    return (error as { code: string }).code;
  }
  return 'none';
};

describe('a near document counts when its text is similar enough', () => {
  const similarities: Record<Exclude<Measure, 'auto' | 'containment'>, number> = {
    jaccard: jaccard(ARTICLE, REPOST),
    edit: 1 - levenshtein(ARTICLE, REPOST) / [...ARTICLE].length,
    cosine: cosine(ARTICLE, REPOST),
  };

  test.each(Object.entries(similarities))('by %s, with stored texts', (name, similarity) => {
    const options = { maxDistance: 16, verify: name as Measure };
    const index = new Index(options);
    index.add(ARTICLE);
    const near = index.checkAndAdd(REPOST);
    expect(near).toMatchObject({ duplicateOf: 0, similarity, verified: true });
    const [at, above] = [similarity, similarity + 1e-9].map((minSimilarity) => {
      const index = new Index({ ...options, minSimilarity });
      index.add(ARTICLE);
      return index;
    });
    expect(at?.checkAndAdd(REPOST)).toEqual(near);
    // At just above its similarity it is a document of its own.
    expect(above?.checkAndAdd(REPOST)).toEqual({ id: 1 });
    expect(at?.search(REPOST, { minSimilarity: similarity + 1e-9 })).toEqual([]);
    expect(above?.search(REPOST, { minSimilarity: 0.5 })).toHaveLength(2);
  });

  test('with textOf, which is asked for near documents only', () => {
    const index = new Index({ maxDistance: 16, texts: false });
    const texts = [ARTICLE, OTHER];
    index.addMany(texts);
    const asked: number[] = [];
    const textOf = (id: number) => {
      asked.push(id);
      return texts[id];
    };
    const near = index.checkAndAdd(REPOST, { textOf });
    expect(near).toMatchObject({ duplicateOf: 0, similarity: similarity(ARTICLE, REPOST) });
    expect(asked).toEqual([0]);
    // The texts say otherwise: it is added.
    const bytes = () => new TextEncoder().encode(OTHER);
    expect(index.checkAndAdd(REPOST, { textOf: bytes })).toEqual({ id: 2 });
    // No text: the distance decides.
    const blind = index.checkAndAdd(ARTICLE, { textOf: () => undefined });
    expect(blind).toEqual({ duplicateOf: 0, verified: false, distance: 0 });
  });

  test('stored texts come before textOf, longer ones from it', () => {
    const index = new Index({ maxDistance: 16, texts: { maxLength: 60 }, verify: 'edit' });
    index.addMany([ARTICLE, '四号线今天贯通了啊吧通车了']);
    const textOf = (id: number) => (id === 0 ? ARTICLE : expect.fail('its text is stored'));
    const found = index.checkAndAdd(REPOST, { textOf });
    expect(found).toMatchObject({ duplicateOf: 0, verified: true });
    expect(index.checkAndAdd('四号线今天贯通了啊呀通车了', { textOf })).toMatchObject({
      duplicateOf: 1,
      similarity: 12 / 13,
    });
    // Neither stored nor told.
    expect(index.checkAndAdd(REPOST)).not.toHaveProperty('similarity');
  });

  test('the most similar counts, whatever its distance', () => {
    const index = new Index({ maxDistance: 16 });
    index.addMany([ARTICLE.slice(3), ARTICLE]);
    const best = similarity(ARTICLE, REPOST);
    expect(index.checkAndAdd(REPOST)).toMatchObject({ duplicateOf: 1, similarity: best });
  });
});

test.each(METHODS)('%s decides as dedup does', async (method) => {
  const texts = Array.from({ length: 600 }, (_, n) => {
    const body = `关于第${(n - (n % 3)) * 7919}号线路调整的通知。请各位乘客留意站内公告，听从工作人员的安排`;
    return [body, body.replace('留意', '注意'), body.slice(0, 7)][n % 3] ?? '';
  });
  const options = { method } as { method: 'minhash' };
  const index = new Index(options);
  // Ids number what is kept, positions what came.
  const kept: number[] = [];
  for await (const { doc, index: at, duplicateOf, similarity } of dedup(texts, options)) {
    const checked = index.checkAndAdd(doc);
    if (duplicateOf === undefined) {
      expect(checked).toEqual({ id: kept.length });
      kept.push(at);
    } else {
      expect(checked).toMatchObject({ similarity, verified: true });
      expect(kept[checked.duplicateOf as number]).toBe(duplicateOf);
    }
  }
  expect(kept.length).toBeLessThan(600);
});

test('texts too short for a fingerprint match equal ones only', () => {
  for (const [one, other] of [
    ['庆余年第3集', '庆余年第4集'],
    ['柯南EP01', '柯南EP02'],
    ['今日头条', '今曰头条'],
  ] as const) {
    const index = new Index({ maxDistance: 16, verify: 'edit', minSimilarity: 0.5 });
    index.add(one);
    expect(index.checkAndAdd(other)).toEqual({ id: 1 });
    expect(index.checkAndAdd(` ${other} `)).toMatchObject({ duplicateOf: 1, similarity: 1 });
  }
});

test('batches decide as one by one', async () => {
  const texts = Array.from({ length: 900 }, (_, n) => {
    const body = `关于第${(n - (n % 3)) * 7919}号线路调整的通知，请各位乘客留意站内公告`;
    return [body, body.replace('留意', '注意'), body.slice(0, 7)][n % 3] ?? '';
  });
  const options = { maxDistance: 12, minSimilarity: 0.7 };
  const single = new Index(options);
  const one: Checked<'simhash'>[] = texts.map((text) => single.checkAndAdd(text));
  const similarities = one.map((checked) =>
    checked.duplicateOf === undefined ? 1 : (checked.similarity ?? 1),
  );
  expect(similarities.some((similarity) => similarity < 1)).toBe(true);
  expect([...new Index(options).checkAndAddMany(texts)]).toEqual(one);
  expect([...(await new Index(options).checkAndAddManyAsync(texts))]).toEqual(one);
});

test('candidates beyond maxVerifications are cut, and the check says so', () => {
  const index = new Index({ maxDistance: 16, maxVerifications: 2, minSimilarity: 1 });
  for (const text of [ARTICLE, REPOST, ARTICLE.replace('昨日', '明日')]) index.add(text);
  const checked = index.checkAndAdd(ARTICLE.replace('昨日', '今日'));
  expect(checked).toEqual({ id: 3, truncated: true });
  expect(index.checkAndAddMany([ARTICLE.replace('昨日', '后日')]).get(0)).toMatchObject({
    truncated: true,
  });
});

test('pairs and clusters say whose candidates were cut', async () => {
  const index = new Index({ maxDistance: 8, maxVerifications: 3, minSimilarity: 0.9 });
  const days = ['昨日', '今日', '明日', '后日', '前日'];
  for (const day of days) index.add(ARTICLE.replace('昨日', day));
  index.add(OTHER);
  index.add(OTHER.replace('今日', '昨日'));
  const found: (true | undefined)[] = [];
  for await (const batch of index.pairs()) {
    for (const [row, { b, truncated }] of [...batch].entries()) {
      found[b] = truncated;
      expect(batch.isTruncated(row)).toBe(truncated === true);
    }
  }
  expect(found).toEqual([undefined, true, true, true, true, undefined, undefined]);
  expect([...(await index.clusters()).truncated]).toEqual([0, 1, 2, 3, 4]);
});

describe('what cannot be is refused', () => {
  test('callbacks in batches', async () => {
    const index = new Index();
    const textOf = () => '';
    expect(code(() => index.checkAndAddMany(['一'], { textOf } as never))).toBe(
      'ERR_INVALID_ARG_VALUE',
    );
    await expect(index.checkAndAddManyAsync(['一'], { textOf } as never)).rejects.toThrow('texts');
    expect(index.size).toBe(0);
  });

  test('other measures, and similarities out of range', () => {
    const make = (options: unknown) => code(() => new Index(options as { verify: 'auto' }));
    expect(make({ verify: 'editing' })).toBe('ERR_INVALID_ARG_VALUE');
    expect(make({ verify: { by: 'edit' } })).toBe('ERR_INVALID_ARG_TYPE');
    expect(make({ minSimilarity: 1.1 })).toBe('ERR_OUT_OF_RANGE');
    expect(make({ maxVerifications: 0 })).toBe('ERR_OUT_OF_RANGE');
    expect(make({ texts: { maxLength: 0 } })).toBe('ERR_OUT_OF_RANGE');
    expect(make({ texts: 3 })).toBe('ERR_INVALID_ARG_TYPE');
    const index = new Index();
    expect(code(() => index.search('一', { verify: 'edit' } as never))).toBe(
      'ERR_INVALID_ARG_VALUE',
    );
    expect(code(() => index.search('一', { verify: false, minSimilarity: 0.5 }))).toBe(
      'ERR_INVALID_ARG_VALUE',
    );
  });

  test('what textOf throws or returns ends the check, and nothing was added', () => {
    const index = new Index({ maxDistance: 16, texts: false });
    index.add(ARTICLE);
    const check = (textOf: unknown) => () => index.checkAndAdd(REPOST, { textOf } as never);
    const reason = new Error('database is down');
    expect(
      check(() => {
        throw reason;
      }),
    ).toThrow(reason);
    expect(code(check(async () => ARTICLE))).toBe('ERR_INVALID_ARG_TYPE');
    expect(code(check(() => null))).toBe('ERR_INVALID_ARG_TYPE');
    expect(code(check(ARTICLE))).toBe('ERR_INVALID_ARG_TYPE');
    expect(index.size).toBe(1);
  });

  test('textOf may use the index itself', () => {
    const index = new Index({ maxDistance: 16, keys: true, texts: false });
    const texts = new Map([['a', ARTICLE]]);
    index.add(ARTICLE, { key: 'a' });
    const textOf = (id: number) => {
      index.checkAndAdd(OTHER, { key: 'other' });
      index.search(OTHER);
      return texts.get(index.keyOf(id) ?? '');
    };
    expect(index.checkAndAdd(REPOST, { textOf })).toMatchObject({ duplicateOf: 0, key: 'a' });
    expect(index.idOf('other')).toBe(1);
  });
});
