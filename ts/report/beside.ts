/** A report beside the result of a run: it is checked before the run begins, and written when the run has ended. */
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { typeError } from '../errors';
import { isFile, refuseReport } from './refused';
import { type Made, type ReportSummary, refuseStreams, type Written, write } from './write';

/** A run and its report. */
export interface Beside<S> {
  readonly report: string;
  /** Where the clusters or matches go, if they are to stay. */
  readonly result: string | undefined;
  /** Where files lie that do not stay; by default the folder of the system. */
  readonly tmp?: string | undefined;
  readonly inputs: readonly string[];
  readonly others: readonly string[];
  /** What the run writes too. */
  readonly outputs: readonly (string | undefined)[];
  readonly made: Made;
  /** Writes the result into this file. */
  readonly run: (result: string) => Promise<S>;
  /** What the page is told of the run. */
  readonly about: (summary: S) => Partial<Made>;
}

/** Runs, and writes the page. */
export async function beside<S extends object>(
  of: Beside<S>,
): Promise<S & { report: ReportSummary }> {
  const { report, inputs, others, outputs } = of;
  const files = { inputs, others, output: report };
  const named = { ...files, result: of.result ?? '' };
  refuseStreams(named);
  if (!isFile(named.result)) {
    throw typeError(
      `a report reads clusters or matches as a file of JSON lines, got ${of.result}, a folder, a pipe or a device`,
      'ERR_INVALID_ARG_VALUE',
    );
  }
  refuseReport(report, { inputs: [...inputs, ...others], outputs: [...outputs, of.result] });
  if (of.result !== undefined) return ran(of, { ...files, result: of.result }, async () => {});
  const folder = of.tmp ?? (await mkdtemp(join(tmpdir(), 'simhash-report-')));
  // Of a run that can go on the name is the same when it does.
  const result = join(folder, `simhash-report-${name(report)}.jsonl`);
  const gone = of.tmp === undefined ? folder : result;
  return ran(of, { ...files, result }, () => rm(gone, { recursive: true, force: true }));
}

/** Runs, and writes the page of the result, which is removed then. */
async function ran<S extends object>(
  of: Beside<S>,
  files: Written,
  remove: () => Promise<void>,
): Promise<S & { report: ReportSummary }> {
  const { threads, signal, ...rest } = of.made;
  const temporary = of.result === undefined;
  let isKept = false;
  try {
    const summary = await of.run(files.result);
    try {
      const made = { ...rest, threads, signal, temporary, ...of.about(summary) };
      return { ...summary, report: await write(files, made) };
    } catch (error) {
      // Who stops a run wants nothing of it; of any other error the run need not be made again.
      isKept = !signal?.aborted;
      if (isKept) sayWhere(error, files.result);
      throw error;
    }
  } finally {
    if (!isKept) await remove();
  }
}

/** Adds to an error that the run itself has ended, and what the page can be made of. */
function sayWhere(error: unknown, result: string): void {
  if (!(error instanceof Error)) return;
  error.message += `; the run is done and its outputs are there: the page can be made by report ${result} --docs IN`;
}

function name(report: string): string {
  return createHash('sha256').update(resolve(report)).digest('hex').slice(0, 16);
}
