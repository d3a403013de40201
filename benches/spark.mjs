// `dedup` on Spark beside the command line with one thread: processor time for each further document, of the whole tree of processes (Spark
// itself, Python, workers), between a fifth of the documents and all (`--size N`, 3,000,000 without it; generated, or `--file PATH`), so that
// what Spark takes to start counts for nothing; by stage, as the driver tells it; bytes shuffled for each document; and what 5 TB of such
// text would take, by arithmetic: the last of generated documents of 500 bytes, a fifth as many. One core (local[1]). Linux, and what
// docs/scale.md says that Spark needs.
import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { lines } from './corpora.mjs';
import { measured, root } from './dedup.mjs';
import { generate } from './generate.mjs';

const SIZE = 3_000_000;
/** Bytes of the documents of which hours are told. */
const LENGTH = 500;
/** Of a task, of which there is one at a time. */
const MEMORY = '4G';
/** Below that a bench only proves that it runs: once, and from no documents on. */
const SMALL = 10_000;
const TEXTS = 5e12;
/** Core-hours of others for 5 TB: 1,280 cores for 168 minutes (data-juicer), 160 for 40 minutes and 319 GB (bigcode). */
const OTHERS = { 'data-juicer': 3584, bigcode: 1670 };
/** Of the system's clock by which processor time is told; 100 on every Linux of today. */
const TICKS = 100;

/** How many documents are measured for a slope. */
const sizes = (size) => (size < SMALL ? [size] : [Math.floor(size / 5), size]);

export async function bench(options) {
  const given = (name) => {
    const at = options.indexOf(name);
    return at >= 0 ? options[at + 1] : undefined;
  };
  const size = Number((given('--size') ?? String(SIZE)).replaceAll('_', ''));
  const lack = missing();
  if (lack !== undefined) {
    return { bench: 'spark', setup: `not measured, for want of ${lack}`, rows: [] };
  }
  const folder = mkdtempSync(join(tmpdir(), 'simhash-spark-'));
  const from = given('--file');
  try {
    const slope = async (size, length) => {
      let before = { documents: 0, bytes: 0, one: 0, spark: 0, stages: {} };
      let rows;
      for (const count of sizes(size)) {
        const now = await measure(count, length);
        rows = between(before, now);
        before = now;
      }
      return rows;
    };
    const measure = async (count, length) => {
      const file = join(folder, `in${length ?? ''}-${count}.jsonl`);
      if (from === undefined) await generate(count, file, 1, length);
      else writeFileSync(file, `${lines(from).slice(0, count).join('\n')}\n`);
      const out = file.replace(/\.jsonl$/, '');
      const args = ['dedup', file, '-o', `${out}.kept`, '--quiet', '--threads', '1'];
      // Before and after: the speed of a machine that is shared changes within minutes.
      const one = () => measured(root, [...args, '--clusters', `${out}.clusters`]);
      const first = await one();
      const run = await spark(file, out);
      const second = await one();
      const found = parts(join(out, 'clusters'));
      if (found !== readFileSync(`${out}.clusters`, 'utf8')) throw new Error('other clusters');
      return {
        documents: run.counted.documents,
        bytes: statSync(file).size,
        one: (first.cpu + second.cpu) / 2,
        spark: run.cpu,
        stages: run.counted.stages,
        shuffled: run.counted.shuffledBytesPerDocument,
      };
    };
    const [rows, hours] = await slope(size);
    const longer = size < SMALL || from ? undefined : await slope(Math.floor(size / 5), LENGTH);
    const what = from ?? 'generated documents';
    const counts = sizes(size).map((count) => count.toLocaleString('en-US'));
    const setup = `${what}, ${counts.join(' and ')}, local[1]`;
    if (longer === undefined) return { bench: 'spark', setup, rows: [...rows, ...hours] };
    const named = longer[0].filter(({ what }) => !what.startsWith('tasks of'));
    const of = `of ${LENGTH} bytes: `;
    const all = [...rows, ...named.map((row) => ({ ...row, what: of + row.what })), ...longer[1]];
    return {
      bench: 'spark',
      setup: `${setup}; a fifth as many of about ${LENGTH} bytes`,
      rows: all,
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What every further document takes from one run to the next, and what 5 TB of them then would. */
function between(before, now) {
  const documents = now.documents - before.documents;
  const each = (figure) => ((now[figure] - before[figure]) / documents) * 1e6;
  const [one, spark] = [each('one'), each('spark')];
  const length = (now.bytes - before.bytes) / documents;
  const hours = ((TEXTS / length) * spark) / 1e6 / 3600;
  const stages = Object.entries(now.stages).map(([name, { cpuSeconds }]) => {
    const first = before.stages[name]?.cpuSeconds ?? 0;
    return {
      what: `tasks of ${name}`,
      value: ((cpuSeconds - first) / documents) * 1e6,
      unit: 'us',
    };
  });
  const against = (what, value, measured, goal) => ({ what, value, ratio: measured / value, goal });
  const rows = [
    { what: 'dedup, one thread, each document', value: one, unit: 'us' },
    {
      what: 'Spark, each document',
      value: spark,
      unit: 'us',
      against: against('dedup, one thread', one, spark, '<= 5'),
    },
    ...stages,
    { what: 'Spark, the whole of the last run', value: now.spark, unit: 's' },
    {
      what: 'shuffled for each document',
      value: now.shuffled,
      unit: 'bytes',
      against: against('350 bytes', 350, now.shuffled, '<= 1'),
    },
    { what: 'bytes of a document', value: length, unit: 'bytes' },
  ];
  const others = Object.entries(OTHERS).map(([name, value], at) => ({
    what: '5 TB of such text, by arithmetic',
    value: hours,
    unit: 'core-hours',
    against: against(`${name}, ${value}`, value, hours, at === 0 ? '<= 0.1' : undefined),
  }));
  return [rows, others];
}

/** What Spark needs and this machine lacks. Of our own is only the worker: whatever else does not run is an error. */
function missing() {
  const {
    SIMHASH_SPARK_PYTHON: python = 'python3',
    SIMHASH_WORKER: worker,
    JAVA_HOME,
    PATH = '',
  } = process.env;
  const runs = (program, ...args) => spawnSync(program, args, { stdio: 'ignore' }).status === 0;
  if (!runs(python, '-c', 'import pyspark, pandas, pyarrow')) {
    return 'pyspark, pandas and pyarrow (SIMHASH_SPARK_PYTHON names a Python that has them)';
  }
  if (!runs(JAVA_HOME ? join(JAVA_HOME, 'bin', 'java') : 'java', '-version')) return 'Java';
  const there = PATH.split(delimiter).some((one) => existsSync(join(one, 'simhash-native-worker')));
  return worker || there ? undefined : 'simhash-native-worker (SIMHASH_WORKER names it)';
}

/** One run: what it counted, and the processor seconds of all processes. */
async function spark(file, out) {
  const args = ['spark', 'dedup', file, '-o', out, '--master', 'local[1]', '--json', '--quiet'];
  args.push('--memory', MEMORY);
  const conf = ['spark.driver.memory=2g', 'spark.sql.shuffle.partitions=4'];
  const child = spawn(
    process.execPath,
    [join(root, 'dist/cli/bin.js'), ...args, ...conf.flatMap((one) => ['--conf', one])],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let ticks = 0;
  // A process that has ended counts for whom has waited for it, so that the sum of those that live has all that was used so far.
  const timer = setInterval(() => {
    ticks = Math.max(ticks, used(child.pid));
  }, 50);
  let told = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    told += text;
  });
  const status = await new Promise((done, failed) => {
    child.on('error', failed);
    child.on('close', done);
  });
  clearInterval(timer);
  if (status !== 0) throw new Error(`spark dedup ended with ${status}`);
  return { counted: JSON.parse(told), cpu: ticks / TICKS };
}

/** Ticks of a process and all below it, those included that they have waited for. */
function used(top) {
  const below = new Map();
  const own = new Map();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    let stat;
    try {
      stat = readFileSync(`/proc/${name}/stat`, 'latin1');
    } catch {
      continue;
    }
    // The name, in brackets, may have spaces.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const parent = Number(fields[1]);
    below.set(parent, [...(below.get(parent) ?? []), Number(name)]);
    own.set(
      Number(name),
      fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0),
    );
  }
  const sum = (pid) =>
    (below.get(pid) ?? []).reduce((all, one) => all + sum(one), own.get(pid) ?? 0);
  return sum(top);
}

/** The parts of a folder that Spark wrote, together. */
function parts(folder) {
  const names = readdirSync(folder).filter((name) => name.startsWith('part-'));
  return names
    .sort()
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('');
}
