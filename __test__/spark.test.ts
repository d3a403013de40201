/** The Spark driver in `spark/`, by its own tests: a master and two workers on loopback, and the bytes of the command line. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT } from './cli-run';

/** A Python with pyspark and pytest, which may be one of a virtual environment. */
const PYTHON = process.env.SIMHASH_SPARK_PYTHON ?? 'python3';
const modules = spawnSync(PYTHON, ['-c', 'import pyspark, pandas, pyarrow, pytest']);
const java = spawnSync('java', ['-version']);
const { SIMHASH_WORKER, SIMHASH_SPARK_MATRIX } = process.env;
const worker = SIMHASH_WORKER ?? join(ROOT, 'target', 'release', 'simhash-native-worker');

function lacks(): string | undefined {
  if (modules.status !== 0) {
    return `pyspark, pandas, pyarrow and pytest (SIMHASH_SPARK_PYTHON names a Python that has them)`;
  }
  if (java.status !== 0) return 'Java 17 or later';
  if (!existsSync(worker)) return 'the worker: cargo build --release -p simhash-worker';
  return undefined;
}

const missing = lacks();
if (missing !== undefined) console.log(`not tested: Spark needs ${missing}`);

describe.skipIf(missing !== undefined)('Spark', () => {
  test('has the bytes of the command line', () => {
    const { stdout, stderr, status } = spawnSync(PYTHON, ['-m', 'pytest', '-q', '-rsP'], {
      cwd: join(ROOT, 'spark'),
      env: { ...process.env, PYTHONPATH: '.', SIMHASH_WORKER: worker },
      encoding: 'utf8',
      // All that Spark says is printed.
      maxBuffer: 64 << 20,
    });
    expect(status, `${stdout}${stderr}`).toBe(0);
    expect(stdout).not.toMatch(/skipped/u);
    if (SIMHASH_SPARK_MATRIX === 'all') console.log(stdout);
    else
      console.log(
        'not tested: further methods, ORC, and the matrix, on 60,000 documents, which npm run test:long -- spark runs',
      );
  }, 5_400_000); // A cluster is started, and each stage is a job.
});
