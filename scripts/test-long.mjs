// npm run test:long [-- STEP…]: what takes too long for every day. Without names all steps run; one that lacks its tool says so.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';

const crates = (...names) => names.flatMap((name) => ['-p', `simhash-${name}`]);
const ofDedup = (tests) => tests.flatMap((name) => ['--test', name]);
const long = { SIMHASH_LONG: '1' };

/** Seconds that each fuzz target runs. */
const FUZZ = 60;

const STEPS = {
  /** The doors to a duplicate on all of the real corpora, where they are. */
  doors: () => run('npx', ['vitest', 'run', '__test__/doors.test.ts'], long),
  /** 200 rounds of kill -9 in place of 10, of all that writes into a folder. */
  kills: () =>
    test(
      [...crates('dedup'), ...ofDedup(['live_directory', 'index_run', 'index_killed', 'convert'])],
      'kill',
    ),
  /** Every byte of every kind of file of an index flipped, every length cut, and thousands of changes under right checksums. */
  damage: () => test([...crates('dedup'), ...ofDedup(['index_damage'])]),
  /** 3 million documents, killed with -9 many times in every stage and gone on with: some 3 GB of disk. */
  resume: () => run('npx', ['vitest', 'run', '__test__/cli.resume.test.ts'], long),
  /**
   * Chains, buckets, copies, empty texts, one cluster and one length in their full sizes, by every method, killed in every stage. One
   * after the other: a bound is that of the whole process.
   */
  corpora: () => test([...crates('dedup'), ...ofDedup(['hard_corpora'])], '--test-threads=1'),
  /** A run over a collection of MongoDB, killed before and behind each of its commands. */
  mongodb: () => run('npx', ['vitest', 'run', '__test__/mongodb.kill.test.ts'], long),
  /** 100,000 pairs that come to five processes at once, and 100 rounds of kill -9, over Redis and over NATS. */
  log: () => run('npx', ['vitest', 'run', '__test__/log.servers.test.ts'], long),
  /** 50 rounds of kill -9 of the server under load: what was answered is there. */
  serve: () =>
    run('npx', ['vitest', 'run', '__test__/serve.killed.test.ts'], { SIMHASH_KILLS: '50' }),
  /** Spark with the bytes of the command line on 60,000 documents: both modes, three keep rules, 1 and 64 parts, a killed executor. */
  spark: () =>
    run('npx', ['vitest', 'run', '__test__/spark.test.ts'], { SIMHASH_SPARK_MATRIX: 'all' }),
  /** A run over twenty times as many documents as its memory is enough for: some 6 GB of disk. */
  memory: () => test([...crates('dedup'), ...ofDedup(['bounded'])], 'holds'),
  /** Every parser and loader on hostile input, under AddressSanitizer. */
  fuzz: () => {
    if (!has('cargo', '+nightly', 'fuzz', '--version')) {
      return lacks('fuzz', 'cargo-fuzz and a nightly compiler (cargo install cargo-fuzz)');
    }
    const targets = readdirSync(new URL('../fuzz/fuzz_targets/', import.meta.url));
    if (!run('node', ['fuzz/seeds.mjs'])) return false;
    return targets.every((file) => {
      const name = file.replace(/\.rs$/, '');
      return run('cargo', ['+nightly', 'fuzz', 'run', name, '--', `-max_total_time=${FUZZ}`]);
    });
  },
  /** The tests of the crates with unsafe code under AddressSanitizer. */
  asan: () => {
    if (!has('cargo', '+nightly', '--version')) return lacks('asan', 'a nightly compiler');
    // A target of its own, so that what runs while building is not built with it.
    const of = [...crates('text', 'sketch', 'store', 'index'), '--lib', '--tests'];
    const target = ['--target', 'x86_64-unknown-linux-gnu', '--target-dir', 'target/asan'];
    return run('cargo', ['+nightly', 'test', ...of, ...target], {
      RUSTFLAGS: '-Zsanitizer=address',
      // A test asks for more memory than there is.
      ASAN_OPTIONS: 'allocator_may_return_null=1',
    });
  },
  /** The small tests of the portable code under Miri. */
  miri: () => {
    if (!has('cargo', '+nightly', 'miri', '--version')) {
      return lacks('miri', 'Miri (rustup component add miri --toolchain nightly)');
    }
    const miri = (...of) =>
      run('cargo', ['+nightly', 'miri', 'test', ...of], { MIRIFLAGS: '-Zmiri-disable-isolation' });
    return (
      miri(...crates('store', 'sketch'), '--lib') &&
      miri(...crates('index'), '--lib', '--', 'memory::', 'live::queue')
    );
  },
};

function run(command, args, env = {}) {
  console.log(`$ ${command} ${args.join(' ')}`);
  const { status } = spawnSync(command, args, {
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  return status === 0;
}

function test(what, ...args) {
  return run('cargo', ['test', '--release', ...what, '--', ...args], long);
}

function has(command, ...args) {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

/** Steps that lack their tools. */
const skipped = [];

function lacks(step, tool) {
  console.log(`${step}: skipped, it needs ${tool}`);
  skipped.push(step);
  return true;
}

const named = process.argv.slice(2);
const unknown = named.filter((name) => !Object.hasOwn(STEPS, name));
if (unknown.length > 0) {
  console.error(`no step ${unknown.join(', ')}; there are ${Object.keys(STEPS).join(', ')}`);
  process.exit(2);
}
const failed = (named.length > 0 ? named : Object.keys(STEPS)).filter((name) => !STEPS[name]());
const others = skipped.length > 0 ? `, but for ${skipped.join(', ')}, which were skipped` : '';
console.log(failed.length > 0 ? `failed: ${failed.join(', ')}` : `all steps passed${others}`);
process.exitCode = failed.length > 0 ? 1 : 0;
