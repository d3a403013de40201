// Checks through an ordered log: in memory, and over Redis (appendfsync everysec) and NATS (a file, one replica) where their servers are installed.
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

/** A server in a folder, or none; `args` of a port. */
async function started(program, args) {
  if (spawnSync(program, ['--version']).status !== 0) return undefined;
  const free = createServer().listen(0, '127.0.0.1');
  await once(free, 'listening');
  const { port } = free.address();
  free.close();
  const child = spawn(program, args(port), { stdio: 'ignore' });
  await sleep(500);
  return { at: `127.0.0.1:${port}`, child };
}

const redis = (folder) =>
  started('redis-server', (port) => {
    const options = `--port ${port} --bind 127.0.0.1 --appendonly yes --appendfsync everysec`;
    return [...options.split(' '), '--save', '', '--dir', folder];
  });

const nats = (folder) =>
  started('nats-server', (port) => ['-a', '127.0.0.1', '-p', `${port}`, '-js', '-sd', folder]);

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
  const { MemoryLog, SharedIndex, natsLog, redisLog } = await import('../dist/log.mjs');
  const at = options.indexOf('--size');
  const size = at >= 0 ? Number(options[at + 1].replaceAll('_', '')) : 60_000;
  const { name, texts: all } = load('zh-hotsearch-titles');
  const texts = Array.from({ length: size }, (_, n) => all[n % all.length]);
  const folder = mkdtempSync(join(tmpdir(), 'simhash-bench-log-'));
  const rows = [];
  const servers = [];
  const missing = [];
  const over = async (name, server, connect) => {
    if (server === undefined) {
      missing.push(`${name.toLowerCase()}-server`);
      return;
    }
    servers.push(server);
    await measure(name, SharedIndex, await connect(server.at), join(folder, name), texts, rows);
  };
  try {
    await measure('in memory', SharedIndex, new MemoryLog(), join(folder, 'm'), texts, rows);
    await over('Redis', await redis(folder), (at) => redisLog(`redis://${at}`));
    await over('NATS', await nats(join(folder, 'n')), (at) => natsLog(`nats://${at}`));
  } finally {
    for (const { child } of servers) {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
    rmSync(folder, { recursive: true });
  }
  const without = missing.map((name) => `; ${name} is not installed`).join('');
  return {
    bench: 'log',
    setup: `${name}, ${size} texts, verified, with keys, one service${without}`,
    rows,
  };
}
