import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['__test__/**/*.test.ts'],
    // A process per file: a crash of the addon ends one file, not the run.
    pool: 'forks',
    execArgv: ['--expose-gc'],
    // A limit against hanging, far above what any test needs on a busy machine; no test asserts a time.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
