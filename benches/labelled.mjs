// How many of the labelled pairs (__test__/labelled) `dedup` calls rightly by default, kind by kind, and every one that it does not.
// `--seed N` draws other numbers into the templates, which are half of the pairs.
import {
  BARS,
  INSIDE,
  labelledPairs,
  SEED,
  scoreLabelled,
  wrongLine,
} from '../__test__/labelled/score.mjs';

const share = (value) => (value === undefined ? '' : value.toFixed(4));

/** A row for each kind, those inside the bars first: pairs, those labelled the same, those called so, the shares, how many are wrong. */
export function kindRows({ inside, outside, kinds }) {
  const row = (name, { pairs, same, called, right, precision, recall }) => [
    name,
    ...[pairs, same, called].map(String),
    ...[share(precision), share(recall), `${called + same - 2 * right}`],
  ];
  const of = (fits) => kinds.filter(({ kind }) => INSIDE.includes(kind) === fits);
  return [
    ...of(true).map((counts) => row(counts.kind, counts)),
    row('inside the bars', inside),
    ...of(false).map((counts) => row(counts.kind, counts)),
    row('outside the bars', outside),
  ];
}

export const HEAD = ['kind', 'pairs', 'same', 'called same', 'precision', 'recall', 'wrong'];

/** The labelled set, scored with the library given. */
export const labelled = (library, seed) => scoreLabelled(library, labelledPairs(seed));

function draw(score) {
  const table = [HEAD, ...kindRows(score)];
  const widths = HEAD.map((_, column) => Math.max(...table.map((row) => row[column].length)));
  const line = (row) =>
    row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column]),
    );
  console.log(`\n${table.map((row) => line(row).join('  ')).join('\n')}`);
  for (const { kind } of score.kinds) {
    const wrong = score.wrong.filter((pair) => pair.kind === kind);
    if (wrong.length === 0) continue;
    console.log(`\n${kind}${INSIDE.includes(kind) ? '' : ' (outside the bars)'}`);
    for (const pair of wrong) console.log(`  ${wrongLine(pair)}`);
  }
}

export async function bench(options) {
  const at = options.indexOf('--seed');
  const seed = at < 0 ? SEED : Number(options[at + 1]);
  if (!Number.isInteger(seed) || seed < 0 || seed >= 2 ** 32)
    throw new Error('--seed needs a whole number from 0 to 4294967295');
  const score = await labelled(await import('../dist/index.mjs'), seed);
  draw(score);
  const { inside, kinds, wrong } = score;
  const held = (name) => ({
    what: `${name}, kinds inside the bars`,
    value: inside[name] ?? 0,
    unit: name,
    against: {
      what: 'the bar',
      value: BARS[name],
      ratio: (inside[name] ?? 0) / BARS[name],
      goal: `>= ${BARS[name]}`,
    },
  });
  return {
    bench: 'labelled',
    setup: `${kinds.reduce((sum, { pairs }) => sum + pairs, 0)} labelled pairs, templates with seed ${seed}`,
    rows: [held('precision'), held('recall')],
    kinds,
    wrong,
  };
}
