// How long a service of a shared window applies nothing while it writes a snapshot, although there is something to apply all the time.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Milliseconds that it may be silent. */
const LIMIT = 50;
const BATCH = 2048;
/** Checks that are under way at any time. */
const UNDER_WAY = 4;
/** Ideographs of a text. */
const SIGNS = 40;

/** Texts that have nothing in common. */
function text(row) {
  let state = (row + 1) * 0x9e3779b1;
  const signs = Array.from({ length: SIGNS }, () => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x6d2b79f5;
    return 0x4e00 + (((state ^ (state >>> 13)) >>> 0) % 20_000);
  });
  return String.fromCodePoint(...signs);
}

/** The longest time in which no check came back, while `work` is under way; UNDER_WAY of them always wait. */
async function silence(shared, from, work) {
  let [isOver, longest, count, last] = [false, 0, 0, performance.now()];
  const one = async () => {
    while (!isOver) {
      const n = from + count++;
      await shared.check(text(n), { key: `s${n}` });
      const now = performance.now();
      longest = Math.max(longest, now - last);
      last = now;
    }
  };
  const all = Array.from({ length: UNDER_WAY }, one);
  const start = performance.now();
  await work();
  const seconds = (performance.now() - start) / 1000;
  isOver = true;
  await Promise.all(all);
  return { longest, count, seconds };
}

export async function bench(options) {
  const { MemoryLog, SharedIndex } = await import('../dist/log.mjs');
  const at = options.indexOf('--size');
  const size = at >= 0 ? Number(options[at + 1].replaceAll('_', '')) : 100_000;
  const folder = mkdtempSync(join(tmpdir(), 'simhash-silence-'));
  const rows = [];
  try {
    const log = new MemoryLog();
    const shared = await SharedIndex.open(join(folder, 'service'), log, {
      snapshots: join(folder, 'snapshots'),
      window: { maxAge: 172_800_000 },
    });
    await shared.ready();
    for (let from = 0; from < size; from += BATCH) {
      const rows = Array.from({ length: Math.min(BATCH, size - from) }, (_, n) => from + n);
      await shared.checkMany(rows.map(text), { keys: rows.map((n) => `k${n}`) });
      // The log keeps what it is given in the memory of this process.
      await log.trim(shared.position);
    }
    const written = await silence(shared, size, () => shared.snapshot());
    const { seconds } = written;
    const quiet = await silence(shared, size + written.count, async () => {
      await new Promise((done) => setTimeout(done, Math.max(seconds, 1) * 1000));
    });
    rows.push({
      what: 'longest silence of the applier while a snapshot is written',
      value: written.longest,
      unit: 'ms',
      against: {
        what: `${LIMIT} ms`,
        value: LIMIT,
        ratio: written.longest / LIMIT,
        goal: '<= 1 at 5 M',
      },
    });
    rows.push({ what: 'as long without a snapshot', value: quiet.longest, unit: 'ms' });
    rows.push({ what: 'the snapshot', value: seconds, unit: 's' });
    rows.push({ what: 'checks meanwhile', value: written.count / seconds, unit: 'checks/s' });
    await shared.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
  const setup = `${size} texts of ${SIGNS} ideographs, minhash, verified, with keys, a log in memory, ${UNDER_WAY} checks under way`;
  return { bench: 'silence', setup, rows };
}
