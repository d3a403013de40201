// Whole runs of `dedup` from file to file: processor seconds and memory of the process, by method and threads, beside another checkout
// (`--old DIR`, built like this one) and beside reading and hashing alone.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lines } from './corpora.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const shared = join(root, '../shared/data');
/** 592,598 documents: news, titles, documentation. */
const SETS = ['zh-news-eventmonitor', 'zh-hotsearch-titles', 'zh-docs-tidb'];
/** Rounds, of which the median counts; what is compared takes turns. */
const ROUNDS = 3;
const METHODS = ['minhash', 'simhash', 'sentences'];

export async function bench(options) {
  const given = (name) => {
    const at = options.indexOf(name);
    return at >= 0 ? options[at + 1] : undefined;
  };
  const size = given('--size');
  const old = given('--old');
  const rounds = size === undefined ? ROUNDS : 1;
  const folder = mkdtempSync(join(tmpdir(), 'simhash-dedup-'));
  const rows = [];
  try {
    const { path, name, count } = corpus(given('--file'), size, folder);
    const run = (from, args, at = 0) =>
      measured(from, ['dedup', path, '-o', join(folder, `out${at}`), '--quiet', ...args]);
    const least = await repeated(rounds, [
      () => run(root, ['--method', 'exact', '--threads', '1']),
    ]);
    for (const method of METHODS) {
      const one = ['--method', method, '--threads', '1'];
      const both = ['--method', method, '--threads', '2'];
      const [single, double, pair, before] = await repeated(rounds, [
        () => run(root, one),
        () => run(root, both),
        async () => {
          const all = await Promise.all([run(root, one, 1), run(root, one, 2)]);
          return { ...all[0], wall: Math.max(...all.map(({ wall }) => wall)) };
        },
        ...(old === undefined ? [] : [() => run(old, one)]),
      ]);
      const row = (what, value, unit, name, other, goal) =>
        rows.push({
          what: `${method}: ${what}`,
          value,
          unit,
          ...(name && { against: { what: name, value: other, ratio: value / other, goal } }),
        });
      if (before !== undefined) {
        row('one thread', single.cpu, 's', 'other checkout', before.cpu, '<= 0.33');
        row('one thread, most memory', single.memory, 'MB', 'other checkout', before.memory);
      }
      row('one thread', single.cpu, 's', 'method exact', least[0].cpu);
      row('one thread, most memory', single.memory, 'MB');
      // Of as much work: two processes do it twice.
      const rate = { two: 1 / double.wall, processes: 2 / pair.wall };
      row('two threads', rate.two, 'runs/s', 'two processes', rate.processes, '>= 0.9');
    }
    return { bench: 'dedup', setup: `${count} documents: ${name}`, rows };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The documents as one file. */
function corpus(file, size, folder) {
  const sets = SETS.filter((set) => existsSync(join(shared, set)));
  const path = join(folder, 'in.jsonl');
  const all =
    file !== undefined
      ? lines(file)
      : sets.length > 0
        ? sets.flatMap((set) => lines(join(shared, set, 'docs.jsonl.gz')))
        : lines(join(root, 'examples/sample.jsonl'));
  const some = all.slice(0, size === undefined ? all.length : Number(size.replaceAll('_', '')));
  writeFileSync(path, `${some.join('\n')}\n`);
  const name = file ?? (sets.length > 0 ? sets.join(', ') : 'examples/sample.jsonl');
  return { path, name, count: some.length };
}

/** The median by processor time of each, in turns. */
async function repeated(rounds, runs) {
  const all = runs.map(() => []);
  for (let round = 0; round < rounds; round++)
    for (const [at, run] of runs.entries()) all[at].push(await run());
  return all.map((each) => each.sort((a, b) => a.cpu - b.cpu)[each.length >> 1]);
}

/** Seconds and megabytes of one run of the command line of a checkout. */
function measured(from, args) {
  const begin = performance.now();
  const child = spawn(
    process.execPath,
    [
      '--require',
      fileURLToPath(new URL('usage.cjs', import.meta.url)),
      join(from, 'dist/cli/bin.js'),
      ...args,
    ],
    { stdio: ['ignore', 'ignore', 'inherit', 'pipe'] },
  );
  let told = '';
  child.stdio[3].setEncoding('utf8').on('data', (data) => {
    told += data;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      if (code !== 0) return reject(new Error(`dedup of ${from} ended with ${code}`));
      const { userCPUTime, systemCPUTime, maxRSS } = JSON.parse(told);
      const cpu = (userCPUTime + systemCPUTime) / 1e6;
      resolve({ cpu, wall: (performance.now() - begin) / 1e3, memory: maxRSS / 1e3 });
    });
  });
}
