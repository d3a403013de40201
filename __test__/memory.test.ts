import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Index } from '..';

const collect = (globalThis as unknown as { gc: () => void }).gc;
const items = BigUint64Array.from({ length: 200_000 }, (_, row) =>
  BigInt.asUintN(64, BigInt(row) * 0x9e3779b97f4a7c15n),
);

test('a dropped index is collected', async () => {
  const held = (() => {
    const index = new Index({ maxDistance: 3, texts: false });
    index.addMany(items);
    return new WeakRef(index);
  })();
  // One collection is not promised to find it; an index that leaks is never found.
  for (let round = 0; round < 200 && held.deref() !== undefined; round++) {
    await sleep(10);
    collect();
  }
  expect(held.deref()).toBeUndefined();
});

test('dropped indexes are collected without being asked for, because the engine knows their size', async () => {
  // 100 of more than 10 MB each; to an engine that saw only the objects they would be a few kilobytes.
  const held: WeakRef<Index>[] = [];
  for (let round = 0; round < 100; round++) {
    const index = new Index({ maxDistance: 3, texts: false });
    index.addMany(items);
    held.push(new WeakRef(index));
    await sleep(1);
  }
  expect(held.filter((index) => index.deref() !== undefined).length).toBeLessThan(60);
});

/**
 * What the engine holds to be allocated outside its heap, in bytes, at each mark that `code` prints.
 *
 * `process.memoryUsage().external` counts buffers only; the full figure is in the engine's own trace, after each `gc()`.
 */
function outsideMemory(code: string): Map<string, number> {
  const script = `
    const { Index } = require(${JSON.stringify(join(__dirname, '..'))});
    const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
    const items = BigUint64Array.from({ length: 200_000 }, (_, row) => BigInt.asUintN(64, BigInt(row) * 0x9e3779b97f4a7c15n));
    const mark = (name) => { gc(); console.log('mark ' + name); };
    const size = (index) => { const { tableBytes, idBytes } = index.stats(); return tableBytes + idBytes; };
    (async () => { mark('start'); ${code} })();`;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--expose-gc', '--trace-gc', '--trace-gc-verbose', '-e', script],
    { encoding: 'utf8', maxBuffer: 1 << 28 },
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const marks = new Map<string, number>();
  let bytes = Number.NaN;
  for (const line of stdout.split('\n')) {
    const [, kilobytes] = /External memory reported:\s+(\d+) KB/.exec(line) ?? [];
    const [, name] = /^mark (.*)/.exec(line) ?? [];
    if (kilobytes !== undefined) bytes = Number(kilobytes) * 1024;
    if (name !== undefined) marks.set(name, bytes);
  }
  return marks;
}

/** How much `mark` lies above the start, as a share of what the index said it holds. */
function share(marks: Map<string, number>, mark: string, size: number): number {
  return ((marks.get(mark) ?? Number.NaN) - (marks.get('start') ?? Number.NaN)) / size;
}

/** The size that a child printed as part of a mark. */
function sizeIn(marks: Map<string, number>): number {
  return Number([...marks.keys()].find((name) => name.startsWith('size '))?.slice(5));
}

test('the engine is told the bytes of stats() after addMany, and that they are gone after close()', () => {
  const marks = outsideMemory(`
    const index = new Index({ maxDistance: 3, texts: false });
    index.addMany(items);
    mark('size ' + size(index));
    mark('added');
    index.close();
    mark('closed');`);
  const size = sizeIn(marks);
  expect(size).toBeGreaterThan(items.byteLength);
  expect(share(marks, 'added', size)).toBeGreaterThan(0.6);
  expect(share(marks, 'added', size)).toBeLessThan(1.7);
  expect(Math.abs(share(marks, 'closed', size))).toBeLessThan(0.05);
});

test('and after addManyAsync, checkAndAddMany, and when the index is collected', () => {
  const marks = outsideMemory(`
    let index = new Index({ maxDistance: 3, texts: false });
    await index.addManyAsync(items);
    mark('size ' + size(index));
    mark('async');
    const other = new Index({ maxDistance: 3, texts: false });
    other.checkAndAddMany(items);
    mark('two');
    other.close();
    const held = new WeakRef(index);
    index = undefined;
    for (let round = 0; round < 200 && held.deref() !== undefined; round++) { await sleep(10); gc(); }
    for (let round = 0; round < 20; round++) { await sleep(10); gc(); }
    mark('collected');`);
  const size = sizeIn(marks);
  expect(share(marks, 'async', size)).toBeGreaterThan(0.6);
  expect(share(marks, 'two', size)).toBeGreaterThan(1.2);
  expect(Math.abs(share(marks, 'collected', size))).toBeLessThan(0.05);
});
