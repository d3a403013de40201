/** Texts with too few features for a fingerprint are never near each other, however the public calls are put together. */
import vm from 'node:vm';
import { describe, expect, test } from 'vitest';
import { Fingerprinter, Fingerprints, Index, type Items, MinHasher } from '..';
import { bare, copy, near } from './indexes';

const by = new Fingerprinter();
const SHORT = ['好的', '收到', '谢谢', '再见', '', '嗯', 'ok', '！？'];
const LONG = Array.from({ length: 7 }, (_, row) =>
  `${'甲乙丙丁戊己庚'[row]}市图书馆新馆昨日起试运行，`.repeat(row + 3),
);
/** Short and long texts in turn. */
const MIXED = SHORT.flatMap((text, row) => [text, ...LONG.slice(row, row + 1)]);

/** Ways to put the same fingerprints into an index. */
const forms: Record<string, (found: Fingerprints) => Items<'simhash', false>> = {
  'the batch': (found) => found,
  'its values': (found) => found.values,
  'a view of its values': (found) => found.values.subarray(0),
  'a new view of its memory': (found) => new BigUint64Array(found.values.buffer),
  'a batch made again of copies': (found) =>
    new Fingerprints(found.values.slice(), found.valid.slice()),
  'the values of a batch made again': (found) =>
    new Fingerprints(found.values.slice(), found.valid.slice()).values,
  'values in a larger buffer': (found) => {
    const values = new BigUint64Array(found.length + 3).subarray(2, 2 + found.length);
    values.set(found.values);
    return new Fingerprints(values, found.valid).values;
  },
};
type Made = [string, (texts: string[]) => Promise<Fingerprints>];
const made: Made[] = [
  ['fingerprintMany', async (texts) => by.fingerprintMany(texts)],
  ['fingerprintManyAsync', (texts) => by.fingerprintManyAsync(texts)],
];
const all = made.flatMap(([how, make]) =>
  Object.entries(forms).map(([what, form]) => ({ how, what, make, form })),
);

describe.each(all)('$how, then $what', ({ make, form }) => {
  test('keeps short texts apart, and finds the others as texts do', async () => {
    const items = form(await make(MIXED));
    const expected = MIXED.map((text) => by.fingerprint(text));
    const one = bare();
    const checked = [...one.checkAndAddMany(items)];
    // Every row gets an id of its own: the long texts differ, and the short ones match nothing.
    expect(checked.map(({ id }) => id)).toEqual(MIXED.map((_, id) => id));
    expect([...(await bare().checkAndAddManyAsync(items))]).toEqual(checked);
    for (const index of [one, bare(), bare({ keys: true })]) {
      if (index !== one) expect(index.addMany(items)).toEqual({ first: 0, count: MIXED.length });
      const found = [...index.searchMany(items, { maxDistance: 16 })];
      expect([...(await index.searchManyAsync(items, { maxDistance: 16 }))]).toEqual(found);
      for (const [row, matches] of found.entries()) {
        if (expected[row] === undefined) expect(matches).toEqual([]);
        else expect(matches.map(({ id }) => id)).toContain(row);
      }
      // Nothing finds them: neither an equal text nor the number that stands in their place.
      expect(index.search('好的')).toEqual([]);
      expect(index.search(0n)).toEqual([]);
      for (const row of expected.keys()) expect(index.has(row)).toBe(true);
    }
    const later = bare();
    expect(await later.addManyAsync(items)).toEqual({ first: 0, count: MIXED.length });
    // Once more: what has a fingerprint is a copy, what has none is not.
    const again = [...later.checkAndAddMany(items)];
    for (const [row, { id, duplicateOf }] of again.entries()) {
      expect([id, duplicateOf]).toEqual(
        expected[row] === undefined ? [expect.any(Number), undefined] : [undefined, row],
      );
    }
  });
});

test('any part of the values is known by its place', () => {
  const texts = Array.from({ length: 300 }, (_, row) => MIXED[(row * 7) % MIXED.length] ?? '');
  const { values } = by.fingerprintMany(texts);
  for (const [from, to] of [
    [1, 300],
    [7, 9],
    [8, 300],
    [13, 77],
    [299, 300],
    [5, 5],
  ]) {
    const index = bare();
    index.addMany(values.subarray(from, to));
    const expected = texts.slice(from, to).filter((text) => by.fingerprint(text) === undefined);
    const rows = [...index.searchMany(values.subarray(from, to))];
    expect(rows.filter((matches) => matches.length === 0).length).toBe(expected.length);
  }
});

test('a column of many slices is what it was when the call was made', async () => {
  const rows = 200_003;
  const values = BigUint64Array.from({ length: rows }, (_, row) =>
    row % 3 === 0 ? 0n : BigInt(row) * 0x9e3779b97f4a7c15n,
  );
  const valid = new Uint8Array(Math.ceil(rows / 8));
  for (let row = 0; row < rows; row++) if (row % 3 > 0) valid[row >> 3] |= 1 << (row & 7);
  const batch = new Fingerprints(values, valid);
  const [one, other] = [bare(), bare()];
  one.addMany(batch);
  const adding = other.addManyAsync(batch);
  const expected = [...one.searchMany(values.subarray(190_000))];
  values.fill(1n);
  valid.fill(255);
  expect(await adding).toEqual({ first: 0, count: rows });
  expect(other.search(1n)).toEqual([]);
  const same = BigUint64Array.from({ length: rows - 190_000 }, (_, at) =>
    (190_000 + at) % 3 === 0 ? 7n : BigInt(190_000 + at) * 0x9e3779b97f4a7c15n,
  );
  const found = [...other.searchMany(same)];
  for (const [at, matches] of found.entries()) {
    if ((190_000 + at) % 3 > 0) expect(matches).toEqual(expected[at]);
  }
  // Raw numbers in slices too, zeros and all.
  const raw = new BigUint64Array(rows);
  const counted = bare();
  await counted.addManyAsync(raw);
  expect(counted.search(0n, { limit: 1 }).truncated).toBe(true);
});

test('rows that were written to count, and so do zeros of the caller', () => {
  const { values, valid } = by.fingerprintMany(['好的', '收到']);
  values[1] = 5n;
  const index = bare();
  index.addMany(values);
  expect(index.search(5n)).toEqual([near(1, 0)]);
  expect(valid[0]).toBe(0);
  const own = bare();
  expect([...own.checkAndAddMany(BigUint64Array.of(0n, 0n))]).toEqual([{ id: 0 }, copy(0, 0)]);
  expect([...own.checkAndAddMany([0n])]).toEqual([copy(0, 0)]);
});

test('what has no fingerprint has none to add: rows one by one, and spread', () => {
  const found = by.fingerprintMany(MIXED);
  const index = bare();
  const code = (call: () => unknown) => {
    try {
      return call();
    } catch (error) {
      return (error as { code: string }).code;
    }
  };
  for (const [row, value] of [...found].entries()) {
    expect(value).toBe(found.get(row));
    const outcome = code(() => index.checkAndAdd(value as bigint));
    if (value === undefined) expect(outcome).toBe('ERR_INVALID_ARG_TYPE');
    else expect(outcome).toHaveProperty('id');
  }
  expect(code(() => index.addMany([...found] as bigint[]))).toBe('ERR_INVALID_ARG_TYPE');
});

test('empty signatures match nothing', () => {
  const index = new Index({ texts: false });
  const signatures = new MinHasher().signatureMany(['', ' ', '']);
  expect([...index.checkAndAddMany([...signatures])].map(({ id }) => id)).toEqual([0, 1, 2]);
  expect([...index.searchMany([...signatures])]).toEqual([[], [], []]);
});

test('a batch is made of columns that fit, or not at all', () => {
  const make = (values: unknown, valid: unknown) => () =>
    new Fingerprints(values as BigUint64Array, valid as Uint8Array);
  expect(make([1n], new Uint8Array(1))).toThrow('values must be a BigUint64Array, got an array');
  expect(make(new BigUint64Array(9), new Uint8Array(1))).toThrow(RangeError);
  expect(make(new BigUint64Array(1), [1])).toThrow('valid must be a Uint8Array, got an array');
});

test('typed arrays of another realm are typed arrays', async () => {
  const { numbers, bytes, signature, times, date } = vm.runInNewContext(`({
    numbers: BigUint64Array.of(1n, 2n, 1n << 60n),
    bytes: Uint8Array.of(0x78, 0x79),
    signature: new Uint32Array(128).fill(7),
    times: Float64Array.of(1, 2, 3),
    date: new Date(5),
  })`);
  const index = bare({ maxDistance: 0, window: {} });
  expect(index.addMany(numbers, { at: times })).toEqual({ first: 0, count: 3 });
  expect(index.search(2n)).toEqual([near(1, 0)]);
  expect(index.add(bytes, { at: date })).toBe(3);
  expect(index.search('xy').map(({ id }) => id)).toEqual([3]);
  expect(index.expire(date)).toBe(3);
  expect((await index.searchManyAsync(numbers)).length).toBe(3);
  expect(new Fingerprints(numbers, bytes).get(0)).toBe(undefined);
  const hasher = new MinHasher();
  expect(hasher.estimate(signature, signature).similarity).toBe(1);
  expect(new Index({ texts: false }).addMany([signature])).toEqual({ first: 0, count: 1 });
});
