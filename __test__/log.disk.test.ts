/** A shared index whose disk is full: it says so, answers searches, and goes on by itself when there is room. */
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Folder } from './cli-run';

/** Whether a small file system can be mounted here. */
const mounts =
  process.platform === 'linux' &&
  spawnSync('unshare', ['--user', '--map-root-user', '--mount', 'true']).status === 0;
if (!mounts) console.warn('tests of a full disk are skipped: no file system can be mounted here');

/** What a program says that runs beside a file system of some mebibytes, which is `d` of its folder. */
function beside(megabytes: number, program: string, ...args: string[]): unknown {
  const folder = new Folder();
  const mount = `mkdir d && mount -t tmpfs -o size=${megabytes}M none d && exec "$0" "$@"`;
  const unshare = ['--user', '--map-root-user', '--mount', 'sh', '-c', mount, process.execPath];
  const all = [...unshare, join(__dirname, program), 'd', 'other', ...args];
  return JSON.parse(execFileSync('unshare', all, { cwd: folder.path, encoding: 'utf8' }));
}

const REFUSED = {
  states: ['ERR_SIMHASH_DISK_FULL'],
  reasons: ['disk-full'],
  own: ['ERR_SIMHASH_DISK_FULL'],
  check: 'ERR_SIMHASH_DISK_FULL',
  remove: 'ERR_SIMHASH_DISK_FULL',
  status: 'ERR_SIMHASH_DISK_FULL',
  found: 1,
  // What is refused is not appended.
  appended: 0,
  after: { again: 'done', same: true, chain: true, ready: [] },
  reopened: { same: true, states: [] },
  closed: { same: true },
};

describe.skipIf(!mounts)('a full disk', () => {
  test('refuses checks and answers searches, until there is room', () => {
    expect(beside(32, 'log-full.mjs')).toEqual({ ...REFUSED, isWhole: true });
  });

  test('of which nobody knows before a batch is begun has the service begin again', () => {
    expect(beside(16, 'log-full.mjs', 'quota')).toEqual({ ...REFUSED, isWhole: false });
  });
});
