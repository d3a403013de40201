import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { Index } from '..';

const PACKAGE = JSON.stringify(join(__dirname, '..'));

/** Ends by itself with status 0; what it printed. */
function child(code: string): string {
  const script = `const simhash = require(${PACKAGE});\n${code}`;
  const { status, stdout, stderr, signal } = spawnSync(process.execPath, ['-e', script], {
    encoding: 'utf8',
  });
  expect({ status, signal, stderr }).toEqual({ status: 0, signal: null, stderr: '' });
  return stdout;
}

const MANY = `Array.from({ length: 20000 }, (_, row) => ('第' + row + '条消息，').repeat(50))`;

test.each([
  [
    'an open index',
    'new simhash.Index({ maxDistance: 3, texts: false }).add(1n); console.log("done")',
  ],
  [
    'work that ended',
    'new simhash.Fingerprinter().fingerprintManyAsync(["a"]).then(() => console.log("done"))',
  ],
  [
    'a promise nobody awaits',
    `new simhash.Index({ maxDistance: 3, texts: false }).addManyAsync(${MANY}).then(() => console.log('done'))`,
  ],
  [
    'process.exit during a job',
    `new simhash.Index({ maxDistance: 3, texts: false }).addManyAsync(${MANY}); console.log('done'); process.exit(0)`,
  ],
  [
    'a worker that is the only user and is gone',
    `const { Worker } = require('node:worker_threads');
     new Worker('require(' + JSON.stringify(${PACKAGE}) + ').Index', { eval: true }).on('exit', () => console.log('done'))`,
  ],
])('a process ends with %s', (_name, code) => {
  expect(child(code).trim()).toBe('done');
});

function worker(code: string): Promise<number> {
  return new Promise((done, failed) => {
    new Worker(`const simhash = require(${PACKAGE});\n${code}`, { eval: true })
      .on('exit', done)
      .on('error', failed);
  });
}

test('16 workers load, work and unload at once', async () => {
  const code =
    'new simhash.Index({ maxDistance: 3, texts: false }).checkAndAddManyAsync(Array.from({ length: 2000 }, (_, row) => BigInt(row)))';
  const ends = await Promise.all(Array.from({ length: 16 }, () => worker(code)));
  expect(ends).toEqual(Array(16).fill(0));
});

test('a worker can be terminated during a job', async () => {
  const code = `const { parentPort } = require('node:worker_threads'); const simhash = require(${PACKAGE});
    new simhash.Index({ maxDistance: 3, texts: false }).addManyAsync(${MANY}); parentPort.postMessage(1);`;
  const running = new Worker(code, { eval: true });
  await new Promise((done) => running.once('message', done));
  expect(await running.terminate()).toBe(1);
  expect(new Index({ maxDistance: 3, texts: false }).add(1n)).toBe(0);
});
