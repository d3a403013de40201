// How `dedup` grows with the documents: processor time and memory for each, of generated corpora of 0.1, 0.3, 1, 3 and 10 million (`--size N`
// is the largest, 1 million without it; `--memory SIZE` a bound), and what 1 TB of such text would take on 16 cores, by arithmetic.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measured, root } from './dedup.mjs';
import { generate } from './generate.mjs';

const SIZES = [100_000, 300_000, 1_000_000, 3_000_000, 10_000_000];
const METHODS = ['minhash', 'simhash', 'sentences'];
const CORES = 16;

export async function bench(options) {
  const given = (name) => {
    const at = options.indexOf(name);
    return at >= 0 ? options[at + 1] : undefined;
  };
  const largest = Number((given('--size') ?? '1_000_000').replaceAll('_', ''));
  const memory = given('--memory');
  const within = memory === undefined ? [] : ['--memory', memory];
  const few = SIZES.filter((size) => size <= largest);
  const sizes = few.length > 0 ? few : [largest];
  const folder = mkdtempSync(join(tmpdir(), 'simhash-growth-'));
  const rows = [];
  const first = {};
  try {
    const [file, out] = [join(folder, 'in.jsonl'), join(folder, 'out')];
    for (const size of sizes) {
      const bytes = await generate(size, file);
      for (const method of METHODS) {
        const args = ['dedup', file, '-o', out, '--quiet', '--method', method, ...within];
        const { cpu, memory: held } = await measured(root, [...args, '--threads', '1']);
        const each = (cpu / size) * 1e6;
        first[method] ??= each;
        rows.push({
          what: `${method}: ${(size / 1e6).toLocaleString('en-US')} M documents`,
          value: each,
          unit: 'µs each',
          against: {
            what: `${(sizes[0] / 1e6).toLocaleString('en-US')} M`,
            value: first[method],
            ratio: each / first[method],
          },
        });
        rows.push({
          what: `${method}: ${(size / 1e6).toLocaleString('en-US')} M documents, memory`,
          value: (held * 1e6) / size,
          unit: 'bytes each',
        });
        if (size === sizes.at(-1)) {
          rows.push({
            what: `${method}: 1 TB on ${CORES} cores, by arithmetic from that`,
            value: ((1e12 / bytes) * cpu) / CORES / 3600,
            unit: 'h',
          });
        }
      }
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  const bound = memory === undefined ? '' : ` within ${memory}`;
  return {
    bench: 'growth',
    setup: `documents of benches/generate.mjs, one thread${bound}; processor time and memory of the whole process`,
    rows,
  };
}
