#!/usr/bin/env node
import module from 'node:module';

// Compiled code is reused by the next start, where this Node can do that (22.1 and later).
(module as { enableCompileCache?: () => void }).enableCompileCache?.();

import('./main.js').then(async ({ main }) => {
  // Not process.exit: what is still on its way to a pipe has to arrive.
  process.exitCode = await main(process.argv.slice(2));
});
