import { expect, test } from 'vitest';
import { type Checked, Index, MinHashIndex, SentenceIndex } from '..';
import { distance, nearby } from './fingerprints';

const near = nearby(3000);

test('a batch of checkAndAdd decides as one by one, synchronous and not', async () => {
  const index = new Index();
  const single: Checked[] = near.map((item) => index.checkAndAdd(item));
  expect(single.some(({ duplicateOf }) => duplicateOf !== undefined)).toBe(true);
  expect([...new Index({ threads: 1 }).checkAndAddMany(near)]).toEqual(single);
  expect([...(await new Index().checkAndAddManyAsync(BigUint64Array.from(near)))]).toEqual(single);
});

test('search finds what comparing with everything finds', async () => {
  const index = new Index({ maxDistance: 3 });
  expect(index.addMany(near)).toEqual({ first: 0, count: near.length });
  const queries = near.slice(0, 50);
  const found = await index.searchManyAsync(queries);
  for (const [row, query] of queries.entries()) {
    const oracle = near
      .map((value, id) => ({ id, distance: distance(value, query) }))
      .filter(({ distance }) => distance <= 3)
      .sort((a, b) => a.distance - b.distance || a.id - b.id);
    expect(found.get(row)).toEqual(oracle);
    expect(index.search(query)).toEqual(oracle);
  }
});

test('a limit cuts and says so', () => {
  const index = new Index();
  index.addMany([1n, 1n, 1n]);
  const found = index.searchMany([1n, 2n ** 63n - 1n], { limit: 2 });
  expect(found.get(0)).toEqual([
    { id: 0, distance: 0 },
    { id: 1, distance: 0 },
  ]);
  expect([found.isTruncated(0), found.isTruncated(1)]).toEqual([true, false]);
  expect(index.search(1n, { limit: 2 })).toEqual(found.get(0));
  expect(index.search(1n, { limit: 2 }).truncated).toBe(true);
  for (const whole of [index.search(1n, { limit: 3 }), index.search(1n), found.get(1)])
    expect('truncated' in whole).toBe(false);
  const [batch, text] = [[...found], '一段足够长的文本，三次加入同一个索引'];
  expect(batch.map((row) => row.truncated)).toEqual([true, undefined]);
  for (const other of [new MinHashIndex(), new SentenceIndex()]) {
    other.addMany([text, text, text]);
    expect(other.search(text, { limit: 2 }).truncated).toBe(true);
    expect(other.search(text, { limit: 3 }).truncated).toBe(undefined);
  }
});

test('delete hides, ids are not reused, empty texts match nothing', () => {
  const index = new Index();
  expect([index.add(7n), index.add('短'), index.add('')]).toEqual([0, 1, 2]);
  expect(index.checkAndAdd(' 短 ')).toEqual({ duplicateOf: 1, distance: 0 });
  expect(index.checkAndAdd('')).toEqual({ id: 3 });
  expect([index.delete(0), index.delete(0), index.has(0), index.size]).toEqual([
    true,
    false,
    false,
    3,
  ]);
  expect(index.checkAndAdd(7n)).toEqual({ id: 4 });
});
