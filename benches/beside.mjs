#!/usr/bin/env node
// node benches/beside.mjs OLD NAME… [--rounds N] [--json FILE] [-- options of the benches]
//
// The benches of another checkout (OLD, built like this one) and of this one in turns, N times (default 7): of each row that both have
// the medians, and new by old. A row is worse where that is above 1.05, or above 1.10 where OLD against itself spreads by more than 5 %
// (the distance of its quartiles, by its median). The exit status is 1 where a row is.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const NEW = join(dirname(fileURLToPath(import.meta.url)), '..');
/** Units of which more is better. */
const RATES = /\/s$|^M$/;

const [given, passed] = split(process.argv.slice(2), '--');
const rounds = Number(take('--rounds') ?? 7);
const file = take('--json');
const [folder, ...names] = given;
if (folder === undefined || names.length === 0 || !(rounds >= 1)) {
  console.error('usage: node benches/beside.mjs OLD NAME… [--rounds N] [--json FILE] [-- options]');
  process.exit(2);
}
const OLD = resolve(folder);
const results = [];
for (const name of names) {
  const runs = { old: [], new: [] };
  for (let round = 0; round < rounds; round++) {
    // Who goes first changes, for what the first leaves in caches.
    const turn = [
      ['old', OLD],
      ['new', NEW],
    ];
    for (const [side, root] of round % 2 === 0 ? turn : turn.reverse())
      runs[side].push(measured(root, name));
  }
  results.push(...compared(name, runs));
}
draw(results);
if (file !== undefined) writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
process.exitCode = results.some(({ worse }) => worse) ? 1 : 0;

function split(all, at) {
  const place = all.indexOf(at);
  return place < 0 ? [all, []] : [all.slice(0, place), all.slice(place + 1)];
}

function take(option) {
  const at = given.indexOf(option);
  return at < 0 ? undefined : given.splice(at, 2)[1];
}

/** The rows of one run of a bench, by name. */
function measured(root, name) {
  const work = mkdtempSync(join(tmpdir(), 'simhash-beside-'));
  const report = join(work, 'report.json');
  try {
    execFileSync(
      process.execPath,
      [join(root, 'benches/run.mjs'), name, ...passed, '--json', report],
      { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] },
    );
    const { reports } = JSON.parse(readFileSync(report, 'utf8'));
    return new Map(reports.flatMap(({ rows }) => rows.map((row) => [row.what, row])));
  } finally {
    rmSync(work, { recursive: true });
  }
}

function compared(bench, runs) {
  const both = [...runs.new[0].keys()].filter((what) => runs.old[0].has(what));
  return both.map((what) => {
    const { unit } = runs.new[0].get(what);
    const [before, after] = [runs.old, runs.new].map((all) =>
      all.map((rows) => rows.get(what)?.value ?? Number.NaN).sort((a, b) => a - b),
    );
    const [old, now] = [quantile(before, 0.5), quantile(after, 0.5)];
    const spread = (quantile(before, 0.75) - quantile(before, 0.25)) / old;
    const ratio = RATES.test(unit) ? old / now : now / old;
    const limit = spread > 0.05 ? 1.1 : 1.05;
    return { bench, what, unit, old, new: now, ratio, spread, limit, worse: ratio > limit };
  });
}

function quantile(sorted, share) {
  const place = (sorted.length - 1) * share;
  const [low, high] = [Math.floor(place), Math.ceil(place)];
  return sorted[low] + (sorted[high] - sorted[low]) * (place - low);
}

function draw(rows) {
  console.log('| bench | what | old | new | new by old | spread of old | limit |');
  console.log('|---|---|--:|--:|--:|--:|--:|');
  for (const { bench, what, unit, old, new: now, ratio, spread, limit, worse } of rows) {
    const by = worse ? `**${ratio.toFixed(3)}**` : ratio.toFixed(3);
    const share = `${(100 * spread).toFixed(1)} %`;
    console.log(
      `| ${bench} | ${what} | ${old.toPrecision(4)} ${unit} | ${now.toPrecision(4)} | ${by} | ${share} | ${limit} |`,
    );
  }
}
