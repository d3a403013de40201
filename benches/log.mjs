// Checks through an ordered log, as many as it takes, and 500 a second beside the log's own round trip: in memory, and over Redis (appendfsync everysec) and NATS (a file, one replica) where their servers are installed.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { load } from './texts.mjs';

const PART = 64;
const IN_FLIGHT = 8;
/** Checks a second that are to be reached, over a server. */
const GOAL = 10_000;
/** Checks a second, each when it is due, and milliseconds that the p99 may be above that of the log alone. */
const [PACE, ABOVE] = [500, 20];

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

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');

const p99 = (times) => [...times].sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0;

/** Does something `count` times, {@link PACE} times a second, whether what came before has ended or not; milliseconds from when it was due. */
async function paced(count, work) {
  const start = performance.now();
  const times = [];
  const all = [];
  for (let n = 0; n < count; n++) {
    const due = start + (n * 1000) / PACE;
    while (performance.now() < due) await sleep(Math.max(0, due - performance.now()));
    all.push(work(n).then(() => times.push(performance.now() - due)));
  }
  await Promise.all(all);
  return times;
}

/** How long entries of the size of a check take through the log alone: appended by one, and read by who waits for them. */
async function roundTrips(log, texts, count) {
  const waiting = new Map();
  const ending = new AbortController();
  const { signal } = ending;
  let from = 0;
  const reading = (async () => {
    while (!signal.aborted) {
      const { entries } = await log.read(from, { limit: 256, wait: 100, signal });
      for (const { position, entry } of entries) {
        from = Math.max(from, position);
        waiting.get(entry)?.();
        waiting.delete(entry);
      }
    }
  })();
  const times = await paced(count, async (n) => {
    // As much as an entry of one check has beside its text.
    const entry = JSON.stringify({ n, head: 'x'.repeat(250), items: [[texts[n % texts.length]]] });
    const read = new Promise((done) => waiting.set(entry, done));
    await Promise.all([log.append(entry), read]);
  });
  ending.abort();
  await reading;
  await log.close?.();
  return times;
}

async function measurePaced(what, shared, alone, texts, seconds, rows) {
  const count = PACE * seconds;
  const own = p99(await roundTrips(alone, texts, count));
  const times = await paced(count, (n) =>
    shared.check(`${texts[n % texts.length]}${n}`, { key: `p${n}` }),
  );
  const [name, value] = [`${what}: ${PACE} checks/s`, p99(times)];
  rows.push({ what: `${name}: p99 of the log's own round trip`, value: own, unit: 'ms' });
  rows.push({
    what: `${name}: p99`,
    value,
    unit: 'ms',
    against: {
      what: `the log's own round trip and ${ABOVE} ms`,
      value: own + ABOVE,
      ratio: value / (own + ABOVE),
      goal: '<= 1',
    },
  });
}

async function measure(what, SharedIndex, connect, folder, { texts, seconds }, rows) {
  const log = await connect('simhash');
  const shared = await SharedIndex.open(folder, log, { window: { maxAge: 172_800_000 } });
  await shared.ready();
  // What was measured before has left the garbage of a burst, which 500 checks a second do not make.
  collectGarbage();
  await measurePaced(what, shared, await connect('alone'), texts, seconds, rows);
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
  const wall = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(before);
  const rate = texts.length / wall;
  rows.push({
    what: `${what}: ${PART} at a time, ${IN_FLIGHT} in flight`,
    value: rate,
    unit: 'checks/s',
    against: { what: `${GOAL} checks/s`, value: GOAL, ratio: rate / GOAL, goal: '>= 1' },
  });
  rows.push({
    what: `${what}: CPU of the service`,
    value: (user + system) / texts.length,
    unit: 'us each',
  });
  rows.push({
    what: `${what}: p99`,
    value: p99(times),
    unit: 'ms',
  });
  await shared.close();
}

export async function bench(options) {
  const { MemoryLog, SharedIndex, natsLog, redisLog } = await import('../dist/log.mjs');
  const at = options.indexOf('--size');
  const size = at >= 0 ? Number(options[at + 1].replaceAll('_', '')) : 60_000;
  const given = options.indexOf('--seconds');
  const seconds = given >= 0 ? Number(options[given + 1]) : 20;
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
    const own = (stream) => connect(server.at, { stream });
    await measure(name, SharedIndex, own, join(folder, name), { texts, seconds }, rows);
  };
  try {
    const memory = () => new MemoryLog();
    await measure('in memory', SharedIndex, memory, join(folder, 'm'), { texts, seconds }, rows);
    await over('Redis', await redis(folder), (at, how) => redisLog(`redis://${at}`, how));
    await over('NATS', await nats(join(folder, 'n')), (at, how) => natsLog(`nats://${at}`, how));
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
