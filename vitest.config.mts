import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take minutes, which would otherwise be run alone at the end. */
const LONG = /\/(spark|mongodb)\.test\.ts$/;

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) => Number(LONG.test(moduleId));
    return sorted.sort((a, b) => isLong(b) - isLong(a));
  }
}

export default defineConfig({
  test: {
    include: ['__test__/**/*.test.ts'],
    // A process per file: a crash of the addon ends one file, not the run.
    pool: 'forks',
    // Two on two cores: many tests wait, for servers and for programs that end.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    sequence: { sequencer: LongFirst },
    execArgv: ['--expose-gc'],
    // A limit against hanging, far above what any test needs on a busy machine; no test asserts a time.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
