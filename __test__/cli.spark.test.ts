/** The commands on Spark without Spark: what they refuse, the command that they print, and what they make of what comes back. */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { ended, Folder, ROOT } from './cli-run';

const folder = new Folder();
/** Programs that do nothing, and a Python that prints what it is given, and what Spark would print behind it. */
function program(name: string, script: string): string {
  folder.write(name, `#!/bin/sh\n${script}\n`);
  chmodSync(folder.join(name), 0o755);
  return folder.join(name);
}
const worker = program('simhash-native-worker', 'exit 0');
mkdirSync(folder.join('jdk/bin'), { recursive: true });
program('jdk/bin/java', 'exit 0');
const COUNTED = {
  documents: 9,
  rejected: 0,
  kept: 7,
  duplicates: 2,
  clusters: 2,
  candidates: 12_345,
  edges: 2,
  seconds: 61,
  cpuSeconds: 5.25,
  shuffledBytes: 3150,
  shuffledBytesPerDocument: 350,
  stages: {},
};
const python = (counted: object) =>
  program(
    'python',
    `[ "$1" = -c ] && exit 0\nprintf '%s' "$3" >'${folder.join('job.json')}'\nprintf '%s' "$PYSPARK_SUBMIT_ARGS" >'${folder.join('args')}'\nprintf '%s' "$SPARK_SUBMIT_OPTS" >'${folder.join('java')}'\necho 'words of Spark'\necho '${JSON.stringify(counted)}'`,
  );

function run(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const own = {
    SIMHASH_WORKER: worker,
    SIMHASH_SPARK_PYTHON: python(COUNTED),
    JAVA_HOME: folder.join('jdk'),
    PYSPARK_SUBMIT_ARGS: '',
    SPARK_SUBMIT_OPTS: '',
  };
  return ended(folder.start(['spark', ...args], { ...own, ...env }));
}

/** What is said to Spark and to its Java before all else. */
const OURS = '--conf spark.io.compression.codec=zstd';
const COMPILER = '-XX:TieredStopAtLevel=1';

const windows = process.platform === 'win32';
if (windows)
  console.log('not tested: the commands on Spark, which Windows has no programs for here');

describe.skipIf(windows)('spark', () => {
  test.each([
    [['dedup', 'in.jsonl'], 'spark dedup needs -o OUT'],
    [['dedup', '-', '-o', 'out'], 'takes files and folders, not standard input'],
    [['match', 'in.jsonl', '-o', 'out'], 'spark match needs --against FILE'],
    [['dedup', 'in', '-o', 'out', '--method', 'brute-force'], '--method must be minhash, simhash'],
    [
      ['dedup', 'in', '-o', 'out', '--method', 'simhash'],
      'must be from 0 to 4 on Spark; its default is 8: give --max-distance',
    ],
    [['dedup', 'in', '-o', 'out', '--max-distance', '5'], 'an integer from 0 to 4'],
    [['match', 'a', '--against', 'b', '-o', 'out', '--max-distance', '5'], 'from 0 to 4'],
    [
      ['match', 'new.jsonl', '--against', 'test.parquet', '-o', 'out'],
      'new.jsonl and test.parquet are not of one format',
    ],
    [
      ['match', 'new.parquet', '--against', 'a.parquet', '--against', 's3://b/t/?x=y', '-o', 'out'],
      'new.parquet and s3://b/t/?… are not of one format',
    ],
    [['dedup', 'a.jsonl', 'b.orc', '-o', 'out', '--order-by', 'n'], 'are not of one format'],
    [
      ['match', 'a', '--against', 'b.parquet', '-o', 'out', '--format', 'jsonl'],
      'b.parquet is no file of JSON lines',
    ],
    [['dedup', 'a.arrow', '-o', 'out', '--order-by', 'n'], 'Spark reads no files of Arrow'],
    [['dedup', 'a.orc', '-o', 'out'], '--format orc needs --order-by COLUMN'],
    [['match', 'a', '--against', '-', '-o', 'out'], 'takes files and folders, not standard input'],
    [['dedup', 'in', '-o', 'out', '--format', 'orc'], '--format orc needs --order-by COLUMN'],
    [['dedup', 'in', '-o', 'out', '--conf', 'spark.x'], "--conf must be NAME=VALUE, got 'spark.x'"],
    [['dedup', 'in', '-o', 'out', '--keep', 'largest'], '--keep largest needs --keep-by NAME'],
    [['dedup', 'in', '-o', 'out', '--dictionary', 'words'], 'unknown option --dictionary'],
    [['dedupe', 'in'], 'did you mean spark dedup?'],
  ])('%j is refused', async (args, says) => {
    const { status, stdout, stderr } = await run(args);
    expect(stderr).toContain(says);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  });

  test('what is missing is said, with what to install', async () => {
    const args = ['dedup', 'in.jsonl', '-o', 'out'];
    const lacks = async (env: NodeJS.ProcessEnv) => {
      const { status, stderr } = await run(args, env);
      expect(status).toBe(2);
      return stderr;
    };
    // There are packages for Linux alone.
    const get =
      process.platform === 'linux'
        ? 'npm install @x/simhash-native-worker-linux-x64, or -arm64, has it for npx'
        : 'cargo build --release -p simhash-worker makes it';
    expect(await lacks({ SIMHASH_WORKER: '', PATH: '/nowhere' })).toContain(
      `simhash-native-worker was not found on the PATH\n  ${get}; SIMHASH_WORKER names another`,
    );
    expect(await lacks({ SIMHASH_WORKER: `${folder.join('jdk')}/none` })).toContain(
      'which is no program that can be run',
    );
    const none = program('none', 'echo "ModuleNotFoundError: no simhash_spark" >&2; exit 1');
    expect(await lacks({ SIMHASH_SPARK_PYTHON: none })).toMatch(
      /cannot load simhash_spark: ModuleNotFoundError[\s\S]*pip install/,
    );
    expect(await lacks({ JAVA_HOME: '/nowhere' })).toContain('Spark 4 needs Java 17');
  });

  test('--emit-command prints what a shell runs as it would be run', async () => {
    const args = [
      ...[
        'dedup',
        "it's.parquet",
        's3://b/more.parquet?region=x',
        '-o',
        'out',
        '--master',
        'spark://h:7077',
      ],
      ...[
        '--conf',
        'spark.a=x y',
        '--keep',
        'newest',
        '--method',
        'simhash',
        '--max-distance',
        '3',
      ],
      ...['--features', 'chars', '--ngram', '3', '--top-k', 'auto', '--parts', '64'],
    ];
    const emitted = await run([...args, '--emit-command']);
    expect(emitted).toMatchObject({ status: 0, stderr: '' });
    const { status } = spawnSync('bash', ['-c', emitted.stdout], { cwd: folder.path });
    expect(status).toBe(0);
    const job = JSON.parse(folder.read('job.json'));
    expect(job).toEqual({
      inputs: [folder.join("it's.parquet"), 's3://b/more.parquet?region=x'],
      output: folder.join('out'),
      recipe: {
        method: 'simhash',
        maxDistance: 3,
        verify: 'auto',
        minSimilarity: 0.8,
        features: 'features chars, ngram 3, topK auto',
        cluster: 'representative',
        keep: 'newest',
      },
      format: 'parquet',
      parts: 64,
      text_field: 'text',
      memory: '1G',
      key: 'date',
      worker,
    });
    const submitted = `${OURS} --master spark://h:7077 --conf 'spark.a=x y' pyspark-shell`;
    expect(folder.read('args')).toBe(submitted);
    expect(folder.read('java')).toBe(COMPILER);
    // What is run here is the same.
    folder.write('job.json', '');
    expect((await run(args)).status).toBe(0);
    expect(JSON.parse(folder.read('job.json'))).toEqual(job);
    expect(folder.read('args')).toBe(submitted);
  });

  test('what the environment and --conf say of Spark comes behind our own', async () => {
    const codec = (name: string) => `--conf spark.io.compression.codec=${name}`;
    const args = ['dedup', 'in', '-o', 'out'];
    expect((await run(args)).status).toBe(0);
    expect(folder.read('args')).toBe(`${OURS} pyspark-shell`);
    expect(folder.read('java')).toBe(COMPILER);
    const PYSPARK_SUBMIT_ARGS = `${codec('lz4')} pyspark-shell`;
    const given = [...args, '--conf', 'spark.io.compression.codec=snappy'];
    const SPARK_SUBMIT_OPTS = '-XX:TieredStopAtLevel=4';
    expect((await run(given, { PYSPARK_SUBMIT_ARGS, SPARK_SUBMIT_OPTS })).status).toBe(0);
    expect(folder.read('java')).toBe(`${COMPILER} ${SPARK_SUBMIT_OPTS}`);
    expect(folder.read('args')).toBe(`${OURS} ${codec('lz4')} ${codec('snappy')} pyspark-shell`);
  });

  test('what was counted is told, to people or as JSON', async () => {
    const told = await run(['dedup', 'in', '-o', 'out']);
    expect(told.stderr).toContain('read 9 = kept 7 + duplicates 2 + rejected 0');
    expect(told.stderr).toContain('12,345 candidates, 2 edges');
    expect(told.stderr).toContain('3.1 kB shuffled (350 bytes per document)');
    expect(told).toMatchObject({ status: 0, stdout: '' });
    const { stdout } = await run(['dedup', 'in', '-o', 'out', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ ...COUNTED, versions: { specification: 1 } });
    const quiet = await run(['dedup', 'in', '-o', 'out', '-q']);
    expect(quiet).toMatchObject({ status: 0, stdout: '', stderr: '' });
  });

  test('one format is named for all, and an id that is named is asked for', async () => {
    const args = ['match', 'in', '--against', 'b.parquet', '-o', 'out', '--format', 'parquet'];
    expect((await run([...args, '--id-field', 'id', '--order-by', 'n'])).status).toBe(0);
    expect(JSON.parse(folder.read('job.json'))).toMatchObject({
      format: 'parquet',
      id_field: 'id',
      order_by: 'n',
    });
  });

  test('a run that is stopped says what there is, once Spark has ended', async () => {
    const waits = program(
      'waits',
      [
        '[ "$1" = -c ] && exit 0',
        `trap 'sleep 1; echo >${folder.join('gone')}; exit 1' TERM`,
        `echo >'${folder.join('began')}'`,
        'while :; do sleep 0.1; done',
      ].join('\n'),
    );
    const child = folder.start(['spark', 'dedup', 'in', '-o', 'out'], {
      SIMHASH_WORKER: worker,
      SIMHASH_SPARK_PYTHON: waits,
      JAVA_HOME: folder.join('jdk'),
    });
    const end = ended(child);
    await vi.waitUntil(() => existsSync(folder.join('began')), { timeout: 60_000 });
    child.kill('SIGINT');
    const { status, stdout, stderr } = await end;
    expect(existsSync(folder.join('gone'))).toBe(true);
    const out = folder.join('out');
    expect(stderr).toContain(
      `interrupted; ${out} has what was written so far\ndelete ${out} and run it again\n`,
    );
    expect({ status, stdout }).toEqual({ status: 130, stdout: '' });
  });

  test('the bench says where Spark is not there, and fails where the command does', () => {
    const bench = (python: string) =>
      spawnSync(process.execPath, [join(ROOT, 'benches', 'run.mjs'), 'spark', '--size', '20'], {
        env: {
          ...process.env,
          SIMHASH_WORKER: worker,
          SIMHASH_SPARK_PYTHON: python,
          JAVA_HOME: folder.join('jdk'),
        },
        encoding: 'utf8',
      });
    const without = bench(program('bare', 'exit 1'));
    expect(without.stdout).toContain('not measured, for want of pyspark');
    expect(without.status).toBe(0);
    const broken = bench(program('broken', '[ "$2" = "import simhash_spark" ] && exit 1; exit 0'));
    expect(broken.stderr).toContain('spark dedup ended with 2');
    expect(broken.status).toBe(1);
  });

  test('rejected records are status 1, and a run that failed is 3 with its words', async () => {
    const own = { SIMHASH_SPARK_PYTHON: python({ ...COUNTED, rejected: 2 }) };
    const { status, stderr } = await ended(
      folder.start(['spark', 'match', 'a', '--against', 'b', '--against', 'c', '-o', 'out'], {
        ...{ SIMHASH_WORKER: worker, JAVA_HOME: folder.join('jdk') },
        ...own,
      }),
    );
    expect(stderr).toContain('rejected 2');
    expect(status).toBe(1);
    expect(JSON.parse(folder.read('job.json')).against).toEqual(
      ['b', 'c'].map((n) => folder.join(n)),
    );
    const fails = program('fails', '[ "$1" = -c ] && exit 0; echo "simhash-spark: no" >&2; exit 1');
    const ends = await run(['dedup', 'in', '-o', 'out', '-q'], { SIMHASH_SPARK_PYTHON: fails });
    expect(ends.stderr).toMatch(/simhash-spark: no[\s\S]*Spark did not finish, and ended with 1/);
    expect(ends.status).toBe(3);
  });
});

test('no step of a workflow rests on a command whose status `!` inverts, which ends no script', () => {
  const folder = join(ROOT, '.github', 'workflows');
  for (const name of readdirSync(folder)) {
    expect(readFileSync(join(folder, name), 'utf8')).not.toMatch(/^\s*(- run: )?! /mu);
  }
});
