import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { afterAll, expect, test } from 'vitest';
import { Index } from '..';

const DIST = join(__dirname, '..', 'dist', 'index.js');
const folder = mkdtempSync(join(tmpdir(), 'processes-'));
afterAll(() => rmSync(folder, { recursive: true }));

const OPTIONS = { method: 'exact', keys: true } as const;

/** Opens a folder that somebody may be about to let go of. */
async function opened(path: string): Promise<Index> {
  for (let tries = 0; ; tries++) {
    try {
      return await Index.open(path, OPTIONS);
    } catch (error) {
      if ((error as { code: string }).code !== 'ERR_SIMHASH_INDEX_LOCKED' || tries > 600)
        throw error;
      await sleep(50);
    }
  }
}

/** What a process has open. */
const openFiles = ({ pid }: ChildProcess): string[] => {
  const all = `/proc/${pid}/fd`;
  if (!existsSync(all)) return [];
  return readdirSync(all).flatMap((file) => {
    try {
      return [readlinkSync(join(all, file))];
    } catch {
      return [];
    }
  });
};

test('a child process has nothing of an index that is open, and does not keep it locked', async () => {
  const path = join(folder, 'parent');
  const index = await Index.open(path, OPTIONS);
  index.add('甲', { key: 'a' });
  const child = spawn(process.execPath, ['-e', "console.log('up'); setInterval(() => {}, 1e6)"], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    await new Promise((resolve) => child.stdout?.once('data', resolve));
    expect(openFiles(child).filter((file) => file.startsWith(path))).toEqual([]);
    await index.close();
    const again = await Index.open(path, OPTIONS);
    expect(again.idOf('a')).toBe(0);
    await again.close();
  } finally {
    child.kill('SIGKILL');
  }
});

test('a worker that is ended inside a batch leaves a prefix of it, and lets go of the folder', async () => {
  const path = join(folder, 'worker');
  const count = 400_000;
  const code = `
    const { parentPort, workerData: { path, count } } = require('node:worker_threads');
    const { Index } = require(${JSON.stringify(DIST)});
    (async () => {
      const index = await Index.open(path, { method: 'exact', keys: true });
      const all = Array.from({ length: count }, (_, row) => '第' + row + '篇');
      index.addManyAsync(all, { keys: all }).catch(() => {});
      parentPort.postMessage('begun');
      setInterval(() => {}, 1000);
    })();`;
  const worker = new Worker(code, { eval: true, workerData: { path, count } });
  await new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  await sleep(30);
  await worker.terminate();
  const index = await opened(path);
  const { size } = index;
  expect(size).toBeLessThanOrEqual(count);
  // What is there are the first of them, in order, with their keys.
  for (const row of [0, 1, size >> 1, size - 1].filter((row) => row >= 0 && row < size)) {
    expect(index.keyOf(row)).toBe(`第${row}篇`);
  }
  expect(index.has(size)).toBe(false);
  expect(index.add('又一篇', { key: 'later' })).toBe(size);
  await index.close();
  const again = await opened(path);
  expect([again.size, again.idOf('later')]).toEqual([size + 1, size]);
  await again.close();
});

test('a worker that is ended inside a batch leaves an index that others share usable', async () => {
  const index = new Index(OPTIONS);
  const code = `
    const { parentPort, workerData: { handle } } = require('node:worker_threads');
    const { Index } = require(${JSON.stringify(DIST)});
    const index = Index.fromShared(handle);
    const all = Array.from({ length: 200_000 }, (_, row) => '第' + row + '篇');
    index.checkAndAddManyAsync(all).catch(() => {});
    parentPort.postMessage('begun');
    setInterval(() => {}, 1000);`;
  const worker = new Worker(code, { eval: true, workerData: { handle: index.share() } });
  await new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  await worker.terminate();
  expect(index.checkAndAdd('在这里', { key: 'here' }).id).toBeTypeOf('number');
  expect(index.checkAndAdd('在这里').key).toBe('here');
  index.close();
});
