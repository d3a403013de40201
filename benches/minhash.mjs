// MinHash signatures per scheme on one core, beside those of other packages on the same sets of features.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { peers } from './peers/install.mjs';
import { runRust } from './run.mjs';
import { load } from './texts.mjs';

const here = dirname(fileURLToPath(import.meta.url));

/** Characters per feature. */
const NGRAM = 5;

/** The distinct 5-grams of a text, as strings: what every side gets. */
function shingles(text) {
  const characters = [...text];
  const set = new Set();
  for (let at = 0; at + NGRAM <= characters.length; at++)
    set.add(characters.slice(at, at + NGRAM).join(''));
  return [...set];
}

/** What a peer prints, or why it could not run. */
function measured(name, command, args) {
  try {
    const env = { ...process.env, RAYON_NUM_THREADS: '1', OMP_NUM_THREADS: '1' };
    return JSON.parse(
      execFileSync(command, args, { encoding: 'utf8', env, stdio: ['ignore', 'pipe', 'pipe'] }),
    );
  } catch (error) {
    console.error(
      `minhash: ${name} is left out: ${String(error.stderr || error.message)
        .trim()
        .split('\n')
        .pop()}`,
    );
    return [];
  }
}

/** Our figure that does the same work as the peer's, and what the ratio has to be. */
const RIVALS = {
  'npm minhash, strings': ['fast-similarity, strings', '>= 100'],
  'rensa RMinHash, strings': ['fast-similarity, strings', '>= 2'],
  'rensa RMinHash, hashed': ['fast-similarity, hashed', '>= 1'],
  'rensa CMinHash, strings': ['fast-similarity, strings', undefined],
  'rensa CMinHash, hashed': ['fast-similarity, hashed', undefined],
  'datasketch, strings': ['fast-similarity, strings', undefined],
};

/** `--size 0`: without peers. */
export async function bench(options) {
  const value = (flag, otherwise) =>
    options.includes(flag)
      ? Number(options[options.indexOf(flag) + 1].replaceAll('_', ''))
      : otherwise;
  const [size, seconds] = [value('--size', 500), value('--seconds', 1)];
  const corpus = load('zh-news-eventmonitor');
  const folder = mkdtempSync(join(tmpdir(), 'simhash-minhash-'));
  const file = join(folder, 'sets.jsonl');
  try {
    const sets = corpus.texts
      .slice(0, size || 20)
      .map(shingles)
      .filter((set) => set.length > 0);
    writeFileSync(file, sets.map((set) => `${JSON.stringify(set)}\n`).join(''));
    const report = runRust('minhash', ['--file', file, '--seconds', String(seconds)]);
    const ours = new Map(report.rows.map(({ what, value }) => [what, value]));
    report.setup = `${corpus.name}: ${report.setup}`;
    if (size === 0) return report;
    const { folder: installed, python, missing } = peers();
    for (const [registry, why] of Object.entries(missing))
      if (why) console.error(`minhash: peers from ${registry} are not installed: ${why}`);
    const found = [
      ...(missing.npm
        ? []
        : measured('npm minhash', process.execPath, [
            join(here, 'peers/npm_minhash.cjs'),
            installed,
            file,
            String(4 * seconds),
          ])),
      ...(missing.pypi
        ? []
        : measured('PyPI', python, [join(here, 'peers/pypi.py'), file, String(seconds)])),
    ];
    for (const { what, nanoseconds } of found) {
      const [rival, goal] = RIVALS[what];
      const own = ours.get(rival);
      report.rows.push({
        what,
        value: nanoseconds,
        unit: 'ns/feature',
        against: {
          what: `ours (${rival})`,
          value: own,
          ratio: nanoseconds / own,
          ...(goal && { goal }),
        },
      });
    }
    return report;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
