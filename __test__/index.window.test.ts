import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Checked, Index, type Window } from '..';
import { distance, nearby } from './fingerprints';
import { BARE, bare, copy, METHODS, of } from './indexes';

type OnDuplicate = 'skip' | 'add' | 'touch';

/** The rules of the window, written down without any index. */
class Model {
  readonly live: { id: number; at: number; item: bigint }[] = [];
  readonly #window: Window;
  #next = 0;
  #latest = 0;

  constructor(window: Window) {
    this.#window = window;
  }

  checkAndAdd(item: bigint, at: number, onDuplicate: OnDuplicate): Checked<'simhash'> {
    this.#latest = Math.max(this.#latest, at);
    this.expire(this.#latest - (this.#window.maxAge ?? Number.POSITIVE_INFINITY));
    const near = this.live
      .map(({ id, item: other }) => ({ id, distance: distance(item, other) }))
      .filter(({ distance }) => distance <= 3)
      .sort((a, b) => a.distance - b.distance || a.id - b.id)[0];
    if (near !== undefined && onDuplicate === 'touch') {
      const [touched] = this.live.splice(
        this.live.findIndex(({ id }) => id === near.id),
        1,
      );
      if (touched !== undefined) this.live.push({ ...touched, at: this.#latest });
    }
    const match = near && { ...copy(near.id, near.distance), verified: false as const };
    if (near !== undefined && onDuplicate !== 'add') return { ...match };
    while (this.live.length + 1 > (this.#window.maxCount ?? Number.POSITIVE_INFINITY)) {
      this.live.shift();
    }
    this.live.push({ id: this.#next, at: this.#latest, item });
    return { id: this.#next++, ...match };
  }

  expire(before: number): number {
    const gone = this.live.filter(({ at }) => at < before).length;
    this.live.splice(0, gone);
    return gone;
  }
}

const items = nearby(1200);
/** Times that mostly grow, sometimes jump back a little. */
const times = items.map((_, row) => 1_000_000 + row * 10 - (row % 7 === 0 ? 35 : 0));
const windows: Window[] = [
  { maxAge: 1500 },
  { maxCount: 100 },
  { maxAge: 2000, maxCount: 120 },
  {},
];

test.each(
  windows.flatMap((window) =>
    (['skip', 'add', 'touch'] as const).map((onDuplicate) => ({ window, onDuplicate })),
  ),
)('$window, $onDuplicate: one by one and in batches as the model says', async (given) => {
  const { window, onDuplicate } = given;
  const model = new Model(window);
  const expected = items.map((item, row) => model.checkAndAdd(item, times[row] ?? 0, onDuplicate));
  expect(expected.some(({ duplicateOf }) => duplicateOf !== undefined)).toBe(true);

  const single = bare({ window });
  const one = items.map((item, row) =>
    single.checkAndAdd(item, { at: new Date(times[row] ?? 0), onDuplicate }),
  );
  expect(one).toEqual(expected);

  const batch = bare({ window });
  expect([...batch.checkAndAddMany(items, { at: times, onDuplicate })]).toEqual(expected);
  const later = bare({ window });
  const halves: Checked<'simhash'>[] = [];
  for (const from of [0, 600]) {
    const at = Float64Array.from(times.slice(from, from + 600));
    const half = items.slice(from, from + 600);
    halves.push(...(await later.checkAndAddManyAsync(half, { at, onDuplicate })));
  }
  expect(halves).toEqual(expected);

  const live = new Set(model.live.map(({ id }) => id));
  for (const index of [single, batch, later]) {
    expect(index.size).toBe(live.size);
    for (const [id] of items.entries()) expect(index.has(id)).toBe(live.has(id));
  }
  const before = 1_000_000 + 11_000;
  expect(single.expire(before)).toBe(model.expire(before));
  expect(single.size).toBe(model.live.length);
});

test('nothing older than the limit is matched, nothing younger is lost', () => {
  const index = bare({ window: { maxAge: 1000 } });
  expect(index.add(7n, { at: 5000 })).toBe(0);
  expect(index.checkAndAdd(7n, { at: 6000 })).toEqual(copy(0, 0));
  expect(index.checkAndAdd(7n, { at: 6001 })).toEqual({ id: 1 });
  expect(index.has(0)).toBe(false);
});

test('touch renews, skip does not', () => {
  for (const [onDuplicate, last] of [
    ['touch', copy(0, 0)],
    ['skip', { id: 1 }],
  ] as const) {
    const index = bare({ window: { maxAge: 1000 } });
    index.add(7n, { at: 1000 });
    index.checkAndAdd(7n, { at: 1900, onDuplicate });
    expect(index.checkAndAdd(7n, { at: 2500, onDuplicate })).toEqual(last);
  }
});

test('add keeps both, with the match', () => {
  const index = bare();
  index.add(7n);
  const both = { id: 1, ...copy(0, 1) };
  expect(index.checkAndAdd(6n, { onDuplicate: 'add' })).toEqual(both);
  const [batch] = index.checkAndAddMany([5n], { onDuplicate: 'add' });
  expect(batch).toEqual({ id: 2, ...copy(0, 1) });
});

test('addMany takes one time for all, one for each, or the clock', async () => {
  const index = bare({ window: {} });
  expect(index.addMany([1n, 2n], { at: 1000 })).toEqual({ first: 0, count: 2 });
  expect(await index.addManyAsync([3n, 4n], { at: [2000, new Date(3000)] })).toEqual({
    first: 2,
    count: 2,
  });
  expect(index.addMany([], { at: 4000 })).toEqual({ first: 4, count: 0 });
  expect(index.expire(2001)).toBe(3);
  expect([...index.checkAndAddMany([9n])]).toEqual([copy(3, 3)]);
  const now = bare({ window: { maxAge: 3_600_000 } });
  now.addMany([1n, 2n]);
  expect([now.expire(Date.now() - 60_000), now.expire(Date.now() + 60_000)]).toEqual([0, 2]);
});

test('memory of a window is flat', async () => {
  const index = bare({ window: { maxCount: 2000 } });
  const sizes: number[] = [];
  const source = nearby(10_000);
  for (let round = 0; round < 40; round++) {
    const mask = BigInt(round) << 58n;
    index.addMany(BigUint64Array.from(source, (item) => item ^ mask));
    // Merges run beside the calls: what they have left to do is not the window's size.
    await index.compact();
    const { tableBytes, idBytes, windowBytes } = index.stats();
    sizes.push(tableBytes + idBytes + windowBytes);
  }
  expect(index.size).toBe(2000);
  expect(index.stats().windowBytes).toBeGreaterThan(0);
  expect(Math.max(...sizes.slice(20))).toBeLessThan(2 * Math.max(...sizes.slice(0, 20)));
});

test.each(METHODS)('an empty batch changes nothing: %s', async (method) => {
  const index = of(method, { window: { maxAge: 100 } });
  index.add('一个文本', { at: 1000 });
  for (const at of [undefined, 5000, []]) {
    expect(index.addMany([], { at })).toEqual({ first: 1, count: 0 });
    expect(await index.addManyAsync([], { at })).toEqual({ first: 1, count: 0 });
    expect(index.checkAndAddMany([], { at }).length).toBe(0);
    expect((await index.checkAndAddManyAsync([], { at })).length).toBe(0);
  }
  index.add('另一个', { at: 1100 });
  expect(index.size).toBe(2);
  const groups = new Index({ groups: true, window: { maxAge: 100 } });
  groups.similarId('一个文本', { at: 1000 });
  expect(groups.similarIdMany([], { at: 5000 }).length).toBe(0);
  expect(groups.similarId('一个文本', { at: 1100 })).toBe(0);
  const bits = bare({ window: { maxAge: 100 } });
  bits.add(1n, { at: 1000 });
  bits.addMany(new BigUint64Array(0), { at: 5000 });
  bits.add(1n, { at: 1100 });
  expect(bits.size).toBe(2);
});

test.each(METHODS)('a time far ahead of the clock is refused: %s', async (method) => {
  const make = (window: Window) => of(method, { window });
  const index = make({ maxAge: 3_600_000 });
  const now = Date.now();
  index.add('一个文本', { at: now });
  const far = now + 1e12;
  const refused = expect.objectContaining({
    name: 'RangeError',
    code: 'ERR_OUT_OF_RANGE',
    message: expect.stringMatching(`${far}.*window\\.maxSkew.*maxSkew: Infinity`),
  });
  expect(() => index.add('另一个', { at: far })).toThrowError(refused);
  expect(() => index.checkAndAdd('一个文本', { at: far, onDuplicate: 'touch' })).toThrowError(
    refused,
  );
  for (const at of [far, [now, far]]) {
    const batch = ['另一个', '又一个'];
    expect(() => index.addMany(batch, { at })).toThrowError(refused);
    expect(() => index.checkAndAddMany(batch, { at })).toThrowError(refused);
    await expect(index.addManyAsync(batch, { at })).rejects.toThrowError(refused);
    await expect(index.checkAndAddManyAsync(batch, { at })).rejects.toThrowError(refused);
  }
  // Neither added nor moved in time.
  index.add('另一个', { at: now + 3_600_000 });
  expect(index.size).toBe(2);
  index.add('明天', { at: now + 80_000_000 });
  expect(index.size).toBe(1);
  const free = make({ maxAge: 1000, maxSkew: Number.POSITIVE_INFINITY });
  free.add('一个文本', { at: 2 ** 53 - 1 });
  expect(free.size).toBe(1);
  expect(() => make({ maxSkew: 0 }).add('一', { at: now + 60_000 })).toThrowError(
    /window\.maxSkew is 0 ms/,
  );
  for (const maxSkew of [-1, 1.5, Number.NaN, Number.NEGATIVE_INFINITY]) {
    expect(() => make({ maxSkew })).toThrowError(/window\.maxSkew/);
  }
});

test('the skew belongs to an open index: any may be given for a file', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'simhash-skew-')), 'index');
  const index = bare({ window: { maxAge: 1000, maxSkew: 5 } });
  index.add(1n, { at: 1000 });
  await index.save(path);
  const far = Date.now() + 1e12;
  expect(() => Index.openSync(path, BARE).add(2n, { at: far })).toThrowError(
    /window\.maxSkew is 86400000 ms/,
  );
  for (const window of [{ maxSkew: Infinity }, { maxAge: 1000, maxSkew: Infinity }]) {
    const opened = await Index.open(path, { ...BARE, window });
    opened.add(2n, { at: far });
    expect(opened.size).toBe(1);
  }
  expect(() =>
    Index.openSync(path, { ...BARE, window: { maxAge: 2000, maxSkew: 5 } }),
  ).toThrowError(/window/);
});

test('times and windows that make no sense are refused', async () => {
  const index = bare({ window: {} });
  const range = { name: 'RangeError', code: 'ERR_OUT_OF_RANGE' };
  const type = { name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' };
  const thrown = (call: () => unknown) => {
    try {
      call();
    } catch (error) {
      return error;
    }
  };
  for (const at of [-1, 1.5, Number.NaN, 2 ** 53, new Date(Number.NaN)]) {
    expect(thrown(() => index.add(1n, { at }))).toMatchObject(range);
    expect(thrown(() => index.expire(at))).toMatchObject(range);
    expect(thrown(() => index.addMany([1n], { at: [at] }))).toMatchObject(range);
  }
  expect(thrown(() => index.addMany([1n, 2n, 3n], { at: [1, 2] }))).toMatchObject(range);
  expect(thrown(() => index.addMany([1n], { at: [] }))).toMatchObject(range);
  // A list has one for each, also where it has one: that one is not everybody's.
  for (const at of [[1], [new Date(1)], Float64Array.of(1)]) {
    for (const items of [[1n, 2n, 3n], BigUint64Array.of(1n, 2n), []] as bigint[][]) {
      const told = { ...range, message: expect.stringMatching(/^at must be one time, or one for/) };
      expect(thrown(() => index.addMany(items, { at }))).toMatchObject(told);
      expect(thrown(() => index.checkAndAddMany(items, { at }))).toMatchObject(told);
      await expect(index.addManyAsync(items, { at })).rejects.toMatchObject(told);
      await expect(index.checkAndAddManyAsync(items, { at })).rejects.toMatchObject(told);
    }
    const groups = new Index({
      method: 'sentences',
      texts: false,
      verify: false,
      groups: true,
      window: {},
    });
    expect(thrown(() => groups.similarIdMany(['x', 'y'], { at }))).toMatchObject(range);
    await expect(groups.similarIdManyAsync(['x', 'y'], { at })).rejects.toMatchObject(range);
    expect(groups.similarIdMany(['x'], { at }).length).toBe(1);
  }
  expect(index.size).toBe(0);
  expect(bare({ window: {} }).addMany([1n], { at: [1] }).count).toBe(1);
  expect(thrown(() => index.add(1n, { at: '2020' as never }))).toMatchObject(type);
  expect(thrown(() => index.checkAndAdd(1n, { onDuplicate: 'keep' as never }))).toMatchObject({
    name: 'TypeError',
    code: 'ERR_INVALID_ARG_VALUE',
  });
  expect(index.size).toBe(0);
  for (const window of [{ maxAge: 0 }, { maxCount: 0 }, { maxCount: 2 ** 32 }]) {
    expect(thrown(() => bare({ window }))).toMatchObject(range);
  }
  expect(thrown(() => bare({ window: { age: 1 } as never }))).toMatchObject(type);
  expect(thrown(() => bare().expire(1))).toMatchObject({ code: 'ERR_SIMHASH_NO_WINDOW' });
});
