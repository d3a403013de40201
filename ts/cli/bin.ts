#!/usr/bin/env node
import module from 'node:module';

// Compiled code is reused by the next start, where this Node can do that (22.1 and later).
(module as { enableCompileCache?: () => void }).enableCompileCache?.();

/** Above it an exit status names the signal that ended a command. */
const SIGNALLED = 128;

// Required, not imported: Node's loader of ES modules would parse it first.
const { main } = require('./main') as typeof import('./main');

main(process.argv.slice(2)).then((status) => {
  // Interrupted: nothing waits for a reader any more.
  if (status > SIGNALLED) process.exit(status);
  // Not process.exit: what is still on its way to a pipe has to arrive.
  process.exitCode = status;
});
