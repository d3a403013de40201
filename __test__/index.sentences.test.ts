import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { Index, type SentencesIndexOptions, sentences } from '..';
import { passage, passages, sentence } from './passages';

const texts = passages(3000);

/** An index that keeps groups. */
const grouped = (options: Omit<SentencesIndexOptions, 'groups' | 'texts'> = {}) =>
  new Index({ ...options, groups: true });
/** A match by sentences alone. */
const near = (id: number, shared: number) => ({ id, verified: false, shared });

test('a repost in another frame has the id of the group, a new text one of its own', () => {
  const index = grouped();
  expect(index.similarId(passage(1, 2, 3))).toBe(0);
  expect(index.similarId(passage(4, 5))).toBe(1);
  expect(index.similarId(`【转载】\n${passage(2)}欢迎关注。`)).toBe(0);
  expect(index.size).toBe(3);
  // A text with a sentence of each makes them one; earlier answers lead there.
  expect(index.similarId(passage(3, 4))).toBe(0);
  expect([0, 1, 2, 3].map((id) => index.group(id))).toEqual([0, 0, 0, 0]);
  expect([index.group(4), index.stats().groups]).toEqual([undefined, 1]);
  expect(index.search(passage(3))).toEqual([near(0, 1), near(3, 1)]);
});

test('texts without a long sentence match equal texts only, empty ones nothing', () => {
  const index = grouped();
  expect([
    index.similarId('第01集'),
    index.similarId('第02集'),
    index.similarId(' 第01集'),
  ]).toEqual([0, 1, 0]);
  expect(index.search('第01集')).toEqual([
    { id: 0, similarity: 1, verified: true, shared: 0 },
    { id: 2, similarity: 1, verified: true, shared: 0 },
  ]);
  expect([index.similarId(''), index.similarId(' \n')]).toEqual([3, 4]);
  expect(index.checkAndAdd('')).toEqual({ id: 5 });
  expect(index.checkAndAdd('第02集')).toMatchObject({ duplicateOf: 1, shared: 0, similarity: 1 });
  // Nine characters are too few for a sentence by default, ten are enough.
  expect(index.similarId('一二三四五六七八九。甲')).toBe(6);
  expect(index.similarId('一二三四五六七八九。乙')).toBe(7);
  expect(index.similarId('一二三四五六七八九十。甲')).toBe(8);
  expect(index.similarId('一二三四五六七八九十。乙')).toBe(8);
});

test('batches are their texts one by one, whatever the threads', async () => {
  const one = grouped();
  const similar = texts.map((text) => one.similarId(text));
  expect(new Set(similar).size).toBeLessThan(2500);
  for (const threads of [0, 1, 2]) {
    const index = grouped({ threads });
    expect([...index.similarIdMany(texts.slice(0, 1000))]).toEqual(similar.slice(0, 1000));
    const rest = await index.similarIdManyAsync(texts.slice(1000).map((text) => Buffer.from(text)));
    expect([...rest]).toEqual(similar.slice(1000));
    expect([...index.searchMany(texts, { limit: 4 })]).toEqual([
      ...(await one.searchManyAsync(texts, { limit: 4 })),
    ]);
    expect([...index.searchMany(texts.slice(0, 50))]).toEqual(
      texts.slice(0, 50).map((text) => one.search(text)),
    );
  }
  const [checked, batch] = [grouped(), grouped()];
  const outcomes = texts.map((text) => checked.checkAndAdd(text));
  expect([...batch.checkAndAddMany(texts.slice(0, 1500))]).toEqual(outcomes.slice(0, 1500));
  expect([...(await batch.checkAndAddManyAsync(texts.slice(1500)))]).toEqual(outcomes.slice(1500));
  expect(checked.addMany(texts.slice(0, 9))).toEqual({ first: checked.size - 9, count: 9 });
  expect(await batch.addManyAsync(texts.slice(0, 9))).toEqual({ first: batch.size - 9, count: 9 });
  expect(batch.stats()).toEqual(checked.stats());
});

test('a sentence on every page stops counting, unless all may', () => {
  const pages = Array.from({ length: 60 }, (_, row) => passage(row, 9000));
  const guarded = grouped();
  const groups = new Set(guarded.similarIdMany(pages));
  // Five may share it and the sixth still meets five; from the seventh on it is too common.
  expect([...groups].length).toBe(55);
  expect(guarded.search(sentence(9000))).toEqual([]);
  expect(guarded.search(pages[50] ?? '')[0]).toEqual(near(50, 2));
  const all = grouped({ common: false });
  expect(new Set(all.similarIdMany(pages))).toEqual(new Set([0]));
  const few = grouped({ common: { share: 0, count: 1 } });
  expect(new Set(few.similarIdMany(pages)).size).toBe(59);
});

test('forty thousand equal texts are one sketch and one group', () => {
  const index = grouped();
  const text = passage(1, 2, 3, 4, 5, 6);
  const ids = index.similarIdMany(Array.from({ length: 40_000 }, () => text));
  expect(ids.every((id) => id === 0)).toBe(true);
  const { live, sketches, groups, tableBytes: bytes } = index.stats();
  expect({ live, sketches, groups }).toEqual({ live: 40_000, sketches: 1, groups: 1 });
  expect(bytes).toBeLessThan(40_000 * 20 + 2 ** 20);
  const found = index.searchMany([text], { limit: 3 });
  expect([found.get(0).map(({ id }) => id), found.isTruncated(0)]).toEqual([[0, 1, 2], true]);
  expect(index.stats().truncated).toBe(1);
});

test('bytes are those of the formula', () => {
  const index = grouped({ sentences: 3 });
  const count = 60_000;
  index.addMany(
    Array.from({ length: count }, (_, row) => passage(row * 3, row * 3 + 1, row * 3 + 2)),
  );
  const formula = 8 * 5 + 8.2 * 4 + 25;
  const { tableBytes: bytes, sketches } = index.stats();
  expect(sketches).toBe(count);
  expect(bytes / count).toBeGreaterThan(formula * 0.9);
  expect(bytes / count).toBeLessThan(formula + 26);
});

test('hashes are XXH3 or the first 64 bits of MD5', () => {
  const [text] = ['青禾市图书馆新馆昨日起试运行'];
  const md5 = createHash('md5').update(text).digest('hex').slice(0, 16);
  expect(sentences(`${text}！`, { hash: 'md5' })[0]?.hash).toBe(BigInt(`0x${md5}`));
  expect(sentences(text, { hash: 'xxh3' })).toEqual(sentences(text));
  const [a, b] = (['xxh3', 'md5'] as const).map((hash) => grouped({ hash }));
  expect(a?.similarIdMany(texts)).toEqual(b?.similarIdMany(texts));
});

test('deleted texts are not found, ids are not reused, the group keeps its name while it lives', () => {
  const index = grouped();
  index.similarIdMany([passage(1), passage(1, 2), passage(2)]);
  expect([index.delete(0), index.delete(0), index.has(0), index.size]).toEqual([
    true,
    false,
    false,
    2,
  ]);
  expect([index.group(0), index.group(2)]).toEqual([0, 0]);
  expect(index.search(passage(1)).map(({ id }) => id)).toEqual([1]);
  expect(index.similarId(passage(1, 7))).toBe(0);
  for (const id of [1, 2, 3]) index.delete(id);
  expect(index.group(0)).toBeUndefined();
  expect(index.similarId(passage(1))).toBe(4);
});

test('in a window old texts leave, renewed ones later', () => {
  const index = grouped({ window: { maxAge: 100 } });
  index.add(passage(1), { at: 0 });
  index.add(passage(2), { at: 50 });
  expect(index.checkAndAdd(passage(1), { at: 90, onDuplicate: 'touch' })).toEqual({
    duplicateOf: 0,
    verified: false,
    shared: 1,
  });
  expect(index.checkAndAdd(passage(2), { at: 151 })).toEqual({ id: 2 });
  expect([index.has(0), index.has(1), index.has(2)]).toEqual([true, false, true]);
  expect([index.expire(new Date(151)), index.size]).toEqual([1, 1]);
  const few = grouped({ window: { maxCount: 2 } });
  few.addMany([passage(1), passage(2), passage(3)], { at: [1, 2, 3] });
  expect([few.has(0), few.size]).toEqual([false, 2]);
  expect(() => grouped().expire(1)).toThrowError(
    expect.objectContaining({ code: 'ERR_SIMHASH_NO_WINDOW' }),
  );
});

test('options are checked: unknown, of the wrong type, out of range', () => {
  const type = expect.objectContaining({ name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' });
  const value = expect.objectContaining({ name: 'TypeError', code: 'ERR_INVALID_ARG_VALUE' });
  const range = expect.objectContaining({ name: 'RangeError', code: 'ERR_OUT_OF_RANGE' });
  const wrong: [unknown, unknown][] = [
    [{ counts: 5 }, type],
    [{ sentences: '5' }, type],
    [{ sentences: 0 }, range],
    [{ sentences: 65 }, range],
    [{ minLength: -1 }, range],
    [{ hash: 'sha1' }, value],
    [{ common: true }, type],
    [{ common: { share: 1.1 } }, range],
    [{ common: { count: 0.5 } }, range],
    [{ window: { maxAge: 0 } }, range],
    [{ verify: 'auto' }, value],
    [{ minSimilarity: 0.5 }, value],
    [{ threads: 1025 }, range],
  ];
  for (const [options, error] of wrong) {
    expect(() => grouped(options as SentencesIndexOptions), String(options)).toThrowError(
      error as Error,
    );
  }
  const right: SentencesIndexOptions = {
    sentences: 64,
    minLength: 0,
    normalize: 'web',
    common: { share: 0, count: 0 },
    window: {},
  };
  expect(grouped(right).similarId('x', { at: 5 })).toBe(0);
  const index = grouped();
  expect(() => index.add(1 as never)).toThrowError(type);
  expect(() => index.add(1n as never)).toThrowError(type);
  expect(() => index.addMany('x' as never)).toThrowError(type);
  expect(() => index.addMany(['x', 5 as never])).toThrowError(type);
  expect(() => index.addMany(['x', 'y'], { at: [1, 2, 3] })).toThrowError(value);
  expect(() => grouped(right).addMany(['x', 'y'], { at: [1, 2, 3] })).toThrowError(range);
  expect(() => index.search('x', { limit: -1 })).toThrowError(range);
  expect(() => index.group(-1)).toThrowError(range);
  expect(() => index.checkAndAdd('x', { onDuplicate: 'drop' as never })).toThrowError(value);
  expect(index.size).toBe(0);
});

test('an abort before the sketches are made changes nothing; a closed index says so', async () => {
  const index = grouped();
  const reason = new Error('enough');
  const controller = new AbortController();
  const many = Array.from({ length: 20_000 }, (_, row) => passage(row, row + 1).repeat(5));
  const pending = index.similarIdManyAsync(many, { signal: controller.signal });
  controller.abort(reason);
  await expect(pending).rejects.toBe(reason);
  expect(index.size).toBe(0);
  const running = index.addManyAsync(many);
  index.close();
  index.close();
  expect((await running).count).toBe(20_000);
  const closed = expect.objectContaining({ name: 'SimHashError', code: 'ERR_SIMHASH_CLOSED' });
  expect(() => index.size).toThrowError(closed);
  await expect(index.addManyAsync(['x'])).rejects.toEqual(closed);
  const disposed = grouped();
  disposed[Symbol.dispose]();
  expect(() => disposed.stats()).toThrowError(closed);
});
