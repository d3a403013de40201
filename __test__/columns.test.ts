import { expect, test } from 'vitest';
import { Fingerprinter } from '..';
import { bare, near } from './indexes';

/** Rows of a batch: some have no fingerprint, some have matches. */
const texts = Array.from({ length: 1_000 }, (_, row) =>
  row % 7 === 0
    ? '短'
    : `第${row}号文件：${'甲乙丙丁戊己庚辛壬癸'.slice(row % 10)}${row * 7919}公里`,
);

/** A typed array of the engine: exactly its elements, in a buffer of its own. */
function whole(column: ArrayBufferView & { readonly length: number }, size: number) {
  expect(column.byteOffset).toBe(0);
  expect(column.byteLength).toBe(column.length * size);
  expect(column.buffer.byteLength).toBe(column.byteLength);
}

test('BigUint64Array and bitmap: the fingerprints of a batch are those of its texts', () => {
  const by = new Fingerprinter({ minFeatures: 4 });
  const batch = by.fingerprintMany(texts);
  expect(batch.values).toBeInstanceOf(BigUint64Array);
  expect(batch.valid).toBeInstanceOf(Uint8Array);
  whole(batch.values, 8);
  expect(batch.valid.length).toBe(Math.ceil(texts.length / 8));
  const single = texts.map((text) => by.fingerprint(text));
  expect([...batch]).toEqual(single);
  expect(single.some((value) => value === undefined)).toBe(true);
  // All four 16-bit parts of an element carry bits: none is cut.
  const parts = new Uint16Array(batch.values.buffer);
  for (const part of [0, 1, 2, 3]) {
    expect(parts.filter((_, at) => at % 4 === part).some((value) => value > 255)).toBe(true);
  }
});

test('Uint32Array, Float64Array and Uint8Array: the matches of a batch are those of its items', () => {
  const index = bare({ maxDistance: 16 });
  const items = Array.from({ length: 600 }, (_, row) => (1n << BigInt(row % 64)) - 1n);
  index.addMany(items);
  const found = index.searchMany(items.slice(0, 64));
  expect(found.offsets).toBeInstanceOf(Uint32Array);
  expect(found.ids).toBeInstanceOf(Float64Array);
  expect(found.measures).toBeInstanceOf(Uint32Array);
  expect(found.verified).toBeInstanceOf(Uint8Array);
  expect(found.similarities).toEqual(new Float64Array(found.ids.length).fill(Number.NaN));
  whole(found.offsets, 4);
  whole(found.ids, 8);
  whole(found.measures, 4);
  whole(found.verified, 1);
  const single = items.slice(0, 64).map((item) => index.search(item));
  expect([...found]).toEqual(single);
  expect(found.offsets[64]).toBe(single.flat().length);
  // More matches than a byte counts, ids beyond a byte, every distance.
  expect(single.flat().length).toBeGreaterThan(2 ** 13);
  expect(Math.max(...found.ids)).toBe(599);
  expect(new Set(found.measures)).toEqual(new Set(Array.from({ length: 17 }, (_, bits) => bits)));
});

test('the outcomes of checkAndAddMany are those of one by one', () => {
  const items = Array.from({ length: 300 }, (_, row) => BigInt(row) << 8n);
  const [batch, single] = [bare(), bare()];
  const checked = batch.checkAndAddMany(items);
  whole(checked.ids, 8);
  whole(checked.measures, 4);
  whole(checked.truncated, 1);
  whole(checked.duplicateOf, 8);
  expect([...checked]).toEqual(items.map((item) => single.checkAndAdd(item)));
});

test('no rows are empty columns', () => {
  const { values, valid } = new Fingerprinter().fingerprintMany([]);
  expect([values, valid]).toEqual([new BigUint64Array(), new Uint8Array()]);
  const { offsets, ids, measures } = bare().searchMany([]);
  expect([offsets, ids, measures]).toEqual([
    new Uint32Array(1),
    new Float64Array(),
    new Uint32Array(),
  ]);
  expect([...bare().checkAndAddMany([])]).toEqual([]);
});

test('a BigUint64Array is read as the array of its numbers, from wherever it begins', () => {
  const numbers = [0n, 1n, 2n ** 63n, 2n ** 64n - 1n];
  const padded = BigUint64Array.from([9n, ...numbers, 9n]).subarray(1, 5);
  const [a, b] = [bare(), bare()];
  a.addMany(padded);
  b.addMany(numbers);
  for (const item of numbers) expect(a.search(item)).toEqual(b.search(item));
  expect(a.search(2n ** 64n - 1n)).toEqual([near(3, 0)]);
});
