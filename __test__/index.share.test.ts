import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { Index, type SharedIndex } from '..';
import { bare } from './indexes';

const DIST = join(__dirname, '..', 'dist', 'index.js');

/** Runs `body` in a worker with `Index` and `data`; resolves with what it returns. */
function inWorker<T>(body: string, data: object): Promise<T> {
  const code = `
    const { parentPort, workerData: data } = require('node:worker_threads');
    const { Index } = require(${JSON.stringify(DIST)});
    parentPort.postMessage((() => { ${body} })());`;
  return new Promise((resolve, reject) => {
    const worker = new Worker(code, { eval: true, workerData: data });
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

test.each([
  { method: 'simhash', maxDistance: 16 },
  { method: 'minhash' },
  { method: 'sentences', sentences: 1 },
] as const)(
  'two workers that add near-equal texts at once keep exactly one: $method',
  async (given) => {
    const rounds = 2000;
    const index = new Index({ ...given, keys: true, verify: 'edit' } as { keys: true });
    const gate = new Int32Array(new SharedArrayBuffer(4));
    const body = `
    const index = Index.fromShared(data.handle);
    const kept = [];
    for (let round = 0; round < data.rounds; round++) {
      // The second to arrive opens the round.
      const arrived = Atomics.add(data.gate, 0, 1);
      if (arrived % 2 === 0) Atomics.wait(data.gate, 0, arrived + 1);
      else Atomics.notify(data.gate, 0);
      const character = (_, at) => {
        let mixed = Math.imul(round * 80 + at + 1, 0x85ebca6b);
        mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
        return 0x4e00 + ((mixed ^ (mixed >>> 16)) & 4095);
      };
      const text = String.fromCodePoint(...Array.from({ length: 80 }, character)) + '。' + data.own;
      if (index.checkAndAdd(text, { key: round + '/' + data.own }).id !== undefined) kept.push(round);
    }
    index.close();
    return kept;`;
    const run = (own: string) =>
      inWorker<number[]>(body, { handle: index.share(), gate, rounds, own });
    const [one, other] = await Promise.all([run('甲'), run('乙')]);
    const all = [...one, ...other].sort((a, b) => a - b);
    expect(all).toEqual(Array.from({ length: rounds }, (_, round) => round));
    expect(index.size).toBe(rounds);
    // The documents of both are here, with their keys.
    for (const [round, own] of [
      [one[0], '甲'],
      [other[0], '乙'],
    ]) {
      if (round !== undefined) expect(index.idOf(`${round}/${own}`)).toBeDefined();
    }
  },
);

test('every handle leads to the same index until all who use it have closed', async () => {
  const index = bare({ keys: true });
  index.add(7n, { key: 'a' });
  const handle: SharedIndex = structuredClone(index.share());
  expect(index.share()).toEqual(handle);
  const second = Index.fromShared(handle);
  expect(second.add(9n)).toBe(1);
  index.close();
  expect(() => index.size).toThrow(expect.objectContaining({ code: 'ERR_SIMHASH_CLOSED' }));
  expect([second.size, second.idOf('a')]).toEqual([2, 0]);
  const third = Index.fromShared(handle);
  second.close();
  const body =
    'const index = Index.fromShared(data.handle); const { size } = index; index.close(); return size;';
  expect(await inWorker(body, { handle })).toBe(2);
  third.close();
  expect(() => Index.fromShared(handle)).toThrow(
    expect.objectContaining({ name: 'SimHashError', code: 'ERR_SIMHASH_CLOSED' }),
  );
});

test('what is no handle is refused', () => {
  const code = (handle: unknown) => {
    try {
      Index.fromShared(handle as SharedIndex);
    } catch (error) {
      return (error as { code: string }).code;
    }
    return 'none';
  };
  for (const wrong of [undefined, {}, { simhashIndex: 3 }, { token: 'a' }, 'a', null]) {
    expect(code(wrong)).toBe('ERR_INVALID_ARG_TYPE');
  }
  expect(code({ simhashIndex: 'zz' })).toBe('ERR_SIMHASH_CLOSED');
  expect(code({ simhashIndex: '0123456789abcdef' })).toBe('ERR_SIMHASH_CLOSED');
});

test('a shared index is searched and changed by jobs of both sides', async () => {
  const index = bare();
  const second = Index.fromShared(index.share());
  const items = BigUint64Array.from({ length: 5000 }, (_, n) =>
    BigInt.asUintN(64, BigInt(n) * 0x9e3779b97f4a7c15n),
  );
  await Promise.all([index.addManyAsync(items), second.addManyAsync(items)]);
  expect([index.size, second.size]).toEqual([10_000, 10_000]);
  const [a, b] = await Promise.all([index.searchManyAsync(items), second.searchManyAsync(items)]);
  expect(a.ids).toEqual(b.ids);
});
