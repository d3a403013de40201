/** What the commands `spark dedup` and `spark match` share: their options, the job they make of them, and how it is run. */

import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { given } from '../given';
import { INDEX_METHODS } from '../method';
import { OPTIONS } from '../option-table';
import type { Values } from './command';
import { EXIT, UsageError } from './exit';
import { bytes, count, duration } from './format';
import { interruptible } from './interrupt';
import { candidates, features, methodOptions, verification } from './options';
import { readings } from './run';
import type { Terminal } from './terminal';
import { versions } from './version';

const { features: unit, ngram, weighting, 'top-k': topK, 'no-hmm': noHmm } = features;
const { 'min-features': minFeatures } = features;

/** The largest distance whose fingerprints can be spread over machines. */
const MAX_DISTANCE = 4;
const WORKER = 'simhash-native-worker';
/** Packages are for the machines that clusters are made of. */
const GET_WORKER =
  process.platform === 'linux'
    ? 'npm install @x/simhash-native-worker-linux-x64, or -arm64, has it for npx'
    : 'cargo build --release -p simhash-worker makes it';

/** Options of both commands. */
export const sparking = {
  output: {
    kind: 'text',
    short: 'o',
    value: 'OUT',
    help: 'a new folder, or the address of one, for the outputs',
  },
  master: {
    kind: 'text',
    value: 'URL',
    help: 'where Spark runs: spark://HOST:PORT, yarn, k8s://…, local[N]; without it as PYSPARK_SUBMIT_ARGS says, else on this machine',
  },
  conf: {
    kind: 'texts',
    value: 'NAME=VALUE',
    help: 'a setting of Spark, such as spark.executor.memory=8g. spark.io.compression.codec is zstd unless it is given here or in PYSPARK_SUBMIT_ARGS',
  },
  'emit-command': {
    kind: 'flag',
    help: 'print the command to run on another machine, and end',
  },
  'order-by': {
    kind: 'text',
    value: 'COLUMN',
    help: 'the order of documents, for formats that have none: a column of distinct whole numbers',
  },
  parts: {
    kind: 'integer',
    value: 'N',
    min: 1,
    max: 65_536,
    help: 'parts of each shuffle; without it as many as the input is read in, and at least twice the cores',
  },
  memory: {
    kind: 'text',
    value: 'SIZE',
    default: '1G',
    help: 'memory limit of one worker, of which each core has one, beside the memory of Spark',
  },
  ...candidates,
  method: { ...candidates.method, choices: INDEX_METHODS },
  'max-distance': {
    ...OPTIONS.maxDistance,
    max: MAX_DISTANCE,
    help: 'for simhash: largest Hamming distance of two fingerprints, inclusive; required, except if nothing is verified: 3 then',
  },
  ...verification,
  ...{ features: unit, ngram, weighting, 'top-k': topK, 'no-hmm': noHmm },
  'min-features': minFeatures,
  'text-field': {
    kind: 'text',
    value: 'NAME',
    default: 'text',
    help: 'field or column that holds the text',
  },
  'id-field': {
    kind: 'text',
    value: 'NAME',
    help: 'field or column that holds the id; without it id; if there is no such field, the position is the id',
  },
  format: {
    kind: 'text',
    value: 'FORMAT',
    default: 'auto',
    help: 'jsonl, parquet, or with --order-by any other that Spark reads, such as orc; auto: parquet, orc or avro if all names end so, else jsonl',
  },
  json: {
    kind: 'flag',
    help: 'print the counts as JSON, with options, versions, and the time of each stage',
  },
  quiet: { kind: 'flag', short: 'q', help: 'no progress and no summary, only errors' },
} as const;

export type Sparking = Values<typeof sparking>;

/** The arguments of `simhash_spark.run`, but for the worker. */
export interface Job {
  readonly inputs: readonly string[];
  readonly output: string;
  readonly against?: readonly string[];
  readonly recipe: object;
  readonly format: string;
  readonly [argument: string]: unknown;
}

/** A job of these inputs, and of those to look among; `own` is what the command has of its own in the recipe. */
export function jobOf(
  command: string,
  inputs: readonly string[],
  values: Sparking,
  own: object,
  against: readonly string[] = [],
): Job {
  const { output, method, parts, memory } = values;
  if (output === undefined) throw new UsageError(`${command} needs -o OUT`, 'a folder that is new');
  if ([...inputs, ...against, output].includes('-')) {
    throw new UsageError(`${command} takes files and folders, not standard input or output (-)`);
  }
  const { verify, ...compared } = methodOptions({ ...values, method });
  const { method: chosen, maxDistance = 0 } = compared;
  if (chosen === 'simhash' && maxDistance > MAX_DISTANCE) {
    throw new UsageError(
      `--max-distance must be from 0 to ${MAX_DISTANCE} on Spark; its default is ${maxDistance}: give --max-distance`,
      'of a larger distance texts would be in too many buckets to be spread; minhash finds more',
    );
  }
  const format = formatOf([...inputs, ...against], values.format);
  const orderBy = values['order-by'];
  if (orderBy === undefined && format !== 'jsonl' && format !== 'parquet') {
    throw new UsageError(
      `--format ${format} needs --order-by COLUMN`,
      'rows of other formats than jsonl and parquet have no order, which decides who is kept',
    );
  }
  const recipe = {
    ...compared,
    verify: verify === false ? 'off' : verify,
    ...given({ maxVerifications: values['max-verifications'], features: featuresOf(values) }),
    ...own,
  };
  return {
    inputs: inputs.map(located),
    ...(against.length > 0 && { against: against.map(located) }),
    output: located(output),
    recipe,
    format,
    ...given({ order_by: orderBy, parts, id_field: values['id-field'] }),
    ...{ text_field: values['text-field'], memory },
  };
}

/** Formats that a name tells; what ends otherwise is JSON lines, or a folder of anything. */
const TABLES: readonly string[] = ['parquet', 'orc', 'avro', 'arrow'];

/** The one format of all inputs: rows of another one would be read as lines that are no records. */
function formatOf(paths: readonly string[], named: string): string {
  const [first = '', ...others] = paths;
  const other = others.find((path) => ending(path) !== ending(first));
  if (named === 'auto' && other !== undefined) {
    throw new UsageError(
      `${first} and ${other} are not of one format by their names`,
      'name the format that all have with --format, or make one format of them',
    );
  }
  const format = named === 'auto' ? ending(first) : named;
  if (format === 'arrow') {
    throw new UsageError('Spark reads no files of Arrow', 'make Parquet of them');
  }
  const table = paths.find((path) => ending(path) !== 'jsonl');
  if (format === 'jsonl' && table !== undefined) {
    throw new UsageError(`${table} is no file of JSON lines`, `--format says jsonl`);
  }
  return format;
}

function ending(path: string): string {
  const name = (path.includes('://') ? path.replace(/[?#].*$/, '') : path).replace(/\/+$/, '');
  return TABLES.find((kind) => name.endsWith(`.${kind}`)) ?? 'jsonl';
}

/** What differs from the default, in the words in which the worker has it. */
function featuresOf(values: Sparking): string | undefined {
  const words = [
    ...(['features', 'ngram', 'weighting', 'top-k', 'min-features'] as const).flatMap((name) => {
      const value = values[name];
      const own = name.replace(/-(.)/, (_dash, letter: string) => letter.toUpperCase());
      return value === undefined ? [] : [`${own} ${value}`];
    }),
    ...(values['no-hmm'] ? ['no hmm'] : []),
  ];
  return words.length === 0 ? undefined : words.join(', ');
}

/** Executors have other working folders than this process. */
function located(path: string): string {
  return path.includes('://') ? path : resolve(path);
}

/** Runs a job, or prints how it is run; the result is the exit status. */
export async function spark(
  job: Job,
  values: Sparking,
  sentences: (counted: Counted) => readonly string[],
  terminal: Terminal,
): Promise<number> {
  const { SIMHASH_SPARK_PYTHON: python = 'python3' } = process.env;
  const environment = submitted(values);
  if (values['emit-command']) {
    const named = { ...job, worker: worker() ?? WORKER };
    const set = Object.entries(environment).map(([name, value]) => `${name}=${quoted(value)} `);
    const words = [python, '-m', 'simhash_spark', JSON.stringify(named)].map(quoted);
    await terminal.write(`${set.join('')}${words.join(' ')}\n`);
    return EXIT.done;
  }
  const program = worker();
  if (program === undefined) {
    throw new UsageError(
      `${WORKER} was not found on the PATH`,
      `${GET_WORKER}; SIMHASH_WORKER names another one (docs/scale.md)`,
    );
  }
  const env = { PYSPARK_PYTHON: python, ...process.env, ...environment, ...pythonPath() };
  checkPython(python, env);
  const { quiet, json } = values;
  const work = async (signal: AbortSignal): Promise<number> => {
    const args = ['-m', 'simhash_spark', JSON.stringify({ ...job, worker: program })];
    const child = spawn(python, args, {
      env,
      signal,
      killSignal: 'SIGTERM',
      stdio: ['ignore', 'pipe', quiet ? 'pipe' : 'inherit'],
    });
    let told = '';
    let errors = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      told += text;
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      errors += text;
    });
    const status = await new Promise<number | null>((done, failed) => {
      let failure: Error | undefined;
      child.on('error', (error) => {
        failure = error;
      });
      // Until then Spark may write: it has the same output, and ends after the Python that started it.
      child.on('close', (code) => (failure === undefined ? done(code) : failed(failure)));
    });
    // A terminal tells Spark of Ctrl-C, too, which may be the first to end.
    signal.throwIfAborted();
    const last = told.trimEnd().split('\n').at(-1) ?? '';
    if (status !== 0 || !last.startsWith('{')) {
      if (errors !== '') terminal.say(errors.trimEnd());
      terminal.fail(`Spark did not finish, and ended with ${status}`, 'what it says is above');
      return EXIT.io;
    }
    const counted = JSON.parse(last) as Counted;
    if (json) {
      const summary = { ...counted, job, versions: versions() };
      await terminal.write(`${JSON.stringify(summary)}\n`);
    } else if (!quiet) {
      for (const line of [...sentences(counted), ...taken(counted)]) terminal.say(line);
    }
    return (counted.rejected ?? 0) > 0 ? EXIT.rejected : EXIT.done;
  };
  return interruptible(terminal, undefined, work, {
    left: `${job.output} has what was written so far`,
    next: `delete ${job.output} and run it again`,
  });
}

/** What a run on Spark counted. */
export interface Counted {
  readonly documents?: number;
  readonly rejected?: number;
  readonly kept?: number;
  readonly duplicates?: number;
  readonly clusters?: number;
  readonly matched?: number;
  readonly matches?: number;
  readonly candidates?: number;
  readonly edges?: number;
  readonly rounds?: number;
  readonly truncated?: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly shuffledBytes: number;
  readonly shuffledBytesPerDocument: number;
  readonly stages: Readonly<Record<string, object>>;
}

/** What was read, of what parts. */
export function readOf(counted: Counted, parts: Readonly<Record<string, number>>): string {
  const { documents = 0, rejected = 0 } = counted;
  return readings(documents + rejected, { ...parts, rejected });
}

function taken(counted: Counted): string[] {
  const { candidates = 0, edges = 0, rounds = 0, seconds, cpuSeconds } = counted;
  const { shuffledBytes, shuffledBytesPerDocument: each } = counted;
  return [
    `${count(candidates)} candidates, ${count(edges)} edges, ${count(rounds)} rounds of full buckets`,
    `${bytes(shuffledBytes)} shuffled (${each} bytes per document), ${cpuSeconds.toFixed(1)} s of processors (without Spark's own threads) in ${duration(seconds)}`,
  ];
}

/** Packed cells have few bytes that come again, but all bytes are not equally frequent: zstd leaves 15 % less of them to send than Spark's
 * own lz4, in no more processor time that could be measured (docs/scale.md). */
const CODEC = 'spark.io.compression.codec=zstd';

/** The driver plans some thirty short jobs: Java's second compiler takes longer to make that fast than it ever takes (docs/scale.md). */
const COMPILER = '-XX:TieredStopAtLevel=1';

/** What Spark is told by the environment. */
function submitted({ master, conf = [] }: Sparking): Record<string, string> {
  for (const one of conf) {
    if (!/^[^=\s]+=/.test(one)) throw new UsageError(`--conf must be NAME=VALUE, got '${one}'`);
  }
  const { PYSPARK_SUBMIT_ARGS: before = 'pyspark-shell', SPARK_SUBMIT_OPTS: java = '' } =
    process.env;
  const own = [
    ...(master === undefined ? [] : ['--master', quoted(master)]),
    ...conf.flatMap((one) => ['--conf', quoted(one)]),
  ];
  // Of an option that is there twice Spark takes the last, and so does Java, to which Spark says its own behind these.
  const rest = before.replace(/\s*pyspark-shell\s*$/, '');
  const words = ['--conf', CODEC, rest, ...own, 'pyspark-shell'];
  return {
    PYSPARK_SUBMIT_ARGS: words.filter(Boolean).join(' '),
    SPARK_SUBMIT_OPTS: `${COMPILER} ${java}`.trim(),
  };
}

/** The program that executors run: SIMHASH_WORKER, else that of the PATH. */
function worker(): string | undefined {
  const { SIMHASH_WORKER: named, PATH = '' } = process.env;
  if (named) {
    if (isProgram(named)) return resolve(named);
    throw new UsageError(`SIMHASH_WORKER is '${named}', which is no program that can be run`);
  }
  return PATH.split(delimiter)
    .map((folder) => join(folder, WORKER))
    .find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** In a checkout the driver need not be installed. */
function pythonPath(): Record<string, string> {
  const folder = join(__dirname, '..', '..', 'spark');
  if (!existsSync(join(folder, 'simhash_spark'))) return {};
  const { PYTHONPATH } = process.env;
  return { PYTHONPATH: PYTHONPATH ? `${folder}${delimiter}${PYTHONPATH}` : folder };
}

/** @throws UsageError where something that Spark needs is not there, with what to install. */
function checkPython(python: string, env: NodeJS.ProcessEnv): void {
  const found = spawnSync(python, ['-c', 'import simhash_spark'], { env, encoding: 'utf8' });
  if (found.status !== 0) {
    throw new UsageError(
      `${python} cannot load simhash_spark: ${why(found)}`,
      'pip install pyspark pandas pyarrow, and the folder spark/ of the repository (pip install ./spark); SIMHASH_SPARK_PYTHON names another Python',
    );
  }
  const { JAVA_HOME } = process.env;
  const java = JAVA_HOME ? join(JAVA_HOME, 'bin', 'java') : 'java';
  if (spawnSync(java, ['-version'], { stdio: 'ignore' }).status === 0) return;
  throw new UsageError(
    `${java} cannot be run`,
    'Spark 4 needs Java 17; JAVA_HOME names where it is',
  );
}

function why({ error, stderr }: SpawnSyncReturns<string>): string {
  return error?.message ?? stderr.trimEnd().split('\n').at(-1) ?? '';
}

/** A word of a shell, as it is where nothing in it has a meaning. */
function quoted(word: string): string {
  return /^[\w@%+:,./=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
