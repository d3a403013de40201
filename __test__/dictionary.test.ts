import { describe, expect, test } from 'vitest';
import { Dictionary, Fingerprinter, type FingerprinterOptions, SimHashError } from '..';
import { Folder } from './cli-run';

const TEXT = '李小福是创新办主任也是云计算方面的专家';
const LINES = ['云计算 5', '李小福 2 nr', '创新办 3 i', '台中'];
const folder = new Folder();
const path = folder.join(folder.write('words.txt', `\uFEFF${LINES.join('\r\n')}\n\n`));

/** The words of a text, in the order of their weight and place. */
function words(options: FingerprinterOptions, text = TEXT): string[] {
  return new Fingerprinter({ features: 'jieba', weighting: 'count', ...options })
    .features(text)
    .map(({ token }) => token);
}

function thrown(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

describe('a dictionary', () => {
  test('comes from a path, bytes, lines or an object, and cuts the same', () => {
    const bytes = Buffer.from(LINES.join('\n'));
    const all = [path, bytes, LINES, new Dictionary(path), new Dictionary().load(bytes)];
    const cuts = all.map((dictionary) => words({ dictionary }));
    expect(words({})).toEqual(expect.arrayContaining(['创新', '计算']));
    for (const cut of cuts) {
      expect(cut).toEqual(cuts[0]);
      expect(cut).toEqual(expect.arrayContaining(['李小福', '创新办', '云计算']));
    }
  });

  test('adds and removes words, also those of jieba', () => {
    const dictionary = new Dictionary().add('云计算').add('创新办', 3).remove('专家');
    const cut = words({ dictionary });
    expect(cut).toEqual(expect.arrayContaining(['云计算', '创新办', '专', '家']));
    expect([dictionary.frequency('创新办'), dictionary.frequency('专家')]).toEqual([3, 0]);
    expect(dictionary.frequency('没有这个词')).toBeUndefined();
    expect(words({ dictionary: dictionary.remove('云计算') })).not.toContain('云计算');
  });

  test('a suggested frequency is enough to keep a word whole', () => {
    const dictionary = new Dictionary();
    const frequency = dictionary.suggestFrequency('计算方面');
    expect(words({ dictionary })).not.toContain('计算方面');
    expect(words({ dictionary: dictionary.add('计算方面', frequency) })).toContain('计算方面');
  });

  test('is taken as it is when a fingerprinter is made; fingerprinters do not disturb each other', () => {
    const dictionary = new Dictionary();
    const before = new Fingerprinter({ features: 'jieba', dictionary });
    const other = new Dictionary(LINES);
    dictionary.add('云计算');
    const tokens = before.features(TEXT).map(({ token }) => token);
    expect(tokens).not.toContain('云计算');
    expect(words({ dictionary: other })).toContain('创新办');
    expect(words({ dictionary })).not.toContain('创新办');
  });

  test('a bad line is named by number, and its file; nothing of it was added', () => {
    const bad = ['好词 1', '', '坏词 1 2 3'];
    const dictionary = new Dictionary();
    const error = thrown(() => dictionary.load(bad));
    expect(error).toBeInstanceOf(SimHashError);
    expect(error).toMatchObject({ code: 'ERR_SIMHASH_LINE' });
    expect(String(error)).toContain('dictionary line 3');
    expect(dictionary.frequency('好词')).toBeUndefined();
    const file = folder.join(folder.write('bad.txt', bad.join('\n')));
    const named = thrown(() => new Fingerprinter({ features: 'jieba', dictionary: file }));
    expect(named).toMatchObject({ name: 'SimHashError', code: 'ERR_SIMHASH_LINE' });
    expect(String(named)).toContain(`${file}: dictionary line 3`);
  });

  test('a file that cannot be read is named with the option', () => {
    const error = thrown(
      () => new Fingerprinter({ features: 'jieba', dictionary: '/does/not/exist' }),
    );
    expect(error).toMatchObject({ name: 'SimHashError', code: 'ERR_SIMHASH_INPUT' });
    expect(String(error)).toMatch(/cannot read \/does\/not\/exist, given as dictionary/);
  });

  test('refuses other types and numbers out of range', () => {
    const dictionary = new Dictionary();
    for (const wrong of [3, null, {}, [3]]) {
      expect(thrown(() => new Dictionary(wrong as never))).toMatchObject({
        code: 'ERR_INVALID_ARG_TYPE',
      });
    }
    expect(thrown(() => dictionary.add('词', -1))).toMatchObject({ code: 'ERR_OUT_OF_RANGE' });
    expect(thrown(() => dictionary.add(3 as never))).toMatchObject({
      code: 'ERR_INVALID_ARG_TYPE',
    });
    expect(thrown(() => dictionary.remove(undefined as never))).toMatchObject({
      code: 'ERR_INVALID_ARG_TYPE',
    });
  });

  test('is for jieba, cut by our own segmenter', () => {
    for (const options of [{}, { features: 'jieba', weighting: 'count', segmenter: 'jieba-rs' }]) {
      const make = () =>
        new Fingerprinter({ ...(options as FingerprinterOptions), dictionary: [] });
      expect(thrown(make)).toMatchObject({ name: 'TypeError', code: 'ERR_INVALID_ARG_VALUE' });
    }
  });
});

describe('stop words', () => {
  const tfidf = { preset: 'jieba-tfidf', minFeatures: 0 } as const;
  const keywords = (options: FingerprinterOptions, text: string) =>
    words({ weighting: 'tfidf', ...tfidf, ...options }, text);

  test("are jieba's, and those given beside them; false is none", () => {
    const text = 'the quick fox 北京 大学';
    expect(keywords({}, text)).toEqual(expect.not.arrayContaining(['the']));
    expect(keywords({ stopWords: false }, text)).toContain('the');
    const more = keywords({ stopWords: ['北京', 'FOX'] }, text);
    expect(more).toEqual(expect.not.arrayContaining(['北京', 'fox', 'the']));
    expect(more).toContain('大学');
    const file = folder.join(folder.write('stop.txt', '北京\nfox\n'));
    expect(keywords({ stopWords: file }, text)).toEqual(more);
    expect(keywords({ stopWords: Buffer.from('北京\nfox') }, text)).toEqual(more);
  });

  test('a line that is not UTF-8 is named', () => {
    const stopWords = new Uint8Array([0x61, 0x0a, 0xff, 0x0a]);
    const error = thrown(() => new Fingerprinter({ ...tfidf, stopWords }));
    expect(error).toMatchObject({ code: 'ERR_SIMHASH_LINE' });
    expect(String(error)).toContain('stopWords line 2');
  });

  test('are for tfidf', () => {
    expect(thrown(() => new Fingerprinter({ stopWords: false }))).toMatchObject({
      code: 'ERR_INVALID_ARG_VALUE',
    });
  });
});
