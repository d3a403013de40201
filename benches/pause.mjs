// How long additions wait while an index is saved: what the copy of a moment costs them.
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
    for (const [method, given] of Object.entries(METHODS)) {
      // No `using`: Node 20 does not know it.
      const index = new Index(given);
      const some = (from, count) =>
        method === 'simhash'
          ? fingerprints(count)
          : Array.from({ length: count }, (_, row) => text(from + row));
      for (let from = 0; from < size; from += BATCH)
        await index.addManyAsync(some(from, Math.min(BATCH, size - from)));
      let [saving, longest, count] = [true, 0, 0];
      const saved = index.save(join(folder, method)).finally(() => {
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
      index.close();
      rows.push({
        what: `${method}: longest of the additions meanwhile`,
        value: longest,
        unit: 'ms',
        against: { what: `${LIMIT} ms`, value: LIMIT, ratio: longest / LIMIT, goal: '<= 1 at 5 M' },
      });
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return { bench: 'pause', setup: `${size} documents, saved while others are added`, rows };
}
