// How long additions wait while an index in memory is saved, and while a snapshot of one in a folder is written: what the copy of a
// moment costs them.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fingerprints } from './texts.mjs';

/** Milliseconds that one addition may wait. */
const LIMIT = 50;
const BATCH = 100_000;

const METHODS = {
  simhash: { maxDistance: 3, texts: false },
  minhash: { method: 'minhash', texts: false, signatures: false },
  sentences: { method: 'sentences', texts: false },
  exact: { method: 'exact' },
};

/** Texts that have nothing in common. */
const text = (row) =>
  `第${row}号通知关于城市第${row * 7919}条道路的改造。另有${row * 31}人参加会议。`;

export async function bench(options) {
  const { Index } = await import('../dist/index.mjs');
  const at = options.indexOf('--size');
  const size = at >= 0 ? Number(options[at + 1].replaceAll('_', '')) : 1_000_000;
  const folder = mkdtempSync(join(tmpdir(), 'simhash-pause-'));
  const rows = [];
  try {
    for (const [method, given, kept] of Object.entries(METHODS).flatMap(([method, given]) => [
      [method, given, false],
      [method, given, true],
    ])) {
      const path = join(folder, method);
      // No `using`: Node 20 does not know it.
      const index = kept ? await Index.open(path, given) : new Index(given);
      const some = (from, count) =>
        method === 'simhash'
          ? fingerprints(count)
          : Array.from({ length: count }, (_, row) => text(from + row));
      for (let from = 0; from < size; from += BATCH)
        await index.addManyAsync(some(from, Math.min(BATCH, size - from)));
      let [saving, longest, count] = [true, 0, 0];
      const to = `${path}.copy`;
      const saved = (kept ? index.snapshot(to) : index.save(to)).finally(() => {
        saving = false;
      });
      while (saving) {
        for (const item of some(size + count, 100)) {
          const begin = performance.now();
          index.add(item);
          longest = Math.max(longest, performance.now() - begin);
        }
        count += 100;
        await new Promise((done) => setImmediate(done));
      }
      await saved;
      await index.close();
      rmSync(to, { recursive: true });
      rows.push({
        what: `${method}, ${kept ? 'snapshot of a folder' : 'saved from memory'}: longest of the additions meanwhile`,
        value: longest,
        unit: 'ms',
        against: { what: `${LIMIT} ms`, value: LIMIT, ratio: longest / LIMIT, goal: '<= 1 at 5 M' },
      });
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return { bench: 'pause', setup: `${size} documents, written while others are added`, rows };
}
