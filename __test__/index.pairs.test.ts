import { expect, test } from 'vitest';
import type { Index, Pair } from '..';
import { distance, nearby } from './fingerprints';
import { bare } from './indexes';

const items = nearby(1500);
type Bits = Index<'simhash', false>;
const pairsOf = async (index: Bits, options?: Parameters<Bits['pairs']>[0]) => {
  const found: Pair<'simhash'>[] = [];
  for await (const batch of index.pairs(options)) found.push(...batch);
  return found.sort((a, b) => a.a - b.a || a.b - b.b);
};

/** Every pair, by comparing everything; of equal fingerprints only the first has pairs with others. */
function oracle(limit: number): Pair<'simhash'>[] {
  const found: Pair<'simhash'>[] = [];
  const isFirst = (id: number) => items.indexOf(items[id] ?? 0n) === id;
  for (const [a, one] of items.entries()) {
    if (!isFirst(a)) continue;
    for (let b = a + 1; b < items.length; b++) {
      const apart = distance(one, items[b] ?? 0n);
      if (apart === 0 || (apart <= limit && isFirst(b)))
        found.push({ a, b, verified: false, distance: apart });
    }
  }
  return found;
}

test.each([0, 2, 3, 5])('pairs within %i: all of them, each once', async (maxDistance) => {
  const index = bare();
  index.addMany(items);
  const expected = oracle(maxDistance);
  expect(expected.some(({ distance }) => distance === 0)).toBe(true);
  expect(await pairsOf(index, { maxDistance })).toEqual(expected);
  if (maxDistance === 3) expect(await pairsOf(index)).toEqual(expected);
});

test.each([2, 3])('clusters within %i are the components of the pairs', async (maxDistance) => {
  const index = bare({ maxDistance });
  index.addMany(items);
  const root = items.map((_, id) => id);
  const find = (id: number): number => {
    const above = root[id] ?? id;
    return above === id ? id : find(above);
  };
  for (const { a, b } of oracle(maxDistance)) {
    const [low, high] = [find(a), find(b)].sort((a, b) => a - b);
    root[high ?? 0] = low ?? 0;
  }
  const members = new Map<number, number[]>();
  for (const [id] of items.entries()) {
    const at = find(id);
    members.set(at, [...(members.get(at) ?? []), id]);
  }
  const expected = [...members]
    .filter(([, ids]) => ids.length > 1)
    .map(([representative, ids]) => ({ representative, members: ids }));
  const shares: number[] = [];
  const clusters = await index.clusters({ onProgress: (done) => shares.push(done) });
  expect([...clusters]).toEqual(expected);
  expect([clusters.length, clusters.get(clusters.length)]).toEqual([expected.length, undefined]);
  expect(shares.every((done) => done >= 0 && done <= 1)).toBe(true);
});

test('copies make one pair each, never all with all', async () => {
  const index = bare();
  index.addMany(Array.from({ length: 1000 }, () => 7n));
  index.addMany(['短', '短', '', '']);
  const found = await pairsOf(index);
  expect(found.length).toBe(999 + 1);
  expect(found.every(({ distance }) => distance === 0)).toBe(true);
  const clusters = [...(await index.clusters())];
  expect(clusters.map(({ members }) => members.length)).toEqual([1000, 2]);
});

test('a batch has as many rows as were asked for, the last the rest', async () => {
  const index = bare();
  index.addMany(items);
  const expected = oracle(3);
  const lengths: number[] = [];
  const rows: Pair<'simhash'>[] = [];
  let last = 0;
  for await (const batch of index.pairs({ batch: 100 })) {
    lengths.push(batch.length);
    rows.push(...batch);
    const [a, b, distance] = [batch.a[0], batch.b[0], batch.measures[0]];
    expect(batch.get(0)).toEqual({ a, b, verified: false, distance });
    expect([batch.get(-1), batch.get(batch.length)]).toEqual([undefined, undefined]);
    expect(batch.progress).toBeGreaterThanOrEqual(last);
    last = batch.progress;
  }
  expect(last).toBe(1);
  expect(lengths.slice(0, -1).every((length) => length === 100)).toBe(true);
  expect(rows.length).toBe(expected.length);
});

test('leaving the loop ends it, and the index goes on', async () => {
  const index = bare();
  index.addMany(items);
  const iterator = index.pairs({ batch: 1 });
  expect((await iterator.next()).value?.length).toBe(1);
  expect(await iterator.return()).toEqual({ done: true, value: undefined });
  expect(await iterator.next()).toEqual({ done: true, value: undefined });
  expect(index.add(1n)).toBe(items.length);
});

test('what is deleted meanwhile is left out, what is added meanwhile is not in', async () => {
  const index = bare();
  index.addMany([7n, 7n, 7n, 7n]);
  const iterator = index.pairs({ batch: 1 });
  await iterator.next();
  index.add(7n);
  const rest: Pair<'simhash'>[] = [];
  for await (const batch of iterator) rest.push(...batch);
  expect(rest.length).toBe(2);
  index.delete(0);
  expect(await pairsOf(index)).toEqual(
    [2, 3, 4].map((b) => ({ a: 1, b, verified: false, distance: 0 })),
  );
});

test('an aborted join rejects with the reason: before, during, and clusters too', async () => {
  const reason = new Error('enough');
  const index = bare();
  index.addMany(BigUint64Array.from({ length: 100_000 }, (_, row) => BigInt(row)));
  const signal = AbortSignal.abort(reason);
  await expect(index.pairs({ signal }).next()).rejects.toBe(reason);
  await expect(index.clusters({ signal })).rejects.toBe(reason);
  const controller = new AbortController();
  const during = index.pairs({ signal: controller.signal, batch: 2 ** 24, maxDistance: 8 });
  const next = during.next();
  controller.abort(reason);
  await expect(next).rejects.toBe(reason);
  expect(await during.next()).toEqual({ done: true, value: undefined });
  const other = new AbortController();
  const clusters = index.clusters({ signal: other.signal, maxDistance: 8 });
  other.abort(reason);
  await expect(clusters).rejects.toBe(reason);
});

test('a closed index ends its joins by name', async () => {
  const index = bare();
  index.addMany(items);
  const iterator = index.pairs({ batch: 1 });
  await iterator.next();
  index.close();
  await expect(iterator.next()).rejects.toMatchObject({ code: 'ERR_SIMHASH_CLOSED' });
  expect(() => index.pairs()).toThrowError(/closed/);
  await expect(index.clusters()).rejects.toMatchObject({ code: 'ERR_SIMHASH_CLOSED' });
});

test('an empty index has no pairs and no clusters', async () => {
  expect(await pairsOf(bare())).toEqual([]);
  expect([...(await bare().clusters())]).toEqual([]);
});

test('a callback of clusters that throws ends the job with its error, and never the process', async () => {
  const index = bare({ maxDistance: 8 });
  index.addMany(
    BigUint64Array.from(
      { length: 200_000 },
      (_, row) => (BigInt(row) * 0x9e3779b97f4a7c15n) & 0xffffffffffffffffn,
    ),
  );
  const error = new Error('enough');
  const uncaught: unknown[] = [];
  const keep = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  process.on('uncaughtException', (thrown) => uncaught.push(thrown));
  let calls = 0;
  try {
    const onProgress = () => {
      calls++;
      throw error;
    };
    await expect(index.clusters({ onProgress })).rejects.toBe(error);
    expect({ calls, uncaught }).toEqual({ calls: 1, uncaught: [] });
  } finally {
    process.removeAllListeners('uncaughtException');
    for (const listener of keep) process.on('uncaughtException', listener);
  }
});
