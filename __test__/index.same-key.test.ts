import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { Index, SimHashError } from '..';
import { bare, copy } from './indexes';

const folder = mkdtempSync(join(tmpdir(), 'same-key-'));
afterAll(() => rmSync(folder, { recursive: true }));

const FAR = 0xffff_0000_0000n;

const thrown = (call: () => unknown): SimHashError => {
  try {
    call();
  } catch (error) {
    return error as SimHashError;
  }
  throw new Error('nothing was thrown');
};

test('error: a key that is alive is refused, and what came before counts', async () => {
  const index = bare({ keys: true, onSameKey: 'error' });
  index.add(5n, { key: 'a' });
  const refused = thrown(() => index.add(FAR, { key: 'a' }));
  expect([refused.code, refused.message.includes('"a"'), refused.done]).toEqual([
    'ERR_SIMHASH_SAME_KEY',
    true,
    undefined,
  ]);
  expect(thrown(() => index.checkAndAdd(FAR, { key: 'a' })).code).toBe('ERR_SIMHASH_SAME_KEY');
  const added = thrown(() => index.addMany([FAR, 6n, 7n], { keys: ['b', 'a', 'c'] }));
  expect(added).toMatchObject({ code: 'ERR_SIMHASH_SAME_KEY', done: { first: 1, count: 1 } });
  const batch = index.checkAndAddManyAsync([5n, 0xffffn << 16n, 9n], { keys: ['d', 'e', 'b'] });
  const failed = await batch.then(
    () => undefined,
    (error: SimHashError) => error,
  );
  expect(failed?.code).toBe('ERR_SIMHASH_SAME_KEY');
  expect(failed).toBeInstanceOf(SimHashError);
  expect([...((failed as SimHashError).done as Iterable<unknown>)]).toEqual([
    { ...copy(0, 0), key: 'a' },
    { id: 2 },
  ]);
  const seen: unknown[] = [];
  const source = [
    { text: FAR << 4n, key: 'f' },
    { text: 1n, key: 'e' },
  ];
  const all = async () => {
    for await (const outcome of index.checkAndAddAll(source)) seen.push(outcome);
  };
  await expect(all()).rejects.toMatchObject({ code: 'ERR_SIMHASH_SAME_KEY' });
  expect(seen).toEqual([{ id: 3 }]);
  index.delete(0);
  expect(index.add(5n, { key: 'a' })).toBe(4);
});

test('replace: the old version leaves, whatever the check finds', () => {
  const index = bare({ keys: true, onSameKey: 'replace' });
  index.addMany([5n, FAR], { keys: ['a', 'b'] });
  // Not a duplicate of its own old version.
  expect(index.checkAndAdd(5n, { key: 'a' })).toEqual({ id: 2 });
  expect([index.size, index.has(0), index.idOf('a')]).toEqual([2, false, 2]);
  expect(index.checkAndAdd(FAR, { key: 'a' })).toEqual({ ...copy(1, 0), key: 'b' });
  expect([index.size, index.idOf('a')]).toEqual([1, undefined]);
  expect(index.add(1n, { key: 'b' })).toBe(3);
  expect([index.size, index.idOf('b')]).toEqual([1, 3]);
});

test('replace: nothing leaves until the texts that are asked for are there', () => {
  const index = new Index({
    keys: true,
    onSameKey: 'replace',
    texts: false,
    verify: 'auto',
    maxDistance: 8,
  });
  const text = '多云转小雨，局部有雷阵雨，气温二十度，东南风三级，请市民出门带伞并注意安全';
  index.add(text, { key: 'a' });
  index.add(text, { key: 'b' });
  const asked: number[] = [];
  const fail = (id: number) => {
    asked.push(id);
    throw new Error('gone');
  };
  expect(() => index.checkAndAdd(text, { key: 'a', textOf: fail })).toThrow('gone');
  expect([asked, index.idOf('a'), index.size]).toEqual([[1], 0, 2]);
  const found = index.checkAndAdd(text, { key: 'a', textOf: () => text });
  expect(found).toMatchObject({ duplicateOf: 1, verified: true, key: 'b' });
  expect([index.idOf('a'), index.size]).toEqual([undefined, 1]);
});

test('repeat: a checked key is answered as it was first, also after it was opened again', async () => {
  const path = join(folder, 'repeat');
  const options = { keys: true, onSameKey: 'repeat', maxDistance: 3, texts: false } as const;
  let index = await Index.open(path, options);
  const bytes = index.stats().keyBytes;
  expect(index.checkAndAdd(5n, { key: 'a' })).toEqual({ id: 0 });
  const first = index.checkAndAdd(4n, { key: 'b' });
  expect(first).toEqual({ ...copy(0, 1), key: 'a' });
  expect(index.stats().keyBytes).toBeGreaterThan(bytes + 100);
  const again = () => {
    expect(index.checkAndAdd(FAR, { key: 'b' })).toEqual({ ...first, repeated: true });
    expect(index.checkAndAdd(FAR, { key: 'a' })).toEqual({ id: 0, repeated: true });
    expect([index.add(FAR, { key: 'a' }), index.size]).toEqual([0, 1]);
    const many = index.checkAndAddMany([1n, 2n], { keys: ['a', 'b'] });
    expect([...many]).toEqual([
      { id: 0, repeated: true },
      { ...first, repeated: true },
    ]);
    expect([...index.addMany([1n, 2n], { keys: ['a', 'a'] }).ids]).toEqual([0, 0]);
  };
  again();
  await index.close();
  index = await Index.open(path, options);
  again();
  await index.compact();
  await index.close();
  index = await Index.open(path);
  again();
  await index.save(join(folder, 'saved'));
  await index.close();
  index = await Index.open(join(folder, 'saved'));
  again();
  // Both are new with the document that they led to.
  index.delete(0);
  expect(index.checkAndAdd(4n, { key: 'b' })).toEqual({ id: 1 });
  expect(index.checkAndAdd(4n, { key: 'a' })).toEqual({ ...copy(1, 0), key: 'b' });
});

test('another value than that of the index is named', async () => {
  const index = new Index({ keys: true, onSameKey: 'replace' });
  const path = join(folder, 'options');
  await index.save(path);
  const other = Index.open(path, { keys: true, onSameKey: 'repeat' });
  await expect(other).rejects.toMatchObject({ code: 'ERR_SIMHASH_INDEX_MISMATCH' });
  await expect(other).rejects.toThrow('onSameKey');
  await expect(Index.open(path, { onSameKey: 'replace' })).resolves.toBeInstanceOf(Index);
  await new Index({ keys: true }).save(path);
  await expect(Index.open(path, { onSameKey: 'add' })).resolves.toBeInstanceOf(Index);
  await expect(Index.open(path, { onSameKey: 'error' })).rejects.toThrow('onSameKey');
  const without = thrown(() => new Index({ onSameKey: 'repeat' }));
  expect([without.code, without.message]).toEqual([
    'ERR_INVALID_ARG_VALUE',
    'onSameKey must be left out in an index without keys, got repeat',
  ]);
  await expect(Index.open(join(folder, 'new'), { onSameKey: 'error' })).rejects.toThrow(
    'onSameKey',
  );
  expect(thrown(() => new Index({ keys: true, onSameKey: 'both' as never })).code).toBe(
    'ERR_INVALID_ARG_VALUE',
  );
});
