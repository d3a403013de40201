/** Tests of what only POSIX systems have: named pipes, signals that a process can handle, permissions, a shell. */
import { test } from 'vitest';

/** `test`, skipped on Windows, where the log says why: `needs` is what Windows does not have. */
export function posix(needs: string) {
  const windows = process.platform === 'win32';
  if (windows) console.log(`not tested on Windows, which has no ${needs}`);
  return test.skipIf(windows);
}
