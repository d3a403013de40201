import { expect, test } from 'vitest';
import { sentences } from '..';

const BODY = '望海港本月开通了一条直达南美西海岸的集装箱航线，单程二十三天。';
const PAGE = `首页 > 新闻\n${BODY}It takes nine days less. 好！`;

test('the longest come first, with their place and length', () => {
  const found = sentences(PAGE);
  const lengths = found.map(({ length }) => length);
  expect(lengths).toEqual([...lengths].sort((a, b) => b - a));
  expect(found[0]?.length).toBe([...BODY].length - 2);
  expect(new Set(found.map(({ index }) => index)).size).toBe(found.length);
  expect(sentences(PAGE, { count: 1 })).toEqual(found.slice(0, 1));
  expect(sentences(PAGE, { count: 0 })).toEqual([]);
});

test('a sentence has the same hash wherever it stands, whatever ends it', () => {
  const [alone] = sentences(BODY);
  expect(sentences(PAGE).map(({ hash }) => hash)).toContain(alone?.hash);
  expect(sentences(BODY.replace('。', '！'))[0]?.hash).toBe(alone?.hash);
  expect(sentences(Buffer.from(BODY))).toEqual(sentences(BODY));
  expect(sentences(BODY.replace('本月', '上月'))[0]?.hash).not.toBe(alone?.hash);
});

test('short ones do not count', () => {
  expect(sentences('好。')).toEqual([]);
  expect(sentences('好。', { minLength: 1 }).length).toBe(1);
  expect(sentences('')).toEqual([]);
});

test('normalisation decides what is equal', () => {
  const page = `<p>${BODY}</p>`;
  const hash = (normalize?: 'web' | false) => sentences(page, { normalize }).map((one) => one.hash);
  const [plain] = sentences(BODY, { normalize: 'web' });
  expect(hash('web')).toContain(plain?.hash);
  expect(hash(false)).not.toContain(plain?.hash);
});

test.each([
  [{ count: -1 }, 'ERR_OUT_OF_RANGE'],
  [{ count: '5' }, 'ERR_INVALID_ARG_TYPE'],
  [{ minLength: 1.5 }, 'ERR_OUT_OF_RANGE'],
  [{ normalize: 'page' }, 'ERR_INVALID_ARG_VALUE'],
  [{ n: 5 }, 'ERR_INVALID_ARG_TYPE'],
])('%j is refused', (options, code) => {
  expect(() => sentences(BODY, options as never)).toThrow(expect.objectContaining({ code }));
});
