import { expect, test } from 'vitest';
import { Fingerprinter, Index } from '..';

const by = new Fingerprinter({ minFeatures: 0 });
const TEXT = '中文与 English 混排，表情 😀 也在其中。';

test('a string and its bytes have the same fingerprint', () => {
  expect(by.fingerprint(Buffer.from(TEXT))).toBe(by.fingerprint(TEXT));
});

test('lone surrogates and invalid UTF-8 are U+FFFD', () => {
  expect(by.fingerprint('甲\ud800乙\udc00')).toBe(by.fingerprint('甲\ufffd乙\ufffd'));
  expect(by.fingerprint(new Uint8Array([0x61, 0xff, 0x62]))).toBe(by.fingerprint('a\ufffdb'));
});

test('no items, many items and a huge string', async () => {
  expect(by.fingerprintMany([]).length).toBe(0);
  const many = Array.from({ length: 5000 }, (_, row) => `${TEXT}${row}`);
  const batch = await by.fingerprintManyAsync(many);
  expect([...batch]).toEqual(many.map((text) => by.fingerprint(text)));
  const huge = 'ab'.repeat(5_000_000);
  expect(by.fingerprintMany([huge, TEXT]).get(1)).toBe(by.fingerprint(TEXT));
});

test('a Proxy of an array is read like an array, and what its getter throws passes through', () => {
  const proxy = new Proxy([TEXT, 'x'], {});
  expect([...by.fingerprintMany(proxy)]).toEqual([by.fingerprint(TEXT), by.fingerprint('x')]);
  const mine = new Error('mine');
  const throwing = new Proxy([TEXT], {
    get(target, key) {
      if (key === '0') throw mine;
      return Reflect.get(target, key);
    },
  });
  expect(() => by.fingerprintMany(throwing)).toThrow(mine);
  const boundless = new Proxy([], { get: () => 1e15 });
  expect(() => by.fingerprintMany(boundless)).toThrow(RangeError);
});

test('user code may close the index while it is read', () => {
  const index = new Index({ maxDistance: 3, texts: false });
  const items = Object.defineProperty([1n, 2n], 0, {
    get() {
      index.close();
      return 1n;
    },
  });
  expect(() => index.addMany(items)).toThrow('closed');
});

test.each([
  ['a hole', Object.assign([TEXT], { length: 3 }), 1],
  ['null', [null], 0],
  ['a number', [TEXT, 3], 1],
  ['a Uint16Array', [new Uint16Array(2)], 0],
  ['a symbol', [Symbol('x')], 0],
])('%s is refused with its index', (_name, texts, at) => {
  const message = `texts[${at}] must be`;
  expect(() => by.fingerprintMany(texts as never)).toThrow(message);
});

test('a detached buffer is refused, a shared one is copied', () => {
  const bytes = new Uint8Array(Buffer.from(TEXT));
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
  shared.set(bytes);
  expect(by.fingerprint(shared)).toBe(by.fingerprint(TEXT));
  structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
  expect(() => by.fingerprint(bytes)).toThrow('detached');
});

test('asynchronous calls copy their input before they return', async () => {
  const bytes = Buffer.from(TEXT);
  const expected = by.fingerprint(TEXT);
  const pending = by.fingerprintManyAsync([bytes]);
  bytes.fill(0);
  expect((await pending).get(0)).toBe(expected);
});

test('columns are memory of the engine: they can be transferred', () => {
  const { values } = by.fingerprintMany([TEXT]);
  const moved = structuredClone(values, { transfer: [values.buffer] });
  expect(moved[0]).toBe(by.fingerprint(TEXT));
  expect(values.length).toBe(0);
});
