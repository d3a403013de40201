/** Large batches are copied in slices; nobody can tell but the timers. */
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { Fingerprinter, Index, MinHasher } from '..';
import { bare } from './indexes';

const by = new Fingerprinter();
const texts = Array.from({ length: 20_000 }, (_, row) =>
  row % 7 === 0
    ? `短${row}`
    : `第${row}条：图书馆新馆昨日起试运行，藏书${row * 31}万册，设有阅览座位。`,
);

test('the fingerprints of many slices are those of one batch', async () => {
  const mixed = texts.map((text, row) => (row % 3 === 0 ? Buffer.from(text) : text));
  const [whole, sliced] = [by.fingerprintMany(mixed), await by.fingerprintManyAsync(mixed)];
  expect(sliced.values).toEqual(whole.values);
  expect(sliced.valid).toEqual(whole.valid);
});

test('few texts that are long make slices too', async () => {
  const long = texts.slice(0, 50).map((text) => text.repeat(3000));
  const found = await by.fingerprintManyAsync(long);
  expect([...found]).toEqual(long.map((text) => by.fingerprint(text)));
});

test('the array is taken when the call is made', async () => {
  const mine = [...texts];
  const pending = by.fingerprintManyAsync(mine);
  mine.fill('something else altogether', 0);
  mine.length = 3;
  expect((await pending).values).toEqual(by.fingerprintMany(texts).values);
});

test('an element that is refused is named by its place in the whole array', async () => {
  const wrong = Object.assign([...texts], { 9000: 3 }) as never;
  const message = 'texts[9000] must be a string or a Uint8Array, got number';
  await expect(by.fingerprintManyAsync(wrong)).rejects.toThrow(message);
  const index = new Index();
  await expect(index.addManyAsync(wrong)).rejects.toThrow('items[9000] must be');
  expect(index.size).toBe(0);
});

test('a batch of many slices is one step for an index', async () => {
  const [one, other] = [bare(), bare()];
  const whole = one.checkAndAddMany(texts);
  const sliced = await other.checkAndAddManyAsync(texts);
  expect([...sliced]).toEqual([...whole]);
  // What is added while the slices are gathered comes before or after the batch, never inside.
  const adding = other.addManyAsync(texts);
  await turn();
  const id = other.add(1n);
  const { first, count } = await adding;
  expect(count).toBe(texts.length);
  expect(id < first || id >= first + count).toBe(true);
});

test('an abort between slices leaves nothing behind', async () => {
  const index = new Index();
  const controller = new AbortController();
  const reason = Object.assign(new Error('enough'), { code: 'ERR_OUT_OF_RANGE' });
  const { signal } = controller;
  const adding = index.addManyAsync(texts, { signal });
  const fingerprinting = by.fingerprintManyAsync(texts, { signal });
  await turn();
  controller.abort(reason);
  await expect(adding).rejects.toBe(reason);
  await expect(fingerprinting).rejects.toBe(reason);
  expect(index.size).toBe(0);
});

async function expectNothingOfAborted(index: Index | Index<'sentences'>): Promise<void> {
  const controller = new AbortController();
  const adding = index.addManyAsync(texts, { signal: controller.signal });
  await turn();
  controller.abort(new Error('enough'));
  await expect(adding).rejects.toThrow('enough');
  expect(index.size).toBe(0);
}

test('MinHash takes many slices as one batch too', async () => {
  const hasher = new MinHasher();
  const signatures = hasher.signatureMany(texts);
  expect([...(await hasher.signatureManyAsync(texts))]).toEqual([...signatures]);
  const mixed = texts.map((text, row) => (row % 5 === 0 ? (signatures.get(row) ?? text) : text));
  const [one, other] = [new Index({ texts: false }), new Index({ texts: false })];
  expect([...(await other.checkAndAddManyAsync(mixed))]).toEqual([...one.checkAndAddMany(mixed)]);
  expect([...(await other.searchManyAsync(mixed))]).toEqual([...one.searchMany(mixed)]);
  expect(await other.addManyAsync(mixed)).toEqual(one.addMany(mixed));
});

test('MinHash names an element by its place, and an abort leaves nothing behind', async () => {
  const wrong = Object.assign([...texts], { 9000: 3 }) as never;
  const index = new Index();
  await expect(index.addManyAsync(wrong)).rejects.toThrow('items[9000] must be');
  await expectNothingOfAborted(index);
});

test('an index of sentences takes many slices as one batch too', async () => {
  const mixed = texts.map((text, row) => (row % 5 === 0 ? Buffer.from(text) : text));
  const [one, other] = [new Index({ groups: true }), new Index({ groups: true })];
  expect(await other.similarIdManyAsync(mixed)).toEqual(one.similarIdMany(mixed));
  expect([...(await other.checkAndAddManyAsync(mixed))]).toEqual([...one.checkAndAddMany(mixed)]);
  expect([...(await other.searchManyAsync(mixed))]).toEqual([...one.searchMany(mixed)]);
  expect(await other.addManyAsync(mixed)).toEqual(one.addMany(mixed));
});

test('it names an element by its place, and an abort leaves nothing behind', async () => {
  const wrong = Object.assign([...texts], { 9000: 3n }) as never;
  const index = new Index({ groups: true });
  const message = 'items[9000] must be a string or a Uint8Array';
  await expect(index.addManyAsync(wrong)).rejects.toThrow(message);
  await expect(index.checkAndAddManyAsync(wrong)).rejects.toThrow(message);
  await expect(index.searchManyAsync(wrong)).rejects.toThrow(message);
  await expect(index.similarIdManyAsync(wrong)).rejects.toThrow(
    'texts[9000] must be a string or a Uint8Array, got bigint',
  );
  await expectNothingOfAborted(index);
});

describe('an array that says it is long, and has little', () => {
  const index = new Index();
  const groups = new Index({ groups: true });
  const hasher = new MinHasher();
  const calls: Record<string, (array: never) => Promise<unknown>> = {
    addManyAsync: (array) => index.addManyAsync(array),
    searchManyAsync: (array) => index.searchManyAsync(array),
    checkAndAddManyAsync: (array) => index.checkAndAddManyAsync(array),
    fingerprintManyAsync: (array) => by.fingerprintManyAsync(array),
    signatureManyAsync: (array) => hasher.signatureManyAsync(array),
    similarIdManyAsync: (array) => groups.similarIdManyAsync(array),
  };

  /** `before` texts, and nothing behind them. */
  function hollow(before: number): string[] {
    const array = texts.slice(0, before);
    array.length = 2 ** 32 - 1;
    return array;
  }

  test.each(Object.entries(calls))(
    '%s names what is missing first, and what is wrong before',
    async (_name, call) => {
      for (const before of [0, 1, 5000]) {
        const message = new RegExp(`^(items|texts)\\[${before}\\] must be .*, got undefined$`);
        await expect(call(hollow(before) as never)).rejects.toThrow(message);
      }
      const wrong: unknown[] = hollow(5000);
      wrong[4500] = 5;
      await expect(call(wrong as never)).rejects.toThrow(/^(items|texts)\[4500\] .*, got number$/);
      expect(index.size + groups.size).toBe(0);
    },
  );

  test('nothing of it is read behind what is missing, and nothing twice', async () => {
    const read: number[] = [];
    const watched = new Proxy(hollow(5000), {
      get(target, key) {
        if (typeof key === 'string' && /^\d/.test(key)) read.push(Number(key));
        return Reflect.get(target, key);
      },
    });
    const expected = Array.from({ length: 5001 }, (_, at) => at);
    for (const call of [calls.addManyAsync, calls.fingerprintManyAsync]) {
      read.length = 0;
      await expect(call?.(watched as never)).rejects.toThrow('[5000] must be');
      expect(read).toEqual(expected);
    }
  });

  test('a length beyond 2^32 - 1 is refused', async () => {
    const endless = new Proxy(['x'], {
      get: (target, key) => (key === 'length' ? 2 ** 33 : Reflect.get(target, key)),
    });
    for (const call of Object.values(calls)) {
      await expect(call(endless as never)).rejects.toThrow('length must be from 0 to 2 ** 32 - 1');
    }
  });
});

test('one slice of 4,096 is copied before the call returns: its bytes may change then', async () => {
  const buffers = texts.slice(0, 4096).map((text) => Buffer.from(text));
  const expected = by.fingerprintMany(buffers);
  const hasher = new MinHasher({ hashes: 16 });
  const signatures = hasher.signatureMany(buffers);
  const pending = [by.fingerprintManyAsync(buffers), hasher.signatureManyAsync(buffers)] as const;
  for (const buffer of buffers) buffer.fill(0x41);
  expect([...(await pending[0])]).toEqual([...expected]);
  expect([...(await pending[1])]).toEqual([...signatures]);
});

test('no more than eight slices are on their way at a time', async () => {
  const { parts } = (await import('../dist/staging.js')) as typeof import('../ts/staging');
  const many = Array.from({ length: 4096 * 20 }, (_, row) => `${row}`);
  const waiting: (() => void)[] = [];
  let [started, most] = [0, 0];
  const cancel = { cancel: () => {} } as Parameters<typeof parts>[2];
  const running = parts(many, undefined, cancel, () => {
    started++;
    return new Promise<number>((done) => waiting.push(() => done(started)));
  });
  let ended = false;
  running.then(() => {
    ended = true;
  });
  while (!ended) {
    // Whoever could start has started.
    for (let turns = 0; turns < 30; turns++) await turn();
    most = Math.max(most, waiting.length);
    waiting.shift()?.();
  }
  expect([most, started]).toEqual([8, 20]);
});
