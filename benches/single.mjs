// One call per fingerprint from TypeScript, and one call for many, beside the same index in Rust.
import { runRust } from './run.mjs';
import { best } from './texts.mjs';

/** What one call across the border may cost beyond Rust, in nanoseconds. */
const ACROSS = 700;
const QUERIES = 100_000;

/** `count` random fingerprints. */
function random(count) {
  const values = new BigUint64Array(count);
  // At most 65,536 bytes come from one call.
  for (let from = 0; from < count; from += 8192)
    crypto.getRandomValues(values.subarray(from, from + 8192));
  return values;
}

export async function bench(options) {
  const { Index } = await import('../dist/index.mjs');
  const at = options.indexOf('--size');
  const size = at >= 0 ? Number(options[at + 1].replaceAll('_', '')) : 1_000_000;
  const values = random(size);
  const index = new Index({ maxDistance: 3, texts: false });
  await index.addManyAsync(values);
  await index.compact();
  const queries = {
    'finds nothing': random(QUERIES),
    'finds a document': BigUint64Array.from(
      { length: QUERIES },
      (_, row) => values[(row * 7919) % size] ^ 0x100000010000001n,
    ),
  };
  const rust = Object.fromEntries(
    runRust('search', ['--size', `${size}`, ...secondsOf(options)]).rows.map((row) => [
      row.what,
      row.value,
    ]),
  );
  const rows = [];
  for (const [kind, asked] of Object.entries(queries)) {
    const [name, found] =
      kind === 'finds nothing'
        ? ['search, k = 3, random: finds nothing', 0]
        : ['search, k = 3, that finds a document', QUERIES];
    const own = [...asked];
    let matches = 0;
    const one = await perQuery(options, () => {
      matches = 0;
      for (const query of own) matches += index.search(query).length;
    });
    if (Math.abs(matches - found) > QUERIES / 100) throw new Error(`${matches} matches`);
    const many = await perQuery(options, () => index.searchMany(asked));
    const native = rust[name];
    rows.push(
      { what: `Rust, ${kind}`, value: native, unit: 'ns' },
      {
        what: `search, ${kind}`,
        value: one,
        unit: 'ns',
        against: {
          what: 'Rust + 0.7 us',
          value: native + ACROSS,
          ratio: one / (native + ACROSS),
          goal: '<= 1 at 1 M',
        },
      },
      {
        what: `searchMany, ${kind}`,
        value: many,
        unit: 'ns of processors',
        against: { what: 'Rust', value: native, ratio: many / native, goal: '<= 1.1 at 1 M' },
      },
    );
  }
  const fresh = new Index({ maxDistance: 3, texts: false });
  const added = await perQuery(options, () => {
    for (const value of queries['finds nothing']) fresh.checkAndAdd(value);
  });
  rows.push({ what: 'checkAndAdd, mostly known', value: added, unit: 'ns' });
  return {
    bench: 'single',
    setup: `${size} random fingerprints, sealed; ${QUERIES} queries; times of all processors`,
    rows,
  };
}

const secondsOf = (options) => {
  const at = options.indexOf('--seconds');
  return at >= 0 ? options.slice(at, at + 2) : [];
};

/** Nanoseconds of processors per query. */
async function perQuery(options, work) {
  const seconds = await best(options, () => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1e6;
  });
  return (seconds * 1e9) / QUERIES;
}
