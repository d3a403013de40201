import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { dedup, Index, openState } from '..';
import { bare, copy, near } from './indexes';

const folder = mkdtempSync(join(tmpdir(), 'keys-'));
afterAll(() => rmSync(folder, { recursive: true }));

const code = (call: () => unknown): string => {
  try {
    call();
  } catch (error) {
    return (error as { code: string }).code;
  }
  return 'none';
};

test('keys find documents and documents their keys', () => {
  const index = bare({ keys: true });
  expect(index.add(7n, { key: '甲' })).toBe(0);
  expect(index.addMany([7n, 9n, 11n], { keys: ['乙', undefined, '丙'] }).first).toBe(1);
  expect([index.idOf('甲'), index.idOf('乙'), index.idOf('丙'), index.idOf('丁')]).toEqual([
    0,
    1,
    3,
    undefined,
  ]);
  expect([0, 1, 2, 3, 4].map((id) => index.keyOf(id))).toEqual([
    '甲',
    '乙',
    undefined,
    '丙',
    undefined,
  ]);
  expect(index.search(7n, { maxDistance: 0 })).toEqual([
    { ...near(0, 0), key: '甲' },
    { ...near(1, 0), key: '乙' },
  ]);
  expect(index.searchMany([9n], { maxDistance: 0 }).keys).toEqual([undefined]);
  expect(index.stats().keyBytes).toBeGreaterThan(0);
  expect(bare().searchMany([9n]).keys).toBeUndefined();
});

test('a key that comes again names the latest live document', () => {
  const index = bare({ keys: true });
  for (const value of [1n, 2n, 3n]) index.add(value << 30n, { key: 'k' });
  expect([index.idOf('k'), index.keyOf(0)]).toEqual([2, 'k']);
  index.delete(2);
  expect([index.idOf('k'), index.keyOf(2)]).toEqual([1, undefined]);
  index.delete(0);
  index.delete(1);
  expect(index.idOf('k')).toBeUndefined();
});

test('documents that leave the window take their keys along', () => {
  const index = bare({ keys: true, window: { maxAge: 10 } });
  index.add(1n, { key: 'old', at: 0 });
  index.checkAndAdd(2n ** 40n, { key: 'new', at: 100 });
  expect([index.idOf('old'), index.idOf('new')]).toEqual([undefined, 1]);
  index.expire(101);
  expect(index.idOf('new')).toBeUndefined();
});

test('a duplicate leaves no key, one that is added does', async () => {
  const index = bare({ keys: true });
  expect(index.checkAndAdd(5n, { key: 'a' })).toEqual({ id: 0 });
  expect(index.checkAndAdd(5n, { key: 'b' })).toEqual({ ...copy(0, 0), key: 'a' });
  expect(index.idOf('b')).toBeUndefined();
  const many = await index.checkAndAddManyAsync([5n, 0xffff00000000n], { keys: ['c', 'd'] });
  expect([...many]).toEqual([{ ...copy(0, 0), key: 'a' }, { id: 1 }]);
  expect([index.idOf('c'), index.idOf('d')]).toEqual([undefined, 1]);
  index.checkAndAdd(5n, { key: 'e', onDuplicate: 'add' });
  expect(index.idOf('e')).toBe(2);
});

test('keys and texts are saved and opened', async () => {
  const path = join(folder, 'keyed.index');
  const index = new Index({ keys: true, texts: { maxLength: 20 }, maxDistance: 8 });
  index.addMany(['多云转小雨', '一篇比较长的文章，它超过了二十个字节，所以不会被保存下来'], {
    keys: ['一', '二'],
  });
  await index.save(path);
  const simhash = { method: 'simhash' } as const;
  for (const opened of [
    await Index.open(path, simhash),
    Index.openSync(path, { ...simhash, keys: true }),
  ]) {
    expect([opened.idOf('一'), opened.keyOf(1)]).toEqual([0, '二']);
    expect(opened.checkAndAdd('多云转小雨')).toEqual({
      duplicateOf: 0,
      key: '一',
      similarity: 1,
      verified: true,
      distance: 0,
    });
    expect(opened.checkAndAdd('一篇比较长的文章，它超过了二十个字节，所以不会被保存下来')).toEqual({
      ...copy(1, 0),
      key: '二',
    });
  }
  const mismatch = { code: 'ERR_SIMHASH_INDEX_MISMATCH' };
  await expect(Index.open(path, { ...simhash, keys: false })).rejects.toMatchObject(mismatch);
  await expect(Index.open(path, { ...simhash, texts: true })).rejects.toMatchObject(mismatch);
  await expect(Index.open(path, { ...simhash, texts: { maxLength: 20 } })).resolves.toBeInstanceOf(
    Index,
  );
});

test('keys are refused where none are kept, and where they are no keys', () => {
  const [without, index] = [bare(), bare({ keys: true })];
  expect(code(() => without.add(1n, { key: 'a' }))).toBe('ERR_INVALID_ARG_VALUE');
  expect(code(() => without.addMany([1n], { keys: ['a'] }))).toBe('ERR_INVALID_ARG_VALUE');
  expect(code(() => without.checkAndAdd(1n, { key: 'a' }))).toBe('ERR_INVALID_ARG_VALUE');
  expect(code(() => without.idOf('a'))).toBe('ERR_INVALID_ARG_VALUE');
  expect(without.keyOf(0)).toBeUndefined();
  expect(code(() => index.add(1n, { key: '' }))).toBe('ERR_OUT_OF_RANGE');
  expect(code(() => index.add(1n, { key: 'x'.repeat(65_537) }))).toBe('ERR_OUT_OF_RANGE');
  expect(code(() => index.add(1n, { key: 3 } as never))).toBe('ERR_INVALID_ARG_TYPE');
  expect(code(() => index.addMany([1n, 2n], { keys: ['a'] }))).toBe('ERR_OUT_OF_RANGE');
  expect(code(() => index.addMany([1n], { keys: [null] } as never))).toBe('ERR_INVALID_ARG_TYPE');
  expect([without.size, index.size]).toEqual([0, 0]);
});

describe('half of a surrogate pair is no key', () => {
  // As UTF-8 they would be the same key.
  const ILL = ['a\ud800', 'a\udc00', '\udc00\ud800', `${'x'.repeat(30_000)}\ud83d`];
  const told = (name: string, key: string) => ({
    name: 'TypeError',
    code: 'ERR_INVALID_ARG_VALUE',
    message: expect.stringContaining(
      `${name} must be well-formed Unicode, got half of a surrogate pair at ${key.search(/\p{Surrogate}/u)} in "`,
    ),
  });
  const thrown = async (call: () => unknown): Promise<unknown> => {
    try {
      await call();
    } catch (error) {
      return error;
    }
  };

  test.each(ILL.map((key) => [JSON.stringify(key).slice(-20), key]))('%s', async (_, key) => {
    const index = new Index({ keys: true });
    const groups = new Index({
      method: 'sentences',
      ...{ texts: false, verify: false, groups: true, keys: true },
    });
    const keys = ['good', undefined, key];
    const texts = ['一', '二', '三'];
    const all = async (source: unknown[]) => {
      for await (const _ of index.checkAndAddAll(source as string[]));
    };
    for (const [name, call] of [
      ['key', () => index.add('一', { key })],
      ['key', () => index.checkAndAdd('一', { key })],
      ['key', () => index.idOf(key)],
      ['key', () => groups.similarId('一', { key })],
      ['keys[2]', () => index.addMany(texts, { keys })],
      ['keys[2]', () => index.addManyAsync(texts, { keys })],
      ['keys[2]', () => index.checkAndAddMany(texts, { keys })],
      ['keys[2]', () => index.checkAndAddManyAsync(texts, { keys })],
      ['keys[2]', () => groups.similarIdMany(texts, { keys })],
      ['keys[2]', () => groups.similarIdManyAsync(texts, { keys })],
      ['source[1].key', () => all(['一', { text: '二', key }])],
    ] as const) {
      expect(await thrown(call)).toMatchObject(told(name, key));
    }
    // What stands before it in the same batch is not added either.
    expect([index.size, groups.size]).toEqual([0, 0]);
  });

  test('in a state of dedup, and nowhere else there', async () => {
    const docs = ['a', 'a\ud800'].map((id) => ({ id, text: `第${id.length}篇各不相同的文章` }));
    const run = async (options: object) => {
      const keys: unknown[] = [];
      for await (const { key } of dedup(docs, { key: 'id', ...options })) keys.push(key);
      return keys;
    };
    // Where nothing is stored they are what they are.
    expect(await run({})).toEqual(['a', 'a\ud800']);
    const state = await openState(join(folder, 'ill.state'), {});
    expect(await thrown(() => run({ state }))).toMatchObject(told('key of docs[1]', 'a\ud800'));
    await state.close();
  });

  test('pairs are one character, whole', () => {
    const index = new Index({ keys: true });
    index.add('一', { key: '😀' });
    expect([index.idOf('😀'), index.keyOf(0)]).toEqual([0, '😀']);
  });
});
