/** A service whose machine has another time: what it decides is by the clock of the log. */
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Folder } from './cli-run';

/** Whether a library can be put before that of the system, which then says another time. */
const moves = process.platform === 'linux' && spawnSync('cc', ['--version']).status === 0;
if (!moves) console.warn('tests of a clock that is wrong are skipped: they need Linux and cc');

/** Time as the system says it, and as many seconds more as MOVED says. */
const MOVED = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static time_t moved(void) { return atol(getenv("MOVED")); }

int clock_gettime(clockid_t clock, struct timespec *at) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
  int failed = real(clock, at);
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) at->tv_sec += moved();
  return failed;
}

int gettimeofday(struct timeval *at, void *zone) {
  static int (*real)(struct timeval *, void *);
  if (!real) real = dlsym(RTLD_NEXT, "gettimeofday");
  int failed = real(at, zone);
  at->tv_sec += moved();
  return failed;
}

time_t time(time_t *at) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (at) *at = now.tv_sec;
  return now.tv_sec;
}`;

const DAY = 86_400;

describe.skipIf(!moves)('the clock of a service', () => {
  test('decides nothing, a day behind or ahead', () => {
    const folder = new Folder();
    folder.write('moved.c', MOVED);
    const library = folder.join('moved.so');
    execFileSync('cc', ['-shared', '-fPIC', '-o', library, folder.join('moved.c'), '-ldl']);
    const start = Date.now();
    const decided = [0, DAY, -DAY].map((seconds) => {
      const args = [join(__dirname, 'log-clock.mjs'), folder.join(`s${seconds}`), `${start}`];
      const env = { ...process.env, LD_PRELOAD: library, MOVED: `${seconds}` };
      const said = JSON.parse(execFileSync(process.execPath, args, { env, encoding: 'utf8' }));
      // It was another one indeed.
      const off = said.clock - Date.now() - seconds * 1000;
      expect(Math.abs(off)).toBeLessThan(3_600_000);
      return said.decided;
    });
    const [right, ahead, late] = decided;
    expect([ahead, late]).toEqual([right, right]);
    // A document is there for an hour.
    const kept = right.said.map(({ duplicateOf }: { duplicateOf?: number }) => duplicateOf);
    expect(kept).toEqual([undefined, 0, undefined, undefined, 1, undefined, undefined]);
  });
});
