/** A report beside the result of a run: it is checked before the run begins, and written when the run has ended. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { SimHashError, typeError } from '../errors';
import { type Made, type ReportSummary, refuseStreams, write } from './write';

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
  const { report, inputs, others, outputs, made, tmp } = of;
  const folder = of.result === undefined && tmp === undefined ? await temporaryFolder() : undefined;
  // Of a run that can go on the name is the same when it does.
  const result = of.result ?? join(folder ?? tmp ?? '', `simhash-report-${name(report)}.jsonl`);
  try {
    const files = { result, inputs, others, output: report };
    refuseStreams(files);
    refuseSame(report, [...inputs, ...others, ...outputs]);
    refuseNoFolder(report);
    const summary = await of.run(result);
    const temporary = of.result === undefined;
    const { threads, signal, ...rest } = made;
    const written = await write(files, {
      ...rest,
      threads,
      signal,
      temporary,
      ...of.about(summary),
    });
    if (temporary) await rm(result, { force: true });
    return { ...summary, report: written };
  } finally {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }
}

function temporaryFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'simhash-report-'));
}

function name(report: string): string {
  return createHash('sha256').update(resolve(report)).digest('hex').slice(0, 16);
}

function refuseSame(report: string, others: readonly (string | undefined)[]): void {
  const own = resolve(report);
  for (const other of others) {
    if (other === undefined || other === '-' || resolve(other) !== own) continue;
    throw typeError(
      `report must be a file of its own, got ${report}, which the run reads or writes`,
      'ERR_INVALID_ARG_VALUE',
    );
  }
}

/** A run of hours should not end with this. */
function refuseNoFolder(report: string): void {
  const folder = dirname(report);
  if (existsSync(folder)) return;
  throw new SimHashError(
    'ERR_SIMHASH_OUTPUT',
    `cannot write ${report}: there is no folder ${folder}`,
  );
}
