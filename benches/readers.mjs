// The memory of three processes that read one folder: mapped, they share the file; in memory, each has its own.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fingerprints } from './texts.mjs';

const READERS = 3;
const SEARCHES = 100_000;
const BATCH = 100_000;

export async function bench(options) {
  const { Index } = await import('../dist/index.mjs');
  const at = options.indexOf('--size');
  const size = at >= 0 ? Number(options[at + 1].replaceAll('_', '')) : 5_000_000;
  const folder = mkdtempSync(join(tmpdir(), 'simhash-readers-'));
  const rows = [];
  try {
    const path = join(folder, 'index');
    const index = await Index.open(path, { maxDistance: 3, texts: false, durability: 'none' });
    for (let from = 0; from < size; from += BATCH) {
      await index.addManyAsync(fingerprints(Math.min(BATCH, size - from)));
    }
    await index.compact();
    await index.close();
    const file = readdirSync(path)
      .map((name) => statSync(join(path, name)).size)
      .reduce((all, bytes) => all + bytes, 0);
    for (const mmap of [true, false]) {
      const readers = Array.from({ length: READERS }, () => reader(path, mmap));
      try {
        for (const { ready } of readers) await ready;
        // Asked only when all are there: a page that three share counts a third for each.
        const memory = [];
        for (const each of readers) memory.push(await each.ask());
        rows.push({
          what: `${mmap ? 'mapped' : 'in memory'}: three readers together`,
          value: memory.reduce((all, bytes) => all + bytes, 0) / 1e6,
          unit: 'MB',
          against: {
            what: 'the folder',
            value: file / 1e6,
            ratio: memory.reduce((all, bytes) => all + bytes, 0) / file,
            ...(mmap ? { goal: '<= 2 at 5 M' } : {}),
          },
        });
      } finally {
        for (const { end } of readers) await end();
      }
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return { bench: 'readers', setup: `${size} fingerprints, ${SEARCHES} searches each`, rows };
}

/** A process that opens the folder, searches, and tells its share of memory when it is asked. */
function reader(path, mmap) {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), path, String(mmap)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = [];
  const waiting = [];
  child.stdout.setEncoding('utf8').on('data', (data) => {
    for (const line of data.trim().split('\n')) {
      const next = waiting.shift();
      next ? next(line) : lines.push(line);
    }
  });
  const line = () =>
    new Promise((resolve, reject) => {
      child.once('exit', () => reject(new Error('a reader ended before it answered')));
      lines.length > 0 ? resolve(lines.shift()) : waiting.push(resolve);
    });
  return {
    ready: line(),
    ask: async () => {
      child.stdin.write('\n');
      return Number(await line());
    },
    end: () =>
      new Promise((resolve) => {
        child.once('exit', resolve);
        child.stdin.end();
      }),
  };
}

/** What a reader does. */
async function read(path, mmap) {
  const { Index } = await import('../dist/index.mjs');
  const { readFileSync } = await import('node:fs');
  const index = await Index.open(path, { readOnly: true, mmap });
  for (let done = 0; done < SEARCHES; done += 1000) index.searchMany(fingerprints(1000));
  console.log('ready');
  process.stdin.on('data', () => {
    // Pss: what is this process's alone, and its share of what it shares.
    const rollup = readFileSync('/proc/self/smaps_rollup', 'utf8');
    console.log(Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) * 1024);
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await read(process.argv[2], process.argv[3] === 'true');
}
