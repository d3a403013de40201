/** The report of a run over a collection: the page of a run over files, of the files that the run has read into. */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dedupFiles } from '../../dedup-files';
import { SimHashError, typeError } from '../../errors';
import { given } from '../../given';
import { refuseReport } from '../../report/refused';
import { type ReportSummary, write } from '../../report/write';
import { DATE, without } from './copy';
import { ofLines } from './decide';
import type { RunDocument } from './run';
import type { Settings } from './settings';
import type { Stage } from './stage';

/** Refuses a report that cannot be a file, before anything is read. */
export function refusePage({ report }: Settings): void {
  if (report === undefined) return;
  if (report === '-') {
    const message = "a report is a file of its own, not standard output ('-')";
    throw typeError(message, 'ERR_INVALID_ARG_VALUE');
  }
  // Checked, and so a string.
  refuseReport(report as string, { inputs: [], outputs: [] });
}

/** Refuses one of a run that was done before: what was read is gone. */
export function refuseOfDone({ report }: Settings, { run }: RunDocument): void {
  if (report === undefined) return;
  const message = `run ${run} was done before, and what it read is gone: a report is made beside a run; leave report out, or name an empty target`;
  throw new SimHashError('ERR_SIMHASH_TARGET', message);
}

/** Writes the page, if there is to be one. */
export async function reported(stage: Stage): Promise<ReportSummary | undefined> {
  const { settings, source, known, run, work } = stage;
  const { report: output, reportTexts, dateField, signal } = settings;
  if (output === undefined) return undefined;
  const [result, read] = [work.path('clusters'), work.path('source')];
  const how = ofLines(settings);
  if (!existsSync(result)) await again(stage, result);
  await run.hold();
  const names = [...(known === undefined ? [] : [known.namespace]), source.namespace];
  const { rejected } = await without(work, source.namespace);
  const files = {
    ...{ result, inputs: [read], output: output as string },
    others: known === undefined ? [] : [work.path('known')],
  };
  // In a file that is made of the collection records are as they are in it.
  const asLines = { format: undefined, encoding: undefined, maxRecord: undefined };
  const form = { ...asLines, textField: settings.textField };
  return write(files, {
    ...how,
    ...{ command: 'dedup', temporary: true, onProgress: undefined },
    ...given({ reportTexts, signal, truncated: run.document.summary?.truncated }),
    ...(dateField === undefined ? {} : { dateField: DATE }),
    database: { inputs: [source.namespace], names, rejected, form },
  }).catch((error: unknown) => {
    if (!signal?.aborted && error instanceof Error) {
      // The field of dates belongs to what was read, and so to the run: a command without it is another one.
      const alone = dateField === undefined ? ', and without report the run is done' : '';
      error.message += `; all documents are written: the same command goes on with the page alone${alone}`;
    }
    throw error;
  });
}

/** Makes the clusters of a run that has decided without them, by the same decisions. */
async function again({ settings, known, work }: Stage, clusters: string): Promise<void> {
  const output = work.path('again');
  await dedupFiles(work.path('source'), output, {
    ...ofLines(settings),
    ...{ clusters, tmp: work.folder },
    ...(known === undefined ? {} : { known: work.path('known') }),
  });
  await rm(output);
}
