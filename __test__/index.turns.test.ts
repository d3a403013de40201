/** Batches give way to single calls, and a saved index is the index at the call. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { Index } from '..';
import { nearby } from './fingerprints';
import { bare } from './indexes';

const folder = mkdtempSync(join(tmpdir(), 'simhash-turns-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string) => join(folder, name);

const texts = Array.from(
  { length: 20_000 },
  (_, row) => `第${row}篇，${row * 7919}，${row ** 2}。`,
);
const numbers = BigUint64Array.from(
  { length: 200_000 },
  (_, row) => (BigInt(row + 1) * 0x9e3779b97f4a7c15n) & 0xffffffffffffffffn,
);

/** Ids of a batch, in order, and those of single calls made while it was under way. */
async function together(
  index: { readonly size: number },
  batch: () => Promise<number[]>,
  single: (row: number) => number,
): Promise<{ ids: number[]; singles: number[] }> {
  let done = false;
  const pending = batch().finally(() => {
    done = true;
  });
  const singles: number[] = [];
  while (!done) {
    if (index.size > singles.length) singles.push(single(singles.length));
    await turn();
  }
  return { ids: await pending, singles };
}

const checkedIds = (checked: Iterable<{ id?: number | undefined }>) =>
  Array.from(checked, ({ id }) => id).filter((id) => id !== undefined);

/** An index, a batch on it, and a single call. */
interface Case {
  readonly index: { readonly size: number };
  batch(): Promise<number[]>;
  single(): number;
}

const bands = { hashes: 16, bands: 4, rows: 4 } as const;

const CASES: Readonly<Record<string, () => Case>> = {
  'addManyAsync of fingerprints with a window': () => {
    const index = bare({ window: {} });
    const batch = async () => [...(await index.addManyAsync(numbers)).ids];
    return { index, batch, single: () => index.add(1n) };
  },
  'addManyAsync of many fingerprints': () => {
    const index = bare();
    const batch = async () => [...(await index.addManyAsync(numbers)).ids];
    return { index, batch, single: () => index.add(1n) };
  },
  'checkAndAddManyAsync of fingerprints': () => {
    const index = bare();
    const batch = async () => checkedIds(await index.checkAndAddManyAsync(numbers));
    return { index, batch, single: () => index.add(1n) };
  },
  'checkAndAddManyAsync, verified': () => {
    const index = new Index({ maxDistance: 8 });
    const how = { onDuplicate: 'add' } as const;
    const batch = async () => checkedIds(await index.checkAndAddManyAsync(texts, how));
    return { index, batch, single: () => index.add('一') };
  },
  'addManyAsync of minhash': () => {
    const index = new Index(bands);
    const batch = async () => [...(await index.addManyAsync(texts)).ids];
    return { index, batch, single: () => index.add('一') };
  },
  'addManyAsync of sentences': () => {
    const index = new Index({ method: 'sentences' });
    const batch = async () => [...(await index.addManyAsync(texts)).ids];
    return { index, batch, single: () => index.add('一') };
  },
  'addManyAsync of equal texts': () => {
    const index = new Index({ method: 'exact', texts: false });
    // Hashing one takes so little that more of them are needed.
    const many = Array.from({ length: 10 }, (_, part) => texts.map((text) => text + part)).flat();
    const batch = async () => [...(await index.addManyAsync(many)).ids];
    return { index, batch, single: () => index.add('一') };
  },
};

test.each(Object.keys(CASES))('%s: single calls are done while it is under way', async (name) => {
  let between = false;
  // Whether this thread is awake while the batch runs is up to the system. Once is enough: a call that waited for the batch
  // would come after its last id every time.
  for (let attempt = 0; attempt < 200 && !between; attempt++) {
    const { index, batch, single } = (CASES[name] as () => Case)();
    const { ids, singles } = await together(index, batch, single);
    expect(ids.every((id, row) => row === 0 || id > (ids[row - 1] as number))).toBe(true);
    expect(new Set([...ids, ...singles]).size).toBe(index.size);
    // Not spread over the arguments of Math.max: a fast machine makes more single calls than a call takes arguments.
    const newest = singles.reduce((max, id) => Math.max(max, id), ids.at(-1) as number);
    expect(newest).toBe(index.size - 1);
    between = singles.some((id) => id < (ids.at(-1) as number));
  }
  expect(between).toBe(true);
});

/** By the form that is named: an index, a batch on it, and another one here and now. */
const MANY: Readonly<Record<string, () => Case>> = {
  addManyAsync: () => {
    const index = bare({ window: {} });
    const batch = async () => [...(await index.addManyAsync(numbers)).ids];
    return { index, batch, single: () => index.addMany([1n]).count };
  },
  checkAndAddManyAsync: () => {
    const index = bare();
    const others = numbers.slice(0, 30_000).map((number) => ~number & 0xffffffffffffffffn);
    // It looks all of them up before it has the turn.
    const batch = async () => checkedIds(await index.checkAndAddManyAsync(numbers));
    return { index, batch, single: () => index.checkAndAddMany(others).length };
  },
  similarIdManyAsync: () => {
    const index = new Index({ groups: true });
    const batch = async () => [...(await index.similarIdManyAsync(texts))];
    return { index, batch, single: () => index.similarIdMany(['一']).length };
  },
};

test.each(Object.keys(MANY))(
  'a batch here and now waits for no other one: where one is under way %s is named',
  // The other batch may begin between a call and the look at the size behind it, where the system lets this thread wait there: a call
  // that waits for the batch would be found every time.
  { retry: 10 },
  async (form) => {
    const { index, batch, single } = (MANY[form] as () => Case)();
    const message = expect.stringContaining(`use ${form}, which returns a promise`);
    const refusal = { code: 'ERR_SIMHASH_ASYNC_ONLY', message };
    let done = false;
    const pending = batch().finally(() => {
      done = true;
    });
    let refused = 0;
    while (!done) {
      const before = index.size;
      try {
        const own = single();
        // Before the other one has begun, for its items are copied in several turns: it has not waited for any of them.
        expect(index.size - before).toBeLessThanOrEqual(own);
      } catch (error) {
        expect(error).toMatchObject(refusal);
        refused += 1;
      }
      await turn();
    }
    expect(refused).toBeGreaterThan(0);
    await pending;
    expect(index.size).toBeGreaterThanOrEqual(texts.length);
    expect(single()).toBeGreaterThan(0);
  },
);

test('ids of a batch that nobody came between are consecutive', async () => {
  const index = bare();
  index.add(1n);
  const added = await index.addManyAsync(nearby(5));
  expect(added).toEqual({ first: 1, count: 5 });
  expect([...added.ids]).toEqual([1, 2, 3, 4, 5]);
  expect(index.addMany([]).ids.length).toBe(0);
});

test('a saved index is the index at the call of save, keys and texts', async () => {
  const index = new Index({ maxDistance: 3, keys: true, window: { maxAge: 1e9 } });
  const few = texts.slice(0, 3000);
  const keys = few.map((_, row) => `key ${row}`);
  index.addMany(few, { at: 1000, keys });
  const saved = index.save(at('index'));
  // In the same turn: an addition, a deletion, a renewal that takes others away, a key that is used again.
  index.add('后来的', { at: 2000, key: 'key 7' });
  index.delete(0);
  index.checkAndAdd(few[5] as string, { at: 3000, onDuplicate: 'touch' });
  index.expire(2500);
  expect(index.size).toBe(1);
  await saved;
  const opened = Index.openSync(at('index'), { method: 'simhash' });
  expect(opened.size).toBe(few.length);
  expect([opened.idOf('key 7'), opened.keyOf(0), opened.search('后来的')]).toEqual([
    7,
    'key 0',
    [],
  ]);
  expect(opened.add('再来', { at: 1000 })).toBe(few.length);
  expect([opened.expire(1000), opened.expire(1001)]).toEqual([0, few.length + 1]);
});

test('a saved index is the index at the call of save, signatures', async () => {
  const index = new Index({ ...bands, texts: false, window: { maxAge: 1e9 } });
  const few = texts.slice(0, 3000);
  index.addMany(few, { at: 1000 });
  const saved = index.save(at('minhash'));
  index.addMany(texts.slice(3000, 3500), { at: 2000 });
  index.delete(0);
  index.expire(1500);
  expect(index.size).toBe(500);
  await saved;
  const opened = Index.openSync(at('minhash'), { ...bands, texts: false });
  expect(opened.size).toBe(few.length);
  expect(opened.search(few[0] as string)[0]).toMatchObject({ id: 0, similarity: 1 });
  expect(opened.add('再来', { at: 1000 })).toBe(few.length);
  expect([opened.expire(1000), opened.expire(1001)]).toEqual([0, few.length + 1]);
});

test('documents added after pairs began are in no pair', async () => {
  const index = bare();
  for (const value of numbers.slice(0, 5000)) index.addMany([value, value ^ 1n]);
  const end = index.size;
  let late = 0;
  for await (const batch of index.pairs({ batch: 1 })) {
    if (index.size === end) {
      for (let id = 0; id < end; id += 2) index.delete(id);
      for (const value of numbers.slice(0, 5000)) index.add(value);
      index.add(1n);
    }
    for (const { b } of batch) late += Number(b >= end);
  }
  expect(late).toBe(0);
});
