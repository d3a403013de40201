// Documents to measure on, and the clock that every bench here uses.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** The texts of `../shared/data/SET`, or of the sample in this repository where that is absent; the name says which. */
export function load(set) {
  const shared = join(root, '../shared/data', set, 'docs.jsonl.gz');
  const found = existsSync(shared);
  const bytes = found
    ? gunzipSync(readFileSync(shared))
    : readFileSync(join(root, 'examples/sample.jsonl'));
  const texts = bytes
    .toString('utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line).text);
  return {
    name: found ? set : `examples/sample.jsonl (../shared/data/${set} is absent)`,
    texts,
    bytes: texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0),
  };
}

/** Least seconds of one call of `work` (or the seconds it returns), repeated for `--seconds` (default 0.5), three times at least. */
export async function best(options, work) {
  const at = options.indexOf('--seconds');
  const budget = at >= 0 ? Number(options[at + 1]) : 0.5;
  const start = performance.now();
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3 || performance.now() - start < budget * 1000; round++) {
    const begin = performance.now();
    const own = await work();
    least = Math.min(least, typeof own === 'number' ? own : (performance.now() - begin) / 1000);
  }
  return least;
}

/** Random fingerprints. */
export function fingerprints(count) {
  const values = new BigUint64Array(count);
  for (let from = 0; from < count; from += 8192)
    crypto.getRandomValues(values.subarray(from, from + 8192));
  return values;
}
