import { describe, expect, test } from 'vitest';
import { type Checked, cosine, Index, jaccard, levenshtein, type Measure } from '..';

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
    const by = name as Measure;
    const index = new Index({ maxDistance: 16, storeShortTexts: true });
    index.add(ARTICLE);
    const near = index.checkAndAdd(REPOST, { verify: by });
    expect(near).toMatchObject({ duplicateOf: 0, similarity });
    expect(index.checkAndAdd(REPOST, { verify: { by, minSimilarity: similarity } })).toEqual(near);
    // At just above its similarity it is a document of its own.
    const above = similarity + 1e-9;
    expect(index.checkAndAdd(REPOST, { verify: { by, minSimilarity: above } })).toEqual({ id: 1 });
  });

  test('with textOf, which is asked for near documents only, the nearest first', () => {
    const index = new Index({ maxDistance: 16 });
    const texts = [ARTICLE, OTHER];
    index.addMany(texts);
    const asked: number[] = [];
    const textOf = (id: number) => {
      asked.push(id);
      return texts[id];
    };
    expect(index.checkAndAdd(REPOST, { textOf })).toMatchObject({ duplicateOf: 0 });
    expect(asked).toEqual([]);
    const near = index.checkAndAdd(REPOST, { verify: 'auto', textOf });
    expect(near).toMatchObject({ duplicateOf: 0, similarity: jaccard(ARTICLE, REPOST) });
    expect(asked).toEqual([0]);
    // The texts say otherwise: it is added.
    const bytes = () => new TextEncoder().encode(OTHER);
    expect(index.checkAndAdd(REPOST, { verify: 'edit', textOf: bytes })).toEqual({ id: 2 });
    // No text: the distance decides.
    const blind = index.checkAndAdd(ARTICLE, { verify: 'edit', textOf: () => undefined });
    expect(blind).toEqual({ duplicateOf: 0, distance: 0 });
  });

  test('stored texts come before textOf, longer ones from it', () => {
    const index = new Index({ maxDistance: 16, storeShortTexts: { maxLength: 10 } });
    index.addMany([ARTICLE, '四号线今天贯通了啊吧']);
    const textOf = (id: number) => (id === 0 ? ARTICLE : expect.fail('its text is stored'));
    expect(index.checkAndAdd(REPOST, { verify: 'edit', textOf }).similarity).toBeGreaterThan(0.9);
    expect(index.checkAndAdd('四号线今天贯通了啊呀', { verify: 'edit', textOf })).toMatchObject({
      duplicateOf: 1,
      similarity: 0.9,
    });
    // Neither stored nor told.
    expect(index.checkAndAdd(REPOST, { verify: 'edit' })).not.toHaveProperty('similarity');
  });
});

describe('texts too short for a fingerprint', () => {
  test('are compared with each other by edit distance', () => {
    const index = new Index({ storeShortTexts: true });
    const verify = { by: 'edit', minSimilarity: 0.75 } as const;
    expect(index.checkAndAdd('今日头条', { verify })).toEqual({ id: 0 });
    expect(index.checkAndAdd('今曰头条', { verify })).toEqual({
      duplicateOf: 0,
      distance: 0,
      similarity: 0.75,
    });
    expect(index.checkAndAdd('今日头条 ', { verify })).toMatchObject({ similarity: 1 });
    expect(index.checkAndAdd('今曰头条', { verify: 'auto' })).toEqual({ id: 1 });
    // Without verification equality alone counts.
    expect(index.checkAndAdd('今天头条')).toEqual({ id: 2 });
    expect(index.stats().textBytes).toBeGreaterThan(0);
  });

  test('and by their features too unless edit distance alone is asked for', () => {
    for (const [one, other] of [
      ['庆余年第3集', '庆余年第4集'],
      ['柯南EP01', '柯南EP02'],
      ['2021年度汉字', '2020年度汉字'],
    ] as const) {
      const index = new Index({ storeShortTexts: true });
      index.add(one);
      expect(index.checkAndAdd(other, { verify: 'auto' })).toEqual({ id: 1 });
      expect(index.checkAndAdd(`${other}。`, { verify: 'auto' }).duplicateOf).toBe(1);
      expect(index.checkAndAdd(other.slice(1), { verify: 'edit' })).toMatchObject({
        duplicateOf: 1,
      });
    }
  });

  test('agree with comparing with all of them, whatever the order of thresholds', () => {
    const index = new Index({ storeShortTexts: true });
    const kept: string[] = [];
    let state = 7;
    const roll = (n: number) => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return (state >>> 8) % n;
    };
    for (let round = 0; round < 2000; round++) {
      const text = Array.from({ length: 3 + roll(6) }, () => '甲乙丙丁戊'[roll(5)]).join('');
      const minSimilarity = [0.5, 0.6, 0.75, 0.8][roll(4)] ?? 0.8;
      const similar = kept.map((other, id) => {
        const longer = Math.max(text.length, other.length);
        return { id, similarity: (longer - levenshtein(text, other)) / longer };
      });
      similar.sort((a, b) => b.similarity - a.similarity || a.id - b.id);
      const [best] = similar;
      const verify = { by: 'edit', minSimilarity } as const;
      const found: Checked = index.checkAndAdd(text, { verify });
      if (best !== undefined && best.similarity >= minSimilarity) {
        const { id: duplicateOf, similarity } = best;
        expect(found).toEqual({ duplicateOf, distance: 0, similarity });
        continue;
      }
      expect(found).toEqual({ id: kept.length });
      kept.push(text);
    }
    expect(kept.length).toBeGreaterThan(20);
  });
});

test('verify: false, as dedup has it, is refused with what to do', () => {
  const check = () => new Index().checkAndAdd(REPOST, { verify: false as never });
  expect(check).toThrowError(
    'verify must be the name of a measure or { by, minSimilarity }, got false; leave it out to decide by distance alone',
  );
});

test('batches decide as one by one', async () => {
  const texts = Array.from({ length: 900 }, (_, n) => {
    const body = `关于第${(n - (n % 3)) * 7919}号线路调整的通知，请各位乘客留意站内公告`;
    return [body, body.replace('留意', '注意'), body.slice(0, 7)][n % 3] ?? '';
  });
  const options = { maxDistance: 12, storeShortTexts: true };
  const verify = { by: 'auto', minSimilarity: 0.7 } as const;
  const single = new Index(options);
  const one = texts.map((text) => single.checkAndAdd(text, { verify }));
  expect(one.some(({ similarity }) => similarity !== undefined && similarity < 1)).toBe(true);
  expect([...new Index(options).checkAndAddMany(texts, { verify })]).toEqual(one);
  expect([...(await new Index(options).checkAndAddManyAsync(texts, { verify }))]).toEqual(one);
});

describe('what cannot be is refused', () => {
  test('verification without texts, and callbacks in batches', async () => {
    const index = new Index();
    expect(code(() => index.checkAndAdd('一', { verify: 'auto' }))).toBe('ERR_INVALID_ARG_VALUE');
    expect(code(() => index.checkAndAddMany(['一'], { verify: 'auto' }))).toBe(
      'ERR_INVALID_ARG_VALUE',
    );
    const textOf = () => '';
    expect(code(() => index.checkAndAddMany(['一'], { textOf } as never))).toBe(
      'ERR_INVALID_ARG_VALUE',
    );
    await expect(index.checkAndAddManyAsync(['一'], { textOf } as never)).rejects.toThrow(
      'storeShortTexts',
    );
    expect(index.size).toBe(0);
  });

  test('other measures, and similarities out of range', () => {
    const index = new Index({ storeShortTexts: true });
    const check = (verify: unknown) => code(() => index.checkAndAdd('一', { verify } as never));
    expect(check('editing')).toBe('ERR_INVALID_ARG_VALUE');
    expect(check({ by: 'editing' })).toBe('ERR_INVALID_ARG_VALUE');
    expect(check({ minSimilarity: 0 })).toBe('ERR_OUT_OF_RANGE');
    expect(check({ minSimilarity: 1.1 })).toBe('ERR_OUT_OF_RANGE');
    expect(check({ least: 1 })).toBe('ERR_INVALID_ARG_TYPE');
    expect(code(() => new Index({ storeShortTexts: { maxLength: 0 } }))).toBe('ERR_OUT_OF_RANGE');
    expect(code(() => new Index({ storeShortTexts: 3 } as never))).toBe('ERR_INVALID_ARG_TYPE');
  });

  test('what textOf throws or returns ends the check, and nothing was added', () => {
    const index = new Index({ maxDistance: 16 });
    index.add(ARTICLE);
    const check = (textOf: unknown) => () =>
      index.checkAndAdd(REPOST, { verify: 'edit', textOf } as never);
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
    const index = new Index({ maxDistance: 16, keys: true });
    const texts = new Map([['a', ARTICLE]]);
    index.add(ARTICLE, { key: 'a' });
    const textOf = (id: number) => {
      index.checkAndAdd(OTHER, { key: 'other' });
      return texts.get(index.keyOf(id) ?? '');
    };
    const found = index.checkAndAdd(REPOST, { verify: 'edit', textOf });
    expect(found).toMatchObject({ duplicateOf: 0 });
    expect(index.idOf('other')).toBe(1);
  });
});
