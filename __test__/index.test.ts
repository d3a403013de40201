import { expect, test } from 'vitest';
import { type Checked, Index } from '..';

/** Numbers that look random and are the same in every run (xorshift64). */
function* random(): Generator<bigint> {
  let state = 88172645463325252n;
  for (;;) {
    state = BigInt.asUintN(64, state ^ (state << 13n));
    state ^= state >> 7n;
    state = BigInt.asUintN(64, state ^ (state << 17n));
    yield state;
  }
}

const source = random();
const next = () => source.next().value as bigint;
/** Fingerprints of which about half are near an earlier one. */
const near: bigint[] = [];
for (let row = 0; row < 3000; row++) {
  const base = near[Number(next() % BigInt(near.length + 1))];
  near.push(
    base !== undefined && row % 2 === 1
      ? base ^ (1n << (next() % 64n)) ^ (1n << (next() % 64n))
      : next(),
  );
}

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
  const bits = (value: bigint) => value.toString(2).replaceAll('0', '').length;
  const queries = near.slice(0, 50);
  const found = await index.searchManyAsync(queries);
  for (const [row, query] of queries.entries()) {
    const oracle = near
      .map((value, id) => ({ id, distance: bits(value ^ query) }))
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
