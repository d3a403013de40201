import { describe, expect, test } from 'vitest';
import {
  dedup,
  dedupFiles,
  Fingerprinter,
  type FingerprinterOptions,
  fromHex,
  hammingDistance,
  Index,
  jaccard,
  toHex,
} from '..';

const TEXT = '青禾市图书馆新馆昨日起试运行，新馆位于云浦大道东侧，地上五层。';

const makers: Record<string, (options: never) => unknown> = {
  Fingerprinter: (options) => new Fingerprinter(options),
  Index: (options) => new Index(options),
  jaccard: (options) => jaccard('a', 'b', options),
};
const numbers: [string, string, number, number][] = [
  ['Fingerprinter', 'ngram', 1, 8],
  ['Fingerprinter', 'topK', 1, 2 ** 32 - 1],
  ['Fingerprinter', 'minFeatures', 0, 2 ** 32 - 1],
  ['Fingerprinter', 'threads', 0, 1024],
  ['Index', 'maxDistance', 0, 16],
  ['Index', 'capacity', 0, Number.MAX_SAFE_INTEGER],
  ['Index', 'threads', 0, 1024],
];

function thrown(call: () => unknown): { name: string; code: string; message: string } {
  try {
    call();
  } catch (error) {
    return error as never;
  }
  throw new Error('nothing was thrown');
}

describe('options', () => {
  test.each(numbers)(
    '%s: %s refuses wrong types and values outside its range',
    (maker, key, min, max) => {
      const make = (value: unknown) => makers[maker]?.({ [key]: value } as never);
      for (const wrong of ['3', null, true, {}, 3n]) {
        expect(thrown(() => make(wrong))).toMatchObject({
          name: 'TypeError',
          code: 'ERR_INVALID_ARG_TYPE',
        });
      }
      for (const wrong of [min - 1, max + 1, Number.NaN, 1.5]) {
        const error = thrown(() => make(wrong));
        expect(error).toMatchObject({ name: 'RangeError', code: 'ERR_OUT_OF_RANGE' });
        expect(error.message).toContain(key);
      }
      if (key !== 'topK') expect(() => make(min)).not.toThrow();
      expect(() => make(undefined)).not.toThrow();
    },
  );

  test.each(['preset', 'features', 'weighting', 'segmenter'])('%s takes its words only', (key) => {
    expect(thrown(() => new Fingerprinter({ [key]: 'char' } as never))).toMatchObject({
      code: 'ERR_INVALID_ARG_VALUE',
    });
    expect(thrown(() => new Fingerprinter({ [key]: null } as never))).toMatchObject({
      code: 'ERR_INVALID_ARG_TYPE',
    });
  });

  test.each(Object.entries(makers))(
    '%s names an unknown key and suggests the right one',
    (_name, make) => {
      expect(thrown(() => make({ thread: 1 } as never)).message).toContain(
        "did you mean 'threads'",
      );
      for (const wrong of [null, 3, [], 'chars']) {
        expect(thrown(() => make(wrong as never)).code).toBe('ERR_INVALID_ARG_TYPE');
      }
    },
  );

  test('normalize takes switches or false', () => {
    const fingerprint = (normalize: never) =>
      new Fingerprinter({ normalize, minFeatures: 0 }).fingerprint('ＡＢＣ');
    expect(fingerprint(false as never)).not.toBe(fingerprint(undefined as never));
    expect(fingerprint({ case: false } as never)).toBe(
      new Fingerprinter({ normalize: false, minFeatures: 0 }).fingerprint('ABC'),
    );
    expect(thrown(() => fingerprint({ Case: true } as never)).message).toContain('normalize');
    expect(thrown(() => fingerprint({ whitespace: 'no' } as never)).code).toBe(
      'ERR_INVALID_ARG_VALUE',
    );
  });

  test.each(['dictionary', 'stopWords', 'idf'])('%s takes a file or its lines', (key) => {
    for (const wrong of [3, null, true, {}, [3], ['a', null]]) {
      expect(
        thrown(() => new Fingerprinter({ preset: 'jieba-tfidf', [key]: wrong } as never)),
      ).toMatchObject({ name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' });
    }
  });

  test('options that do not go together are refused by name', () => {
    const jieba = { features: 'jieba' } as const;
    for (const [options, name] of [
      [{ weighting: 'tfidf' }, 'weighting'],
      [{ topK: 3 }, 'topK'],
      [{ ...jieba, ngram: 2 }, 'ngram'],
      [{ features: 'auto', ngram: 2 }, 'ngram'],
      [{ ...jieba, segmenter: 'jieba-rs' }, 'segmenter'],
      [{ segmenter: 'jieba-rs' }, 'segmenter'],
      [{ hmm: false }, 'hmm'],
      [{ ...jieba, weighting: 'count', idf: ['一 1'] }, 'idf'],
    ] as const) {
      const error = thrown(() => new Fingerprinter(options));
      expect(error).toMatchObject({ name: 'TypeError', code: 'ERR_INVALID_ARG_VALUE' });
      expect(error.message).toContain(name);
    }
  });

  test('each option changes what a preset says, and nothing else of it', () => {
    const tokens = (options: FingerprinterOptions) =>
      new Fingerprinter({ preset: 'jieba-tfidf', ...options }).features(TEXT).map((of) => of.token);
    const all = tokens({});
    expect(all.length).toBeGreaterThan(5);
    expect(tokens({ topK: 3 })).toEqual(all.slice(0, 3));
    expect(tokens({ topK: 'auto' })).toEqual(all.slice(0, Math.max(30, Math.ceil(all.length / 2))));
    expect(tokens({ weighting: 'tfidf', features: 'jieba', topK: 30, normalize: false })).toEqual(
      all,
    );
    const counted = new Fingerprinter({ features: 'jieba', weighting: 'count' });
    const second = new Fingerprinter({
      features: 'jieba',
      weighting: 'count',
      segmenter: 'jieba-rs',
    });
    const list = (by: Fingerprinter) => by.features(TEXT).map(({ token }) => token);
    // Both cut this text alike.
    expect(list(second)).toEqual(list(counted));
    expect(list(counted)).toEqual(expect.arrayContaining(all));
  });

  test('hmm: false leaves the characters of unknown words alone', () => {
    const words = (hmm?: boolean) =>
      new Fingerprinter({ features: 'jieba', weighting: 'count', hmm })
        .features('网易杭研大厦')
        .map(({ token }) => token);
    expect(words()).toEqual(['网易', '杭研', '大厦']);
    expect(words(true)).toEqual(words());
    expect(words(false)).toEqual(['网易', '杭', '研', '大厦']);
    expect(() => new Fingerprinter({ hmm: 1 as never })).toThrow(TypeError);
  });

  test('an unknown plan or preset is a wrong value', () => {
    expect(thrown(() => new Index({ plan: 'k3-t0' })).code).toBe('ERR_INVALID_ARG_VALUE');
    expect(thrown(() => Fingerprinter.preset('none' as never)).code).toBe('ERR_INVALID_ARG_VALUE');
    expect(new Index({ plan: 'k3-t6' }).stats().plan).toBe('k3-t6');
  });
});

describe('async forms reject', () => {
  test('what the synchronous ones throw', async () => {
    const by = new Fingerprinter();
    const index = new Index();
    const type = { name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' };
    await expect(by.fingerprintManyAsync('no' as never)).rejects.toMatchObject(type);
    await expect(by.fingerprintManyAsync([1] as never)).rejects.toMatchObject(type);
    await expect(by.fingerprintManyAsync([], { signal: 3 } as never)).rejects.toMatchObject(type);
    await expect(index.searchManyAsync([], { limit: -1 })).rejects.toMatchObject({
      code: 'ERR_OUT_OF_RANGE',
    });
    index.close();
    index.close();
    await expect(index.addManyAsync([])).rejects.toMatchObject({
      name: 'SimHashError',
      code: 'ERR_SIMHASH_CLOSED',
    });
    expect(thrown(() => index.size).code).toBe('ERR_SIMHASH_CLOSED');
    await expect(
      dedupFiles(['/does/not/exist'], undefined, { dryRun: true }),
    ).rejects.toMatchObject({
      code: 'ERR_SIMHASH_INPUT',
    });
    await expect(dedupFiles(['x'], undefined)).rejects.toMatchObject(type);
    await expect(dedup('text' as never).next()).rejects.toMatchObject(type);
    await expect(dedup([1] as never).next()).rejects.toMatchObject(type);
  });
});

describe('values', () => {
  test('hexadecimal and distance', () => {
    expect(toHex(31n)).toBe('000000000000001f');
    expect(fromHex('FFFFFFFFFFFFFFFF')).toBe(2n ** 64n - 1n);
    expect(hammingDistance(0n, 2n ** 64n - 1n)).toBe(64);
    expect(thrown(() => toHex(2n ** 64n)).code).toBe('ERR_OUT_OF_RANGE');
    expect(thrown(() => toHex(-1n)).code).toBe('ERR_OUT_OF_RANGE');
    expect(thrown(() => hammingDistance(1 as never, 2n)).code).toBe('ERR_INVALID_ARG_TYPE');
  });

  test('what is absent is undefined, never null', () => {
    expect(new Fingerprinter().fingerprint('')).toBeUndefined();
    expect([...new Fingerprinter().fingerprintMany(['', TEXT])][0]).toBeUndefined();
  });
});
