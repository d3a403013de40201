// The processor time of a run of `dedup`, stage by stage, seen from outside: with `--tmp` it leaves a checkpoint at the end of each.
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

/** What ends with a checkpoint each, and what comes behind the last. The first checkpoint is there when a run begins. */
const STAGES = ['sketch and exact groups', 'candidates', 'verify', 'cluster and write'];
/** Where the candidates of a method are not kept: a crowd of fingerprints. */
const FEWER = ['sketch and exact groups', 'candidates and verify', 'cluster and write'];

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
  // It is waited for below, and may have failed before that.
  ended.catch(() => {});
  let [before, last, at] = [0, 0, 1];
  const spent = [];
  while (child.exitCode === null && child.signalCode === null) {
    const [now, number] = [used(child.pid), checkpoint(tmp)];
    if (now === undefined) break;
    if (number > at) {
      spent.push(now - before);
      [before, at] = [now, number];
    }
    last = now;
    await setTimeout(2);
  }
  await ended;
  if (last === 0) return {};
  spent.push(last - before);
  const names = [STAGES, FEWER].find(({ length }) => length === spent.length);
  if (names === undefined)
    throw new Error(`a run with ${spent.length} checkpoints: which stages are they of?`);
  return Object.fromEntries(names.map((name, place) => [name, spent[place]]));
}
