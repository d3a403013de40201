// Checks through an ordered log: in memory, and over Redis (appendfsync everysec) where redis-server is installed.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { load } from './texts.mjs';

const PART = 64;
const IN_FLIGHT = 8;

/** A server of Redis, or none. */
async function redis(folder) {
  if (spawnSync('redis-server', ['--version']).status !== 0) return undefined;
  const free = createServer().listen(0, '127.0.0.1');
  await once(free, 'listening');
  const { port } = free.address();
  free.close();
  const options = `--port ${port} --bind 127.0.0.1 --appendonly yes --appendfsync everysec`;
  const args = [...options.split(' '), '--save', '', '--dir', folder];
  const child = spawn('redis-server', args, { stdio: 'ignore' });
  await sleep(500);
  return { url: `redis://127.0.0.1:${port}`, child };
}

async function measure(what, SharedIndex, log, folder, texts, rows) {
  const shared = await SharedIndex.open(folder, log, { window: { maxAge: 172_800_000 } });
  await shared.ready();
  const before = process.cpuUsage();
  const start = performance.now();
  const times = [];
  let next = 0;
  const one = async () => {
    for (let at = next; at < texts.length; at = next) {
      next += PART;
      const begin = performance.now();
      const own = texts.slice(at, at + PART);
      await shared.checkMany(own, { keys: own.map((_, n) => `k${at + n}`) });
      times.push(performance.now() - begin);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, one));
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(before);
  times.sort((a, b) => a - b);
  rows.push({
    what: `${what}: ${PART} at a time, ${IN_FLIGHT} in flight`,
    value: texts.length / seconds,
    unit: 'checks/s',
  });
  rows.push({
    what: `${what}: CPU of the service`,
    value: (user + system) / texts.length,
    unit: 'us each',
  });
  rows.push({
    what: `${what}: p99`,
    value: times[Math.floor(times.length * 0.99)] ?? 0,
    unit: 'ms',
  });
  await shared.close();
}

export async function bench(options) {
  const { MemoryLog, SharedIndex, redisLog } = await import('../dist/log.mjs');
  const at = options.indexOf('--size');
  const size = at >= 0 ? Number(options[at + 1].replaceAll('_', '')) : 60_000;
  const { name, texts: all } = load('zh-hotsearch-titles');
  const texts = Array.from({ length: size }, (_, n) => all[n % all.length]);
  const folder = mkdtempSync(join(tmpdir(), 'simhash-bench-log-'));
  const rows = [];
  const server = await redis(folder);
  try {
    await measure('in memory', SharedIndex, new MemoryLog(), join(folder, 'm'), texts, rows);
    if (server !== undefined) {
      const log = await redisLog(server.url);
      await measure('Redis', SharedIndex, log, join(folder, 'r'), texts, rows);
    }
  } finally {
    if (server !== undefined) {
      const ended = once(server.child, 'exit');
      server.child.kill('SIGKILL');
      await ended;
    }
    rmSync(folder, { recursive: true });
  }
  const without = server === undefined ? '; redis-server is not installed' : '';
  return {
    bench: 'log',
    setup: `${name}, ${size} texts, verified, with keys, one service${without}`,
    rows,
  };
}
