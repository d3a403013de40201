// Whole runs of `dedup` from file to file: processor seconds and memory of the process, by method, threads and stage, beside another
// checkout (`--old DIR`, built like this one), reading and hashing alone, and reading and sketching alone; with `--memory SIZE` as well
// within that bound.
import { spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lines } from './corpora.mjs';
import { runRust } from './run.mjs';
import { stages } from './stages.mjs';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const shared = join(root, '../shared/data');
/** 592,598 documents: news, titles, documentation. */
const SETS = ['zh-news-eventmonitor', 'zh-hotsearch-titles', 'zh-docs-tidb'];
/** Rounds, of which the median counts; what is compared takes turns. */
const ROUNDS = 9;
const METHODS = ['minhash', 'simhash', 'sentences'];

export async function bench(options) {
  const given = (name) => {
    const at = options.indexOf(name);
    return at >= 0 ? options[at + 1] : undefined;
  };
  const size = given('--size');
  const old = given('--old');
  const memory = given('--memory');
  const rounds = size === undefined ? ROUNDS : 1;
  const folder = mkdtempSync(join(tmpdir(), 'simhash-dedup-'));
  const rows = [];
  /** Seconds of whole runs by the default method. */
  const rates = {};
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
      const bound = memory === undefined ? [] : ['--memory', memory];
      if (memory !== undefined) {
        const [within] = await repeated(rounds, [() => run(root, [...both, ...bound])]);
        row(`within ${memory}`, within.cpu, 's', 'in memory', double.cpu, '<= 1.2');
        row(`within ${memory}, most memory`, within.memory, 'MB');
        if (method === METHODS[0]) rates.within = within.wall;
      }
      if (method === METHODS[0]) rates.whole = double.wall;
      const args = ['dedup', path, '-o', join(folder, 'out'), '--quiet', ...both, ...bound];
      const spent = await stages(join(root, 'dist/cli/bin.js'), args, folder);
      for (const [name, seconds] of Object.entries(spent)) {
        row(`two threads, ${name}`, seconds, 's');
      }
    }
    const alone = runRust('sketching', ['--file', path, '--seconds', '0.02']);
    const sketching = alone.rows.find(({ what }) => what.endsWith('two threads')).value;
    const megabytes = statSync(path).size / 1e6;
    for (const [name, seconds] of Object.entries(rates)) {
      const what = name === 'whole' ? 'two threads' : `two threads within ${memory}`;
      rows.push({
        what: `minhash: ${what}, of the file`,
        value: megabytes / seconds,
        unit: 'MB/s',
        against: {
          what: 'reading and sketching alone',
          value: sketching,
          ratio: megabytes / seconds / sketching,
          // Small files are mostly what a run costs beside them.
          ...(megabytes >= 4000 && { goal: '>= 0.7' }),
        },
      });
    }
    return { bench: 'dedup', setup: `${count} documents: ${name}`, rows };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The documents as one file. */
function corpus(file, size, folder) {
  if (file !== undefined && size === undefined && file.endsWith('.jsonl')) {
    // As it is: it may be larger than what fits into memory.
    return { path: resolve(file), name: file, count: newlines(file) };
  }
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

/** How many lines a file has. */
function newlines(path) {
  const [file, bytes] = [openSync(path), Buffer.alloc(1 << 20)];
  let count = 0;
  for (;;) {
    const read = readSync(file, bytes);
    if (read === 0) break;
    for (let at = bytes.indexOf(10); at >= 0 && at < read; at = bytes.indexOf(10, at + 1)) count++;
  }
  closeSync(file);
  return count;
}

/** The median of each figure of each, in turns. */
async function repeated(rounds, runs) {
  const all = runs.map(() => []);
  for (let round = 0; round < rounds; round++)
    for (const [at, run] of runs.entries()) all[at].push(await run());
  const median = (each, figure) =>
    each.map((one) => one[figure]).sort((a, b) => a - b)[each.length >> 1];
  return all.map((each) =>
    Object.fromEntries(['cpu', 'wall', 'memory'].map((figure) => [figure, median(each, figure)])),
  );
}

/**
 * Seconds and megabytes of one run of the command line of a checkout. Certificates that the machine names are not read: Node does so at each
 * start, for 0.08 s on one machine, and no run here needs them.
 */
export function measured(from, args) {
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
  const begin = performance.now();
  const child = spawn(
    process.execPath,
    [
      '--require',
      fileURLToPath(new URL('usage.cjs', import.meta.url)),
      join(from, 'dist/cli/bin.js'),
      ...args,
    ],
    { env, stdio: ['ignore', 'ignore', 'inherit', 'pipe'] },
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
