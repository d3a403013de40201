import { describe, expect, test } from 'vitest';
import { containment, cosine, explain, Fingerprinter, jaccard, levenshtein } from '..';

/** Repeatable random numbers below `n` (a linear congruential generator; any would do). */
function dice(seed: number): (n: number) => number {
  let state = seed;
  return (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state % n;
  };
}

/** A text and what some edits make of it. */
function* pairs(count: number): Generator<[string, string]> {
  const roll = dice(7);
  const symbol = () => ['a', 'b', '中', '文', '𠮷'][roll(5)] ?? '';
  for (let round = 0; round < count; round++) {
    const text = Array.from({ length: roll(round % 3 === 0 ? 200 : 20) }, symbol);
    const other = [...text];
    for (let edits = roll(6); edits > 0; edits--) {
      other.splice(roll(other.length + 1), roll(2), ...(roll(2) === 0 ? [symbol()] : []));
    }
    yield [text.join(''), other.join('')];
  }
}

function plainDistance(a: string, b: string): number {
  const [x, y] = [[...a], [...b]];
  let row = Array.from({ length: y.length + 1 }, (_, j) => j);
  for (const [i, from] of x.entries()) {
    const next = [i + 1];
    for (const [j, to] of y.entries()) {
      const replaced = (row[j] ?? 0) + (from === to ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[y.length] ?? 0;
}

/** Features and their weights as the fingerprinter lists them. */
function weights(by: Fingerprinter, text: string): Map<bigint, number> {
  return new Map(by.features(text).map(({ hash, weight }) => [hash, weight]));
}

/** A long text of twelve ideographs: any two have their pairs in common, and no passage. */
function ofFewIdeographs(seed: number): string {
  let state = seed;
  return Array.from({ length: 600 }, () => {
    state = (Math.imul(state, 0x5851f42d) + 1) >>> 0;
    return '甲乙丙丁戊己庚辛壬癸子丑'[(state >>> 16) % 12];
  }).join('');
}

test('where nothing is said, features follow the script and long texts are compared by five characters too', () => {
  const tokens = (text: string) => new Fingerprinter().features(text).map(({ token }) => token);
  expect(tokens('第12集')).toEqual(['第1', '12', '2集']);
  expect(tokens('Subway')).toEqual(['subwa', 'ubway']);
  expect(jaccard('第12集', '第13集')).toBe(jaccard('第12集', '第13集', { preset: 'chars' }));
  const [a, b] = [ofFewIdeographs(1), ofFewIdeographs(2)];
  for (const measure of [jaccard, containment]) {
    expect(measure(a, b, { preset: 'chars' })).toBeGreaterThan(0.9);
    expect(measure(a, b)).toBe(measure(a, b, { ngram: 5 }));
    expect(measure(a, b)).toBeLessThan(0.1);
    // The first 399 of them are no long text.
    expect(measure(a.slice(0, 399), b)).toBe(measure(a.slice(0, 399), b, { preset: 'chars' }));
    expect(measure(a, a)).toBe(1);
  }
  expect(explain(a, b).jaccard).toBe(jaccard(a, b));
});

const characters = new Fingerprinter({ ngram: 1 });

describe('measures equal plain implementations', () => {
  test('levenshtein, with a limit and without', () => {
    for (const [a, b] of pairs(300)) {
      const exact = plainDistance(a, b);
      expect(levenshtein(a, b)).toBe(exact);
      expect(levenshtein(b, a, { maxDistance: exact })).toBe(exact);
      if (exact > 0) expect(levenshtein(a, b, { maxDistance: exact - 1 })).toBeUndefined();
    }
  });

  test('cosine, jaccard and containment', () => {
    for (const [a, b] of pairs(300)) {
      const [x, y] = [weights(characters, a), weights(characters, b)];
      const length = (of: Map<bigint, number>) => Math.hypot(...of.values());
      let [product, shared] = [0, 0];
      for (const [hash, weight] of x) {
        product += weight * (y.get(hash) ?? 0);
        shared += y.has(hash) ? 1 : 0;
      }
      const over = (whole: number, part: number) => (whole === 0 ? 0 : part / whole);
      const angle = over(length(x) * length(y), product);
      expect(cosine(a, b, characters)).toBeCloseTo(angle, 9);
      expect(cosine(b, a, characters)).toBe(cosine(a, b, characters));
      expect(jaccard(a, b, characters)).toBe(over(x.size + y.size - shared, shared));
      expect(containment(a, b, characters)).toBe(over(Math.min(x.size, y.size), shared));
    }
  });

  test('cosine by TF-IDF uses the weights of keywords', () => {
    const by = new Fingerprinter({ preset: 'jieba-tfidf' });
    const [a, b] = ['青禾市图书馆新馆昨日起试运行', '青禾市图书馆新馆今日起正式运行'];
    const [x, y] = [weights(by, a), weights(by, b)];
    let product = 0;
    for (const [hash, weight] of x) product += weight * (y.get(hash) ?? 0);
    const expected = product / (Math.hypot(...x.values()) * Math.hypot(...y.values()));
    expect(expected).toBeGreaterThan(0.3);
    expect(cosine(a, b, by)).toBeCloseTo(expected, 5);
    expect(cosine(a, b, { preset: 'jieba-tfidf', topK: 1 })).toBe(cosine(a, b, by));
  });
});

test('empty texts resemble nothing, equal ones are 1', () => {
  expect([cosine('', ''), cosine('', '甲'), levenshtein('', '')]).toEqual([0, 0, 0]);
  expect([cosine('图书馆', ' 图书馆 '), jaccard('图书馆', '图书馆')]).toEqual([1, 1]);
});

test('levenshtein counts code points and takes bytes', () => {
  expect(levenshtein('𠮷野家', '吉野家')).toBe(1);
  expect(levenshtein(new TextEncoder().encode('图书馆'), '图书')).toBe(1);
  expect(levenshtein('A', 'a')).toBe(1);
});

test('levenshtein refuses other options and values', () => {
  const code = (options: never) => {
    try {
      levenshtein('a', 'b', options);
    } catch (error) {
      return (error as { code: string }).code;
    }
    return 'none';
  };
  expect(code({ maxDistance: -1 } as never)).toBe('ERR_OUT_OF_RANGE');
  expect(code({ maxDistance: '1' } as never)).toBe('ERR_INVALID_ARG_TYPE');
  expect(code({ distance: 1 } as never)).toBe('ERR_INVALID_ARG_TYPE');
});
