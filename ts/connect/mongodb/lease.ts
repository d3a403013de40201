/** Who works on a run, and whether it still may. */
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** Who works on a run. */
export interface Holder {
  host: string;
  pid: number;
  /** Where the number of the process means this process: {@link PLACE}. */
  place?: string;
}

/**
 * This start of this machine, and the namespace of processes in it: containers of one name have processes of the same numbers, and so has a machine after it was
 * started again. `undefined` where the system does not say.
 */
const PLACE: string | undefined = (() => {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return undefined;
  }
})();

/** This process. */
export function here(): Holder {
  const own = { host: hostname(), pid: process.pid };
  return PLACE === undefined ? own : { ...own, place: PLACE };
}

/** Whether a process may be at work: of one whose number means nothing here nobody can tell, and its lease is waited for. */
export function mayBeAlive({ place, pid }: Holder): boolean {
  if (place === undefined || place !== PLACE) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
