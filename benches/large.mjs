// A file of 4 GB within `--memory 1G`, with two threads: how fast beside reading and sketching alone, processor time and memory. Documents as
// long as those of the corpora with exact truth, and articles of 5,000 bytes. `--size N` is the megabytes of each file.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measured, root } from './dedup.mjs';
import { generate } from './generate.mjs';
import { runRust } from './run.mjs';

/** What documents are, how many bytes each has about, in the file, and those of its text where they are alike. */
const KINDS = [
  { name: 'titles to pages', each: 190 },
  { name: 'articles', each: 5036, text: 5000 },
];
const MEGABYTES = 4_000;
const SEED = 1;
/** The share of the documents that is read and sketched alone. */
const ALONE = 0.05;
/** What `measured` calls a megabyte is a thousand KiB. */
const BOUND = { name: '1G', megabytes: 1024 ** 2 / 1e3 };

export async function bench(options) {
  const at = options.indexOf('--size');
  const bytes = (at < 0 ? MEGABYTES : Number(options[at + 1].replaceAll('_', ''))) * 1e6;
  const folder = mkdtempSync(join(tmpdir(), 'simhash-large-'));
  const rows = [];
  try {
    for (const { name, each, text } of KINDS) {
      const [file, out] = [join(folder, 'in.jsonl'), join(folder, 'out.jsonl')];
      const documents = Math.max(Math.round(bytes / each), 1);
      // Of the first documents alone, for each is as fast as the next.
      await generate(Math.ceil(documents * ALONE), file, SEED, text);
      const alone = runRust('sketching', ['--file', file, '--seconds', '0.02']);
      const sketching = alone.rows.find(({ what }) => what.endsWith('two threads')).value;
      const megabytes = (await generate(documents, file, SEED, text)) / 1e6;
      const args = ['dedup', file, '-o', out, '--quiet', '--threads', '2'];
      const run = await measured(root, [...args, '--memory', BOUND.name]);
      const against = (what, value, other, goal) => ({
        against: { what, value: other, ratio: value / other, ...(at < 0 && { goal }) },
      });
      const rate = megabytes / run.wall;
      rows.push(
        {
          what: `${name}: ${documents.toLocaleString('en-US')} documents within ${BOUND.name}`,
          value: rate,
          unit: 'MB/s',
          ...against('reading and sketching alone', rate, sketching, '>= 0.7'),
        },
        {
          what: `${name}: processor time of each document`,
          value: (run.cpu * 1e6) / documents,
          unit: 'us',
        },
        {
          what: `${name}: most memory`,
          value: run.memory,
          unit: 'MB',
          ...against('the bound', run.memory, BOUND.megabytes, '<= 1.1'),
        },
      );
      rmSync(file);
      rmSync(out);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return {
    bench: 'large',
    setup: `files of ${(bytes / 1e6).toLocaleString('en-US')} MB of benches/generate.mjs, minhash with the defaults, two threads, wall time`,
    rows,
  };
}
