#!/usr/bin/env node
// npm run bench -- NAME [--size N] [--seconds S] [--json FILE]     one bench, as a table
// npm run bench -- smoke                                           every bench, tiny: do they still run?
// npm run bench -- record [NAME…]                                  benches/RESULTS.md, see record.mjs
//
// Benches of the core crates live in src/ (Rust), those that need JavaScript beside this file. Each prints one report
// {bench, setup, rows: [{what, value, unit, against?: {what, value, ratio, goal?}}]}; this file only draws it.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '..');

const rust = [
  'scan',
  'search',
  'stream',
  'join',
  'live',
  'open',
  'durable',
  'merges',
  'overlap',
  'fingerprint',
  'corpora',
  'reading',
  'sketching',
];
const javascript = [
  'dedup',
  'growth',
  'large',
  'segment',
  'cut',
  'minhash',
  'batch',
  'single',
  'methods',
  'intake',
  'timers',
  'window',
  'pause',
  'readers',
  'stores',
  'sentences',
  'crowded',
  'quality',
  'labelled',
  'mongodb',
  'report',
  'serve',
  'log',
  'silence',
  'spark',
];
const names = [...rust, ...javascript];

/** Sizes and times at which a bench proves that it runs, and nothing else. */
const smoke = {
  scan: ['--size', '100000'],
  search: ['--size', '20000'],
  stream: ['--size', '20000'],
  join: ['--size', '20000'],
  live: ['--size', '50'],
  open: ['--size', '20000'],
  durable: ['--size', '300'],
  merges: ['--size', '20000'],
  overlap: ['--size', '20000'],
  fingerprint: ['--size', '50'],
  corpora: ['--size', '50'],
  reading: ['--size', '50'],
  sketching: ['--size', '50'],
  segment: ['--size', '0'],
  cut: ['--size', '0'],
  minhash: ['--size', '0'],
  timers: ['--size', '1000'],
  window: ['--size', '20000'],
  readers: ['--size', '20000'],
  stores: ['--size', '2000'],
  dedup: ['--size', '1000'],
  growth: ['--size', '1000'],
  large: ['--size', '1'],
  single: ['--size', '20000'],
  methods: ['--size', '100'],
  pause: ['--size', '2000'],
  quality: ['--set', 'sample'],
  sentences: ['--size', '200'],
  crowded: ['--size', '300'],
  mongodb: ['--size', '2000'],
  report: ['--size', '2000'],
  serve: ['--size', '500'],
  log: ['--size', '500'],
  silence: ['--size', '500'],
  spark: ['--size', '1000'],
};

function usage(message) {
  console.error(
    `${message}\nusage: npm run bench -- NAME|smoke|all [--size N] [--seconds S] [--json FILE]\nNAME: ${names.join(', ')}`,
  );
  process.exit(2);
}

/** The program of the benches in Rust: another one that was built, which a smoke test may take, or this one, optimised as what is published. */
let program = process.env.SIMHASH_BENCH;

/** The report of one bench of the core crates. */
export function runRust(name, options) {
  if (program === undefined) {
    const result = spawnSync('cargo', ['build', '--release', '--quiet', '-p', 'simhash-bench'], {
      cwd: root,
      stdio: 'inherit',
    });
    if (result.status !== 0) throw new Error('cargo build -p simhash-bench failed');
    const target = process.env.CARGO_TARGET_DIR ?? join(root, 'target');
    const suffix = process.platform === 'win32' ? '.exe' : '';
    program = join(target, 'release', `simhash-bench${suffix}`);
  }
  return JSON.parse(
    execFileSync(program, [name, ...options], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  );
}

async function run(name, options) {
  if (rust.includes(name)) return runRust(name, options);
  if (!existsSync(join(root, 'dist/index.js')))
    throw new Error('dist/ is missing: run `npm run build` first');
  const { bench } = await import(pathToFileURL(join(here, `${name}.mjs`)).href);
  return bench(options);
}

const number = (value) =>
  value >= 100 ? value.toFixed(0) : value >= 1 ? value.toFixed(2) : value.toPrecision(3);

function draw(report) {
  const rows = report.rows.map(({ what, value, unit, against }) => [
    what,
    `${number(value)} ${unit}`,
    against ? `${number(against.ratio)} x ${against.what}` : '',
    against?.goal ?? '',
  ]);
  const table = [['what', 'measured', 'ratio', 'goal'], ...rows];
  const widths = table[0].map((_, column) => Math.max(...table.map((row) => row[column].length)));
  console.log(`\n${report.bench}: ${report.setup}`);
  for (const [at, row] of table.entries()) {
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column]))
        .join('  ')
        .trimEnd(),
    );
    if (at === 0) console.log(widths.map((width) => '-'.repeat(width)).join('  '));
  }
}

async function main() {
  const [name, ...options] = process.argv.slice(2);
  if (name === undefined) usage('which bench?');
  if (name === 'record') {
    const { record } = await import('./record.mjs');
    return record(options, run);
  }
  const wanted = name === 'smoke' || name === 'all' ? names : [name];
  for (const one of wanted) if (!names.includes(one)) usage(`unknown bench '${one}'`);
  const at = options.indexOf('--json');
  const [, file] = at >= 0 ? options.splice(at, 2) : [];
  if (at >= 0 && file === undefined) usage('--json needs a file');
  const machine = {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    node: process.version,
  };
  console.log(`${machine.cpu}, ${machine.cores} cores, Node ${machine.node}`);
  const reports = [];
  for (const one of wanted) {
    const report = await run(
      one,
      name === 'smoke' ? [...(smoke[one] ?? []), '--seconds', '0.02'] : options,
    );
    draw(report);
    reports.push(report);
  }
  if (file !== undefined) writeFileSync(file, `${JSON.stringify({ machine, reports }, null, 2)}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  main().catch((error) => {
    console.error(error.message);
    process.exit(1);
  });
}
