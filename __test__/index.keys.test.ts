import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { Index } from '..';
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
