import { MemoryLevel } from 'memory-level';
import { describe, expect, test } from 'vitest';
import { Index } from '..';
import { KeptIndex, type Level, type Store } from '../dist/connect/level.js';
import { passage, passages } from './passages';

const texts = passages(400);

/** All keys, in order. */
async function keys(db: MemoryLevel): Promise<string[]> {
  const found: string[] = [];
  for await (const key of db.keys()) found.push(key);
  return found;
}

test('an index in a LevelDB answers as one in memory, and again after it was opened anew', async () => {
  const db = new MemoryLevel<string, string>();
  const memory = new Index({ groups: true, window: {} });
  for (let part = 0; part < 4; part++) {
    const kept = await KeptIndex.open(db, { window: {} });
    const { index } = kept;
    const some = texts.slice(part * 100, part * 100 + 60);
    expect(await index.similarIdManyAsync(some, { at: part })).toEqual(
      memory.similarIdMany(some, { at: part }),
    );
    for (const text of texts.slice(part * 100 + 60, part * 100 + 80)) {
      expect(index.similarId(text, { at: part })).toBe(memory.similarId(text, { at: part }));
      await kept.flush();
      expect(index.checkAndAdd(text, { at: part })).toEqual(memory.checkAndAdd(text, { at: part }));
    }
    expect([...index.checkAndAddMany(texts, { at: part })]).toEqual([
      ...memory.checkAndAddMany(texts, { at: part }),
    ]);
    await kept.flush();
    expect(index.addMany(['短', '短'], { at: part })).toEqual(
      memory.addMany(['短', '短'], { at: part }),
    );
    expect(index.add('x', { at: part })).toBe(memory.add('x', { at: part }));
    expect(index.delete(part)).toBe(memory.delete(part));
    if (part === 2) expect(index.expire(1)).toBe(memory.expire(1));
    if (part === 1) await kept.compact();
    expect([...(await index.searchManyAsync(texts))]).toEqual([...memory.searchMany(texts)]);
    expect(index.search(passage(3))).toEqual(memory.search(passage(3)));
    expect([index.size, index.has(5), index.group(70)]).toEqual([
      memory.size,
      memory.has(5),
      memory.group(70),
    ]);
    expect(index.stats().groups).toBe(memory.stats().groups);
    expect(index.toJSON()).toEqual(memory.toJSON());
    await kept.close();
  }
});

test('what was not flushed is not kept; what was, and what close flushes, is', async () => {
  const db = new MemoryLevel<string, string>();
  const size = async () => (await KeptIndex.open(db)).index.size;
  const kept = await KeptIndex.open(db);
  kept.index.add(passage(1));
  expect(await size()).toBe(0);
  await kept.flush();
  expect(await size()).toBe(1);
  const before = (await keys(db)).length;
  await kept.flush();
  // There was nothing to be written.
  expect((await keys(db)).length).toBe(before);
  kept.index.add(passage(2));
  await kept.close();
  await kept.close();
  expect(await size()).toBe(2);
  const closed = { code: 'ERR_SIMHASH_CLOSED' };
  await expect(kept.flush()).rejects.toMatchObject(closed);
  await expect(kept.compact()).rejects.toMatchObject(closed);
  expect(() => kept.index.size).toThrowError(expect.objectContaining(closed));
});

test('flushes at once are written in order, many in one write', async () => {
  const db = new MemoryLevel<string, string>();
  const kept = await KeptIndex.open(db);
  const before = (await keys(db)).length;
  const answers: number[] = [];
  await Promise.all(
    texts.map((text) => {
      answers.push(kept.index.similarId(text));
      return kept.flush();
    }),
  );
  expect(answers).toEqual([...new Index({ groups: true }).similarIdMany(texts)]);
  expect((await keys(db)).length - before).toBeLessThan(texts.length / 4);
  const again = await KeptIndex.open(db);
  expect([again.index.size, again.index.stats().groups]).toEqual([
    kept.index.size,
    kept.index.stats().groups,
  ]);
});

test('other things in the database stay, and sublevels and prefixes keep indexes apart', async () => {
  const db = new MemoryLevel<string, string>();
  await db.put('aaa', 'before');
  await db.put('simhash-sentences', 'beside');
  await db.put('zzz', 'behind');
  const [a, b, c] = [
    await KeptIndex.open(db),
    await KeptIndex.open(db, { prefix: 'other' }),
    await KeptIndex.open(db.sublevel('part')),
  ];
  a.index.add(passage(1));
  b.index.addMany([passage(2), passage(3)]);
  c.index.addMany([passage(2), passage(3), passage(4)]);
  for (const kept of [a, b, c]) await kept.flush();
  for (let round = 0; round < 3; round++) await a.compact();
  expect([
    (await KeptIndex.open(db)).index.size,
    (await KeptIndex.open(db, { prefix: 'other' })).index.size,
    (await KeptIndex.open(db.sublevel('part'))).index.size,
  ]).toEqual([1, 2, 3]);
  expect([await db.get('aaa'), await db.get('simhash-sentences'), await db.get('zzz')]).toEqual([
    'before',
    'beside',
    'behind',
  ]);
  // The whole and what says where it is; what it replaced is gone.
  expect((await keys(db)).filter((key) => key.startsWith('simhash-sentences!')).length).toBe(2);
});

test('a write that fails is told to whom it concerns, and to everybody after', async () => {
  const db = new MemoryLevel<string, string>();
  const full = new Error('no space');
  let fails = false;
  const failing: Level = {
    batch: (operations, options) =>
      fails ? Promise.reject(full) : (db as Level).batch(operations, options),
    iterator: (options) => (db as Level).iterator(options),
    clear: (options) => (db as Level).clear(options),
  };
  const kept = await KeptIndex.open(failing);
  kept.index.add(passage(1));
  await kept.flush();
  fails = true;
  const refused = { name: 'SimHashError', code: 'ERR_SIMHASH_OUTPUT', cause: full };
  kept.index.add(passage(2));
  await expect(kept.flush()).rejects.toMatchObject(refused);
  fails = false;
  await expect(kept.flush()).rejects.toMatchObject(refused);
  await expect(kept.compact()).rejects.toMatchObject({ code: 'ERR_SIMHASH_OUTPUT' });
  await kept.close();
  const { index } = await KeptIndex.open(db);
  expect([index.size, index.add(passage(2))]).toEqual([1, 1]);
});

test('other options and damage are named', async () => {
  const db = new MemoryLevel<string, string>();
  const first = await KeptIndex.open(db, { sentences: 4, hash: 'md5', common: false });
  for (const text of texts.slice(0, 20)) {
    first.index.add(text);
    await first.flush();
  }
  await first.close();
  const mismatch = { code: 'ERR_SIMHASH_INDEX_MISMATCH' };
  await expect(KeptIndex.open(db, { hash: 'md5', sentences: 5 })).rejects.toMatchObject(mismatch);
  await expect(KeptIndex.open(db)).rejects.toMatchObject(mismatch);
  await expect(KeptIndex.open(db, { hash: 'md5', window: {} })).rejects.toMatchObject(mismatch);
  const again = await KeptIndex.open(db, { hash: 'md5', sentences: 4 });
  expect(again.index.size).toBe(20);

  const damage = { name: 'SimHashError', code: 'ERR_SIMHASH_INDEX_DAMAGED' };
  const written = (await keys(db)).filter((key) => key.includes('!b!'));
  const gone = written[3] ?? '';
  const value = await db.get(gone, { valueEncoding: 'view' });
  await db.del(gone);
  await expect(KeptIndex.open(db, { hash: 'md5' })).rejects.toMatchObject({
    ...damage,
    message: expect.stringContaining(gone),
  });
  await db.put(gone, (value as Uint8Array).subarray(1), { valueEncoding: 'view' });
  await expect(KeptIndex.open(db, { hash: 'md5' })).rejects.toMatchObject({
    ...damage,
    message: expect.stringMatching(/^the index "simhash-sentences" is damaged at byte \d+: \w/),
  });
  await db.put('simhash-sentences!meta', 'nonsense');
  await expect(KeptIndex.open(db, { hash: 'md5' })).rejects.toMatchObject(damage);
  for (const wrong of [undefined, {}, 'path']) {
    await expect(KeptIndex.open(wrong as never)).rejects.toMatchObject({
      name: 'TypeError',
    });
  }
});

test('what a window has let go does not pile up', async () => {
  const db = new MemoryLevel<string, string>();
  const kept = await KeptIndex.open(db, { window: { maxCount: 10 }, sync: false });
  const { index } = kept;
  for (let round = 0; round < 60; round++) {
    const all = Array.from({ length: 10_000 }, (_, row) => passage(round * 10_000 + row));
    await index.addManyAsync(all);
    await kept.flush();
  }
  let bytes = 0;
  for await (const value of db.values({ valueEncoding: 'view' }))
    bytes += (value as unknown as Uint8Array).length;
  // 600,000 texts of one sentence are 6 MB of changes; 4 MiB and the last batch are kept at most.
  expect(bytes).toBeLessThan(4.2 * 2 ** 20);
  expect(index.size).toBe(10);
});

describe('sync', () => {
  /** What every write of an index is told, whatever it is that is written. */
  async function told(options: { sync?: boolean }): Promise<unknown[]> {
    const db = new MemoryLevel<string, string>();
    const writes: unknown[] = [];
    const level = {
      batch: (operations: never, given: { sync: boolean }) => {
        writes.push(given.sync);
        return db.batch(operations, given as never);
      },
      iterator: (range: never) => db.iterator(range),
      clear: (range: never) => db.clear(range),
    } as unknown as Level;
    const kept = await KeptIndex.open(level, { window: {}, ...options });
    const { index } = kept;
    for (const change of [
      () => index.similarId(passage(1)),
      () => index.similarIdMany([passage(2)]),
      () => index.add(passage(3)),
      () => index.addMany([passage(4)], { at: 5 }),
      () => index.checkAndAdd(passage(5)),
      () => index.checkAndAddMany([passage(6)]),
      () => index.delete(0),
      () => index.expire(6),
    ]) {
      change();
      await kept.flush();
    }
    await kept.compact();
    index.add(passage(7));
    await kept.close();
    return writes;
  }

  test('reaches every write: the disk has what was acknowledged unless that is turned off', async () => {
    const byDefault = await told({});
    expect(byDefault.length).toBeGreaterThanOrEqual(9);
    expect(new Set(byDefault)).toEqual(new Set([true]));
    expect(await told({ sync: true })).toEqual(byDefault);
    expect(await told({ sync: false })).toEqual(byDefault.map(() => false));
  });
});

describe("a store of one's own", () => {
  /** Entries by key, and what it was told. */
  function map() {
    const entries = new Map<string, Uint8Array>();
    const told: string[] = [];
    const between = (first: string, last: string) =>
      [...entries.keys()].filter((key) => key >= first && key <= last).sort();
    const store: Store = {
      get: async (key) => entries.get(key),
      async *entries(first, last) {
        for (const key of between(first, last)) yield [key, entries.get(key) as Uint8Array];
      },
      put: async (all) => {
        told.push('put');
        for (const [key, value] of all) entries.set(key, new Uint8Array(value));
      },
      delete: async (first, last) => {
        for (const key of between(first, last)) entries.delete(key);
      },
      close: async () => {
        told.push('close');
      },
    };
    return { entries, store, told };
  }

  test('has five methods, and keeps what a LevelDB keeps', async () => {
    const db = new MemoryLevel<string, Uint8Array>({ valueEncoding: 'view' });
    const own = map();
    const both = [await KeptIndex.open(db), await KeptIndex.open(own.store)] as const;
    for (const kept of both) {
      kept.index.similarIdMany(texts.slice(0, 100));
      await kept.flush();
      await kept.compact();
      kept.index.add(passage(9000));
      await kept.close();
    }
    expect(own.told).toEqual(['put', 'put', 'put', 'put', 'close']);
    const kept: [string, Uint8Array][] = [];
    for await (const entry of db.iterator()) kept.push(entry);
    expect([...own.entries].sort()).toEqual(
      kept.map(([key, value]) => [key, new Uint8Array(value)]),
    );
    const again = await KeptIndex.open(own.store);
    expect([again.index.size, again.index.search(passage(9000))[0]?.id]).toEqual([101, 100]);
  });

  test('decides itself how it writes, and must have all five', async () => {
    const { store } = map();
    await expect(KeptIndex.open(store, { sync: true } as never)).rejects.toMatchObject({
      code: 'ERR_INVALID_ARG_VALUE',
      message: expect.stringContaining('sync is for a LevelDB'),
    });
    for (const method of Object.keys(store)) {
      const lacking = { ...store, [method]: undefined } as never;
      await expect(KeptIndex.open(lacking)).rejects.toMatchObject({ name: 'TypeError' });
    }
  });
});
