/** What a run over files will take: `plan IN...`, and the first lines of a dry run. */
import { availableParallelism } from 'node:os';
import type { DedupFilesOptions, FilesPlan } from '..';
import { given } from '../given';
import { canBeReadAgain } from '../read-again';
import type { Values } from './command';
import { deciding, decidingOptions } from './deciding';
import { EXIT, UsageError } from './exit';
import { bytes, count, duration, plural } from './format';
import { interruptible } from './interrupt';
import type { Terminal } from './terminal';
import { versions } from './version';

const { memory: _memory, resume: _resume, ...planned } = deciding;
const { quiet: _quiet, json: _json, ...run } = planned;
const { method: _method, 'max-distance': _distance, bands: _bands, rows: _rows, ...rest } = run;
const { sentences: _sentences, verify: _verify, 'min-similarity': _least, ...own } = rest;

/** The options of `dedup` that say what it has to do, without those that an index has too. */
export const OF_FILES = own;

type Planned = Omit<Values<typeof deciding>, 'memory' | 'resume' | 'quiet'>;

/** Refuses what says something about files only. */
export function refuseOfFiles(values: Values<typeof OF_FILES>): void {
  for (const [name, spec] of Object.entries(OF_FILES)) {
    const value = values[name as keyof typeof OF_FILES];
    const without = 'default' in spec ? spec.default : spec.kind === 'flag' ? false : undefined;
    if (value !== without) {
      throw new UsageError(`--${name} is for files: plan IN... --${name}`);
    }
  }
}

/** Says what `dedup` of these files will take; the result is the exit status. */
export function planOfFiles(
  inputs: readonly string[],
  values: Planned & { readonly json: boolean; readonly known: readonly string[] | undefined },
  terminal: Terminal,
): Promise<number> {
  return interruptible(terminal, '-', async (signal) => {
    const { planFiles } = await import('../plan-files.js');
    const { json, threads, known, ...decided } = values;
    const all = { ...decided, threads, memory: undefined, resume: false, quiet: false, json };
    const options = { ...decidingOptions(all), ...given({ known }) };
    const plan = await planFiles(inputs, { ...options, signal });
    const said = json
      ? JSON.stringify({ ...plan, inputs, options, versions: versions() })
      : foretold(plan, threads).join('\n');
    await terminal.write(`${said}\n`);
    return EXIT.done;
  });
}

/** What a run with these options will take; `undefined` where an input can be read only once. */
export async function foretell(
  inputs: readonly string[],
  options: DedupFilesOptions,
  signal: AbortSignal,
): Promise<FilesPlan | undefined> {
  const { mark, list, dryRun, copy, clusters, rejects, outputEncoding, ...rest } = options;
  const { index, resume, onProgress, ...planned } = rest;
  const { report, reportTexts, dateField, ...own } = planned;
  const { planFiles } = await import('../plan-files.js');
  const known = (own.known ?? []) as readonly string[];
  const once = [...inputs, ...known].some((input) => !canBeReadAgain(input));
  return once ? undefined : planFiles(inputs, { ...own, signal });
}

/** What is foretold, in sentences. `threads`: 0 for one per core; `memory`: the bound of the run, where it has one. */
export function foretold(plan: FilesPlan, threads: number, memory?: number): string[] {
  const { documents, sampled, exact, memoryBytes, diskBytes, copyBytes, cpuSeconds } = plan;
  const tasks = threads === 0 ? availableParallelism() : threads;
  const { least, most } = cpuSeconds;
  const seen = exact ? 'all were read' : `${count(sampled)} of them were read`;
  const held = memory === undefined ? memoryBytes : Math.min(memory, memoryBytes);
  const files = `${bytes(diskBytes)} of temporary files`;
  const bounded = memory === undefined ? `with --memory no more than that, and ${files}` : files;
  return [
    `${exact ? '' : 'about '}${plural(documents, 'document')} in ${bytes(plan.bytes)}; ${seen}`,
    `memory: ${bytes(held)}`,
    ...(diskBytes > 0 ? [bounded] : []),
    ...(copyBytes > 0 ? [`copies of records: ${bytes(copyBytes)} on disk`] : []),
    `processor time: ${range(least, most)}${tasks > 1 ? `; on ${tasks} threads ${range(least / tasks, most / tasks)}` : ''}`,
  ];
}

/** A range of seconds. */
export function range(least: number, most: number): string {
  return `${duration(Math.max(1, least))} to ${duration(Math.max(1, most))}`;
}
