// The command serve: single checks over 64 connections, and check-many of 256, with the client in this process; and single checks by wrk, where it is installed.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { load } from './texts.mjs';

const BIN = fileURLToPath(new URL('../dist/cli/bin.js', import.meta.url));
const TOKEN = 'a-token-for-benches';
const [CONNECTIONS, LINES] = [64, 256];
/** Rates that are to be reached under `interval`. */
const GOALS = { 'checks/s': 3000, 'documents/s': 20_000 };
/** A client that others have written, in C. */
const WRK = spawnSync('wrk', ['-v'], { stdio: 'ignore' }).error === undefined;
const SCRIPT = fileURLToPath(new URL('serve.lua', import.meta.url));

const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });

function post(url, type, body) {
  return new Promise((done, failed) => {
    const headers = {
      Authorization: `Bearer ${TOKEN}`,
      'Content-Type': type,
      'Content-Length': Buffer.byteLength(body),
    };
    const asked = request(url, { method: 'POST', agent, headers }, (answer) => {
      const chunks = [];
      answer.on('data', (chunk) => chunks.push(chunk));
      answer.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        if (answer.statusCode === 200) done(text);
        else failed(new Error(`${answer.statusCode}: ${text}`));
      });
    });
    asked.on('error', failed);
    asked.end(body);
  });
}

/** What a rate is held against. */
function against(value, unit, durability) {
  const goal = GOALS[unit];
  if (durability !== 'interval') return {};
  return { against: { what: `${goal} ${unit}`, value: goal, ratio: value / goal, goal: '>= 1' } };
}

/** Single checks by wrk for some seconds, each of a key of its own. */
async function byWrk(url, texts, { seconds, folder, durability }, rows) {
  const bodies = join(folder, 'bodies');
  const lines = texts.map((text) => `{"text":${JSON.stringify(text)},"key":"w\n`);
  writeFileSync(bodies, lines.join(''));
  const args = ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '-s', SCRIPT, `${url}/v1/check`];
  const wrk = spawn('wrk', args, { env: { ...process.env, BODIES: bodies, TOKEN } });
  let said = '';
  wrk.stdout.on('data', (text) => {
    said += text;
  });
  await once(wrk, 'close');
  const [, requests, duration, failed, p99] = /RESULT (\d+) (\d+) (\d+) (\d+)/.exec(said) ?? [];
  if (failed !== '0') throw new Error(`wrk: ${failed ?? 'no'} answers failed: ${said}`);
  const [what, unit] = [
    `single checks by wrk, ${CONNECTIONS} connections, ${durability}`,
    'checks/s',
  ];
  const value = (Number(requests) * 1e6) / Number(duration);
  rows.push({ what, value, unit, ...against(value, unit, durability) });
  rows.push({ what: `${what}: p99`, value: Number(p99) / 1000, unit: 'ms' });
}

/** CPU seconds of a process and what it has waited for so far. */
function cpuOf(pid) {
  const [, rest] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const fields = rest.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** So many calls over so many callers; milliseconds of each. */
async function callers(count, number, call) {
  const times = new Float64Array(count);
  let next = 0;
  const one = async () => {
    for (let at = next++; at < count; at = next++) {
      const start = performance.now();
      await call(at);
      times[at] = performance.now() - start;
    }
  };
  await Promise.all(Array.from({ length: number }, one));
  return times.sort();
}

async function measure(texts, durability, seconds, rows) {
  const folder = mkdtempSync(join(tmpdir(), 'simhash-bench-serve-'));
  const args = [
    'serve',
    join(folder, 'i'),
    '--port',
    '0',
    '--json',
    '-q',
    '--durability',
    durability,
  ];
  const child = spawn(process.execPath, [BIN, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, SIMHASH_TOKEN: TOKEN },
  });
  try {
    const [line] = await once(createInterface({ input: child.stdout }), 'line');
    const { url } = JSON.parse(line);
    const headers = { Authorization: `Bearer ${TOKEN}` };
    while ((await fetch(`${url}/ready`, { headers })).status !== 200);
    const half = texts.length >> 1;
    const parts = [];
    for (let at = half; at < texts.length; at += LINES) parts.push(texts.slice(at, at + LINES));
    const timed = async (what, unit, count, work) => {
      const [start, cpu] = [performance.now(), cpuOf(child.pid)];
      const times = await work();
      const seconds = (performance.now() - start) / 1000;
      const name = `${what}, ${durability}`;
      const value = count / seconds;
      rows.push({ what: name, value, unit, ...against(value, unit, durability) });
      rows.push({
        what: `${name}: CPU of the server`,
        value: ((cpuOf(child.pid) - cpu) * 1e6) / count,
        unit: 'us each',
      });
      rows.push({
        what: `${name}: p99`,
        value: times[Math.floor(times.length * 0.99)] ?? 0,
        unit: 'ms',
      });
    };
    await timed('single checks, 64 connections', 'checks/s', half, () =>
      callers(half, CONNECTIONS, (at) =>
        post(
          `${url}/v1/check`,
          'application/json',
          JSON.stringify({ text: texts[at], key: `k${at}` }),
        ),
      ),
    );
    await timed(`check-many of ${LINES}, 4 connections`, 'documents/s', texts.length - half, () =>
      callers(parts.length, 4, (at) =>
        post(
          `${url}/v1/check-many`,
          'application/x-ndjson',
          parts[at].map((text, n) => `${JSON.stringify({ text, key: `m${at}-${n}` })}\n`).join(''),
        ),
      ),
    );
    if (WRK) await byWrk(url, texts, { seconds, folder, durability }, rows);
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  } finally {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  }
}

export async function bench(options) {
  const at = options.indexOf('--size');
  const size = at >= 0 ? Number(options[at + 1].replaceAll('_', '')) : 60_000;
  const { name, texts: all } = load('zh-hotsearch-titles');
  const texts = Array.from({ length: size }, (_, n) => all[n % all.length]);
  const rows = [];
  const start = performance.now();
  const given = options.indexOf('--seconds');
  const seconds = given >= 0 ? Math.max(1, Math.round(Number(options[given + 1]))) : 10;
  for (const durability of ['interval', 'commit']) {
    await measure(texts, durability, seconds, rows);
  }
  agent.destroy();
  const { user, system } = process.cpuUsage();
  const busy = `client: ${((user + system) / 1e6).toFixed(1)} CPU s in ${((performance.now() - start) / 1000).toFixed(1)} s of wall time`;
  const setup = `${name}, ${size} texts, verified, with keys; ${busy}${WRK ? '' : '; wrk is not installed'}`;
  return { bench: 'serve', setup, rows };
}
