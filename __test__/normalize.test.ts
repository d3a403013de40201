import { describe, expect, test } from 'vitest';
import {
  Fingerprinter,
  type FingerprinterOptions,
  type Normalize,
  type NormalizeOptions,
} from '..';

const applied = (normalize: Normalize | undefined, text: string) =>
  new Fingerprinter({ normalize }).normalize(text);

describe('each step', () => {
  // Step, a text, what it is with the step on, and with it off; all others are off.
  const steps: [keyof NormalizeOptions, unknown, string, string, unknown][] = [
    ['html', true, '<b>甲</b>&amp;乙', '甲&乙', false],
    ['noise', true, '@somebody 甲乙 http://a.example/b', ' 甲乙 ', false],
    ['emoji', true, '甲😀乙', '甲乙', false],
    ['nfkc', true, 'ＡＢ①', 'AB1', false],
    ['case', true, 'Straße', 'strasse', false],
    ['simplified', true, '東西', '东西', false],
    ['invisible', true, '甲\u200b乙', '甲乙', false],
    ['punctuation', 'drop', '甲，乙。3.14', '甲乙3.14', 'keep'],
    ['punctuation', 'fold', '甲。', '甲.', 'keep'],
    ['whitespace', 'auto', ' 甲  乙 a  b ', '甲乙a b', 'keep'],
    ['whitespace', 'collapse', ' 甲  乙 ', '甲 乙', 'keep'],
    ['whitespace', 'remove', ' a  b ', 'ab', 'keep'],
    ['runs', true, '哈哈哈哈哈', '哈哈哈', false],
  ];

  test.each(steps)('%s: %j', (step, on, text, expected, off) => {
    expect(applied({ base: 'off', [step]: on }, text)).toBe(expected);
    expect(applied({ base: 'off', [step]: off }, text)).toBe(text);
    expect(applied({ base: 'off' }, text)).toBe(text);
  });

  test('every step is among them, and in the documented order', () => {
    const all = ['html', 'noise', 'emoji', 'nfkc', 'case', 'simplified', 'invisible'];
    const named = [...new Set(steps.map(([step]) => step))];
    expect(named).toEqual([...all, 'punctuation', 'whitespace', 'runs']);
  });

  test.each(['html', 'noise', 'emoji', 'nfkc', 'case', 'simplified', 'invisible', 'runs'])(
    '%s takes true or false',
    (step) => {
      for (const wrong of [1, 'true', null, {}]) {
        expect(() => applied({ [step]: wrong } as never, 'x')).toThrow(
          expect.objectContaining({
            code: 'ERR_INVALID_ARG_TYPE',
            message: expect.stringContaining(`normalize.${step}`),
          }),
        );
      }
    },
  );

  test.each(['base', 'punctuation', 'whitespace'])('%s takes its words only', (step) => {
    const message = expect.stringContaining(`normalize.${step}`);
    expect(() => applied({ [step]: 'some' } as never, 'x')).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_ARG_VALUE', message }),
    );
    expect(() => applied({ [step]: true } as never, 'x')).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_ARG_TYPE', message }),
    );
  });
});

describe('where steps start', () => {
  const PAGE = '<b>ＡＢ</b> 東西，很好！@somebody 😀 哈哈哈哈哈';

  test('the default is nfkc, case and white space', () => {
    expect(applied(undefined, PAGE)).toBe(applied({}, PAGE));
    expect(applied({ base: 'default' }, PAGE)).toBe(applied({}, PAGE));
    expect(applied({ base: 'off', nfkc: true, case: true, whitespace: 'auto' }, PAGE)).toBe(
      applied({}, PAGE),
    );
  });

  test('names are ready-made steps, and steps can be changed from there', () => {
    const web: NormalizeOptions = {
      ...{ html: true, noise: true, simplified: true, invisible: true, punctuation: 'drop' },
    };
    expect(applied('web', PAGE)).toBe(applied(web, PAGE));
    expect(applied({ base: 'web' }, PAGE)).toBe(applied(web, PAGE));
    const post: NormalizeOptions = { ...web, html: false, emoji: true, runs: true };
    expect(applied('microblog', PAGE)).toBe(applied(post, PAGE));
    expect(applied({ base: 'microblog', emoji: false }, PAGE)).toContain('😀');
    expect(applied(false, PAGE)).toBe(PAGE);
  });

  test('a preset brings its own, and steps change them', () => {
    const preset = (options: FingerprinterOptions) =>
      new Fingerprinter({ preset: 'jieba-tfidf', ...options }).normalize(' Ａ ');
    expect([preset({}), preset({ normalize: { nfkc: true } })]).toEqual([' Ａ ', ' A ']);
    expect(preset({ normalize: { base: 'default' } })).toBe('a');
  });

  test('a text and its bytes are normalised alike', () => {
    const by = new Fingerprinter({ normalize: 'web' });
    expect(by.normalize(Buffer.from(PAGE))).toBe(by.normalize(PAGE));
    expect(() => by.normalize(3 as never)).toThrow(TypeError);
  });

  test('another name is refused', () => {
    for (const [wrong, code] of [
      ['page', 'ERR_INVALID_ARG_VALUE'],
      [true, 'ERR_INVALID_ARG_TYPE'],
      [null, 'ERR_INVALID_ARG_TYPE'],
      [[], 'ERR_INVALID_ARG_TYPE'],
    ]) {
      expect(() => applied(wrong as never, 'x')).toThrow(expect.objectContaining({ code }));
    }
  });
});
