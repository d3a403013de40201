// What the project began with: is each text, as it comes, a near-duplicate of one of the last two days? One call a text.
import { load } from './texts.mjs';

/** The window: documents of the last two days stay. */
const AGE = 2 * 24 * 3_600_000;

/** A service that had to look at a million texts an hour had so many milliseconds for each, on average. */
const LIMIT = 3.6;

/** Fingerprints per call that fills the window, and texts made before some are timed. */
const BATCH = 1 << 20;
const BLOCK = 1000;

/** `count` random fingerprints: those of the documents that are in the window already. */
function fingerprints(count) {
  const values = new BigUint64Array(count);
  // At most 65,536 bytes come from one call.
  for (let from = 0; from < count; from += 8192)
    crypto.getRandomValues(values.subarray(from, from + 8192));
  return values;
}

/** Random numbers below `end`, the same in every run: a linear congruence modulo 2^32 (Numerical Recipes), high bits. */
function numbers() {
  let state = 1;
  return (end) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * end);
  };
}

/** Texts of up to 500 characters: the beginning of one text of the set and the end of another, and now and then one again. */
function documents(texts, count, below, earlier) {
  return Array.from({ length: count }, (_, row) => {
    if (row % 20 === 19 && earlier.length > 0) return `${earlier[below(earlier.length)]}。`;
    const [one, other] = [texts[below(texts.length)], texts[below(texts.length)]];
    const [from, to] = [
      below(Math.max(1, one.length - 250)),
      below(Math.max(1, other.length - 250)),
    ];
    return one.slice(from, from + 250) + other.slice(to, to + 250);
  });
}

export async function bench(options) {
  const { Index } = await import('../dist/index.mjs');
  const at = options.indexOf('--size');
  const size = at >= 0 ? Number(options[at + 1].replaceAll('_', '')) : 1_000_000;
  const count = Math.ceil(Math.min(size / 4, 5_000_000) / BLOCK) * BLOCK;
  const { name, texts } = load('zh-news-eventmonitor');
  // Two windows pass in a minute: times run ahead of the clock.
  const index = new Index({
    maxDistance: 3,
    texts: false,
    capacity: size,
    window: { maxAge: AGE, maxSkew: Number.POSITIVE_INFINITY },
  });
  const start = Date.now();
  // As many milliseconds lie between two documents as keep `size` of them in the window.
  const time = (row) => start + Math.floor((row * AGE) / size);
  const filling = performance.now();
  for (let from = 0; from < size; from += BATCH) {
    const some = fingerprints(Math.min(BATCH, size - from));
    await index.addManyAsync(some, { at: Float64Array.from(some, (_, row) => time(from + row)) });
  }
  const fill = ((performance.now() - filling) * 1e6) / size;
  const before = index.stats();
  const below = numbers();
  let [duplicates, merging, earlier] = [0, 0, []];
  const latencies = new Float64Array(count);
  const { user, system } = process.cpuUsage();
  let worked = -(user + system) / 1000;
  let making = 0;
  for (let row = 0; row < count; row += BLOCK) {
    const used = process.cpuUsage();
    const block = documents(texts, BLOCK, below, earlier);
    earlier = block;
    const made = process.cpuUsage(used);
    making += (made.user + made.system) / 1000;
    for (const [place, text] of block.entries()) {
      const moment = time(size + row + place);
      const begin = performance.now();
      const { duplicateOf } = index.checkAndAdd(text, { at: moment });
      latencies[row + place] = performance.now() - begin;
      if (duplicateOf !== undefined) duplicates += 1;
    }
    if (index.stats().merging) merging += 1;
  }
  const after = process.cpuUsage();
  worked += (after.user + after.system) / 1000 - making;
  const { live, tableBytes, idBytes, windowBytes } = index.stats();
  if (live > size + 1 || live < size - 2 * count)
    throw new Error(`${live} documents in a window of ${size}`);
  index.close();
  const mean = latencies.reduce((sum, latency) => sum + latency, 0) / count;
  latencies.sort();
  const percentile = (share) => latencies[Math.floor((count - 1) * share)] * 1000;
  const against = (value, goal) => ({
    what: `${LIMIT} ms`,
    value: LIMIT * 1000,
    ratio: value / (LIMIT * 1000),
    goal,
  });
  const rate = 3_600_000 / mean;
  return {
    bench: 'window',
    setup: `${size} documents of two days, ${before.plan}; then ${count} texts of 500 characters (${name}), one call each, ${duplicates} of them duplicates; a merge was running at ${merging} of ${count / BLOCK} looks`,
    rows: [
      {
        what: 'check and add, mean',
        value: mean * 1000,
        unit: 'us',
        against: against(mean * 1000, '<= 1'),
      },
      { what: '  of processors, merges included', value: (worked * 1000) / count, unit: 'us' },
      { what: 'p50', value: percentile(0.5), unit: 'us' },
      {
        what: 'p99',
        value: percentile(0.99),
        unit: 'us',
        against: against(percentile(0.99), '<= 1 at 50 M'),
      },
      { what: 'p99.9', value: percentile(0.999), unit: 'us' },
      { what: 'longest', value: percentile(1), unit: 'us' },
      {
        what: 'documents per hour, one caller',
        value: rate / 1e6,
        unit: 'M',
        against: { what: '1 M per hour', value: 1, ratio: rate / 1e6, goal: '>= 1' },
      },
      { what: 'filling, in batches with times', value: fill, unit: 'ns/document' },
      {
        what: 'memory',
        value: (tableBytes + idBytes + windowBytes) / live,
        unit: 'bytes/document',
      },
    ],
  };
}
