import { MemoryLevel } from 'memory-level';
import { describe, expect, test } from 'vitest';
import { Index } from '..';
import { type Level, LevelSentenceIndex } from '../dist/connect/level.js';
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
    const index = await LevelSentenceIndex.open(db, { window: {} });
    const some = texts.slice(part * 100, part * 100 + 60);
    expect(await index.similarIdMany(some, { at: part })).toEqual(
      memory.similarIdMany(some, { at: part }),
    );
    for (const text of texts.slice(part * 100 + 60, part * 100 + 80)) {
      expect(await index.similarId(text, { at: part })).toBe(memory.similarId(text, { at: part }));
      expect(await index.checkAndAdd(text, { at: part })).toEqual(
        memory.checkAndAdd(text, { at: part }),
      );
    }
    expect([...(await index.checkAndAddMany(texts, { at: part }))]).toEqual([
      ...memory.checkAndAddMany(texts, { at: part }),
    ]);
    expect(await index.addMany(['短', '短'], { at: part })).toEqual(
      memory.addMany(['短', '短'], { at: part }),
    );
    expect(await index.add('x', { at: part })).toBe(memory.add('x', { at: part }));
    expect(await index.delete(part)).toBe(memory.delete(part));
    if (part === 2) expect(await index.expire(1)).toBe(memory.expire(1));
    if (part === 1) await index.compact();
    expect([...(await index.searchMany(texts))]).toEqual([...memory.searchMany(texts)]);
    expect(index.search(passage(3))).toEqual(memory.search(passage(3)));
    expect([index.size, index.has(5), index.group(70)]).toEqual([
      memory.size,
      memory.has(5),
      memory.group(70),
    ]);
    expect(index.stats().groups).toBe(memory.stats().groups);
    await index.close();
  }
});

test('calls at once are written in order, several in one write', async () => {
  const db = new MemoryLevel<string, string>();
  const index = await LevelSentenceIndex.open(db);
  const before = (await keys(db)).length;
  const answers = await Promise.all(texts.map((text) => index.similarId(text)));
  expect(answers).toEqual([...new Index({ groups: true }).similarIdMany(texts)]);
  expect((await keys(db)).length - before).toBeLessThan(texts.length / 4);
  const again = await LevelSentenceIndex.open(db);
  expect([again.size, again.stats().groups]).toEqual([index.size, index.stats().groups]);
});

test('other things in the database stay, and sublevels and prefixes keep indexes apart', async () => {
  const db = new MemoryLevel<string, string>();
  await db.put('aaa', 'before');
  await db.put('simhash-sentences', 'beside');
  await db.put('zzz', 'behind');
  const [a, b, c] = [
    await LevelSentenceIndex.open(db),
    await LevelSentenceIndex.open(db, { prefix: 'other' }),
    await LevelSentenceIndex.open(db.sublevel('part')),
  ];
  await a.add(passage(1));
  await b.addMany([passage(2), passage(3)]);
  await c.addMany([passage(2), passage(3), passage(4)]);
  for (let round = 0; round < 3; round++) await a.compact();
  expect([
    (await LevelSentenceIndex.open(db)).size,
    (await LevelSentenceIndex.open(db, { prefix: 'other' })).size,
    (await LevelSentenceIndex.open(db.sublevel('part'))).size,
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
  const index = await LevelSentenceIndex.open(failing);
  await index.add(passage(1));
  fails = true;
  const refused = { name: 'SimHashError', code: 'ERR_SIMHASH_OUTPUT', cause: full };
  await expect(index.add(passage(2))).rejects.toMatchObject(refused);
  fails = false;
  await expect(index.similarId(passage(3))).rejects.toMatchObject(refused);
  await expect(index.compact()).rejects.toMatchObject({ code: 'ERR_SIMHASH_OUTPUT' });
  await index.close();
  const again = await LevelSentenceIndex.open(db);
  expect([again.size, await again.add(passage(2))]).toEqual([1, 1]);
});

test('every write waits for the disk unless it is told not to', async () => {
  for (const [given, sync] of [
    [{}, true],
    [{ sync: true }, true],
    [{ sync: false }, false],
  ] as const) {
    const db = new MemoryLevel<string, string>();
    const asked: boolean[] = [];
    const recorded: Level = {
      batch: (operations, options) => {
        asked.push(options.sync);
        return (db as Level).batch(operations, options);
      },
      iterator: (options) => (db as Level).iterator(options),
      clear: (options) => (db as Level).clear(options),
    };
    const index = await LevelSentenceIndex.open(recorded, given);
    await index.add(passage(1));
    await index.checkAndAddMany(texts.slice(0, 20));
    await index.compact();
    await index.delete(0);
    // The empty whole, two additions, the whole, the deletion: each says how long the database may wait.
    expect(asked.length).toBeGreaterThanOrEqual(5);
    expect(new Set(asked)).toEqual(new Set([sync]));
    await index.close();
  }
});

test('other options and damage are named', async () => {
  const db = new MemoryLevel<string, string>();
  const index = await LevelSentenceIndex.open(db, { sentences: 4, hash: 'md5', common: false });
  for (const text of texts.slice(0, 20)) await index.add(text);
  await index.close();
  await expect(index.add('x')).rejects.toMatchObject({ code: 'ERR_SIMHASH_CLOSED' });
  const mismatch = { code: 'ERR_SIMHASH_INDEX_MISMATCH' };
  await expect(LevelSentenceIndex.open(db, { hash: 'md5', sentences: 5 })).rejects.toMatchObject(
    mismatch,
  );
  await expect(LevelSentenceIndex.open(db)).rejects.toMatchObject(mismatch);
  await expect(LevelSentenceIndex.open(db, { hash: 'md5', window: {} })).rejects.toMatchObject(
    mismatch,
  );
  expect((await LevelSentenceIndex.open(db, { hash: 'md5', sentences: 4 })).size).toBe(20);

  const damage = { name: 'SimHashError', code: 'ERR_SIMHASH_INDEX_DAMAGED' };
  const written = (await keys(db)).filter((key) => key.includes('!b!'));
  const gone = written[3] ?? '';
  const value = await db.get(gone, { valueEncoding: 'view' });
  await db.del(gone);
  await expect(LevelSentenceIndex.open(db, { hash: 'md5' })).rejects.toMatchObject({
    ...damage,
    message: expect.stringContaining(gone),
  });
  await db.put(gone, (value as Uint8Array).subarray(1), { valueEncoding: 'view' });
  await expect(LevelSentenceIndex.open(db, { hash: 'md5' })).rejects.toMatchObject({
    ...damage,
    message: expect.stringMatching(/^the index "simhash-sentences" is damaged at byte \d+: \w/),
  });
  await db.put('simhash-sentences!meta', 'nonsense');
  await expect(LevelSentenceIndex.open(db, { hash: 'md5' })).rejects.toMatchObject(damage);
  for (const wrong of [undefined, {}, 'path']) {
    await expect(LevelSentenceIndex.open(wrong as never)).rejects.toMatchObject({
      name: 'TypeError',
    });
  }
});

test('what a window has let go does not pile up', async () => {
  const db = new MemoryLevel<string, string>();
  const index = await LevelSentenceIndex.open(db, { window: { maxCount: 10 }, sync: false });
  for (let round = 0; round < 60; round++) {
    await index.addMany(Array.from({ length: 10_000 }, (_, row) => passage(round * 10_000 + row)));
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
    const index = await LevelSentenceIndex.open(level, { window: {}, ...options });
    await index.similarId(passage(1));
    await index.similarIdMany([passage(2)]);
    await index.add(passage(3));
    await index.addMany([passage(4)], { at: 5 });
    await index.checkAndAdd(passage(5));
    await index.checkAndAddMany([passage(6)]);
    await index.delete(0);
    await index.expire(6);
    await index.compact();
    await index.close();
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
