/** What `close()` promises, the same for every class of index: called before, it finishes; called after, it is refused. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { MemoryLevel } from 'memory-level';
import { afterAll, describe, expect, test } from 'vitest';
import { Index } from '..';
import { KeptIndex } from '../dist/connect/level.js';

const folder = mkdtempSync(join(tmpdir(), 'simhash-close-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** More than five slices of 4,096. */
const texts = Array.from({ length: 21_000 }, (_, row) =>
  row % 3 === 0
    ? `旧闻第${row % 500}则：渡轮今日停航一天`
    : `第${row}条：图书馆藏书${row * 31}万册。`,
);
/** An index of groups in a folder. */
const GROUPS = { groups: true } as const;
const TURNS = [0, 1, 2, 3, 4, 5, 6];
const closed = expect.objectContaining({ name: 'SimHashError', code: 'ERR_SIMHASH_CLOSED' });

/** Closes an index after some turns of the event loop; what was called before goes on. */
async function closeAfter(turns: number, index: { close(): unknown }): Promise<void> {
  for (let count = 0; count < turns; count++) await turn();
  void index.close();
}

describe.each([
  ['minhash', () => new Index({ texts: false })],
  ['simhash', () => new Index({ maxDistance: 3, texts: false })],
  ['sentences', () => new Index({ method: 'sentences', texts: false })],
  ['exact', () => new Index({ method: 'exact' })],
] as [string, () => Index][])('%s', (_name, make) => {
  test.each(TURNS)('batches called before it was closed, %d turns later, finish', async (turns) => {
    const [index, twin] = [make(), make()];
    const pending = [index.addManyAsync(texts), index.searchManyAsync(['别的文章'])] as const;
    await closeAfter(turns, index);
    await expect(index.addManyAsync(texts)).rejects.toEqual(closed);
    await expect(index.searchManyAsync(['一'])).rejects.toEqual(closed);
    expect(() => index.add('一')).toThrowError(closed);
    expect(() => index.size).toThrowError(closed);
    expect(await pending[0]).toEqual(twin.addMany(texts));
    expect((await pending[1]).length).toBe(1);
    await expect(index.addManyAsync(['一'])).rejects.toEqual(closed);
  });

  test('a search and a check-and-add under way give the answers of an open index', async () => {
    const [index, twin] = [make(), make()];
    const checked = index.checkAndAddManyAsync(texts);
    await closeAfter(2, index);
    expect([...(await checked)]).toEqual([...twin.checkAndAddMany(texts)]);
    const other = make();
    other.addMany(texts.slice(0, 2000));
    const twins = [...other.searchMany(texts, { limit: 3 })];
    const found = other.searchManyAsync(texts, { limit: 3 });
    await closeAfter(2, other);
    expect([...(await found)]).toEqual(twins);
  });

  test('an abort after the closing still counts, and an error still has its name', async () => {
    const index = make();
    const controller = new AbortController();
    const reason = new Error('enough');
    const adding = index.addManyAsync(texts, { signal: controller.signal });
    const wrong = index.addManyAsync(Object.assign([...texts], { 20000: 3 }) as never);
    await closeAfter(1, index);
    controller.abort(reason);
    await expect(adding).rejects.toBe(reason);
    await expect(wrong).rejects.toThrow(/^(items|texts)\[20000\] must be/);
  });

  test('a batch whose elements close the index as they are read finishes too', async () => {
    const index = make();
    const few = Object.defineProperty(['一', '二'], 0, {
      get() {
        index.close();
        return '一';
      },
    });
    expect(await index.addManyAsync(few)).toEqual({ first: 0, count: 2 });
    expect(() => index.size).toThrowError(closed);
  });
});

test('an index lives for others as long as a batch of the closed object, and no longer', async () => {
  const index = new Index();
  const handle = index.share();
  const adding = index.addManyAsync(texts);
  await closeAfter(1, index);
  const other = Index.fromShared(handle);
  other.close();
  expect((await adding).count).toBe(texts.length);
  expect(() => Index.fromShared(handle)).toThrowError(closed);
});

test.each(TURNS)(
  'a folder closed %d turns into a batch has the batch, and can be opened when it ended',
  async (turns) => {
    const path = join(folder, `finished-${turns}`);
    const index = await Index.open(path, { ...GROUPS, durability: 'none' });
    const twin = new Index({ groups: true });
    const groups = index.similarIdManyAsync(texts);
    await closeAfter(turns, index);
    expect(await groups).toEqual(twin.similarIdMany(texts));
    await index.close();
    const again = await Index.open(path, GROUPS);
    expect(again.size).toBe(texts.length);
    expect([...again.searchMany(texts.slice(0, 50))]).toEqual([
      ...twin.searchMany(texts.slice(0, 50)),
    ]);
    await again.close();
  },
);

test('a folder closed into a batch is locked until it ends, and has nothing of it when it was aborted', async () => {
  const path = join(folder, 'aborted');
  const index = await Index.open(path, GROUPS);
  index.add('青禾市图书馆新馆昨日起试运行');
  const controller = new AbortController();
  const adding = index.addManyAsync(texts, { signal: controller.signal });
  await turn();
  const closed = index.close();
  await expect(Index.open(path, GROUPS)).rejects.toMatchObject({
    code: 'ERR_SIMHASH_INDEX_LOCKED',
  });
  controller.abort();
  await expect(adding).rejects.toBe(controller.signal.reason);
  await closed;
  const again = await Index.open(path, GROUPS);
  expect(again.size).toBe(1);
  await again.close();
});

test.each(TURNS)('a database has the batches that were called %d turns before', async (turns) => {
  const db = new MemoryLevel<string, string>();
  const kept = await KeptIndex.open(db);
  const { index } = kept;
  const groups = index.similarIdManyAsync(texts);
  const added = index.addManyAsync(texts.slice(0, 10));
  await Promise.all([closeAfter(turns, { close: () => void kept.close() }), kept.close()]);
  await expect(index.addManyAsync(texts)).rejects.toEqual(closed);
  expect([(await groups).length, (await added).count]).toEqual([texts.length, 10]);
  expect((await KeptIndex.open(db)).index.size).toBe(texts.length + 10);
});
