// The processor time of a run of `dedup`, stage by stage, seen from outside: with `--tmp` it leaves a checkpoint at the end of each.
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

/** By the number of the checkpoint that there is while a run works on it. */
export const STAGES = ['sketch', 'exact groups', 'candidates', 'verify', 'cluster and write'];

/** Ticks of the system's clock in a second, as every Linux has it. */
const TICKS = 100;

/** Seconds of processor time that a process has used; nothing where it has ended. */
function used(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return (Number(fields[11]) + Number(fields[12])) / TICKS;
  } catch {
    return undefined;
  }
}

/** The number of the checkpoint that is there. */
function checkpoint(tmp) {
  try {
    const [run] = readdirSync(tmp);
    const numbers = readdirSync(join(tmp, run)).map((name) =>
      Number(/^checkpoint-(\d+)$/.exec(name)?.[1] ?? 0),
    );
    return Math.max(...numbers);
  } catch {
    return 0;
  }
}

/** Runs a program of Node.js; the seconds of each stage, right to some hundredths. Linux; elsewhere of none. */
export async function stages(program, args, folder) {
  const tmp = join(folder, 'stages');
  mkdirSync(tmp, { recursive: true });
  const child = spawn(process.execPath, [program, ...args, '--tmp', tmp], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`it ended with ${code}`)),
    );
  });
  let [before, last, at] = [0, 0, 1];
  const spent = {};
  while (child.exitCode === null && child.signalCode === null) {
    const [now, number] = [used(child.pid), checkpoint(tmp)];
    if (now === undefined) break;
    // A stage that is not kept belongs to the one before it.
    if (number > at) {
      spent[STAGES[at - 1]] = now - before;
      [before, at] = [now, number];
    }
    last = now;
    await setTimeout(2);
  }
  await ended;
  if (last > 0) spent[STAGES[Math.min(at, STAGES.length) - 1]] = last - before;
  return spent;
}
