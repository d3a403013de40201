/** What `dedup` and `clusters` share: one run over files, and what it says at its end. */
import type { DedupFilesOptions, FilesPlan, Summary } from '..';
import { given } from '../given';
import { canBeReadAgain } from '../read-again';
import { foretell, foretold } from './foretold';
import { plural } from './format';
import { settling } from './indexed';
import { GO_ON } from './interrupt';
import { reported } from './options';
import { cut, named, pace, readings, run, type Told } from './run';
import type { Terminal } from './terminal';

/** What is read, and where it goes; `streamed`, where data goes to standard output. */
export interface Deduplicated {
  readonly inputs: readonly string[];
  readonly output: string | undefined;
  readonly options: DedupFilesOptions;
  readonly streamed: boolean;
}

/** Runs to the end; the result is the exit status. */
export async function deduplicate(
  { inputs, output, options, streamed }: Deduplicated,
  told: Told,
  terminal: Terminal,
): Promise<number> {
  const { dedupFiles } = await import('../dedup-files.js');
  const { tmp, index, known = [], copy, dryRun = false } = options;
  let predicted: FilesPlan | undefined;
  const reads = [...inputs, ...(known as readonly string[])];
  const goesOn =
    tmp !== undefined &&
    index === undefined &&
    copy === undefined &&
    !dryRun &&
    !streamed &&
    reads.every(canBeReadAgain);
  return run(
    {
      output: streamed ? '-' : undefined,
      stopped: goesOn ? { next: GO_ON } : undefined,
      start: async (watched) => {
        if (dryRun) predicted = await foretell(inputs, options, watched.signal);
        if (predicted !== undefined && !told.json && !told.quiet) {
          const { threads = 0, memory } = options;
          for (const line of foretold(predicted, threads, memory)) terminal.say(line);
        }
        return dedupFiles(inputs, output, { ...options, ...watched });
      },
      figures: (summary) => summary,
      summary: (summary) => ({ ...summary, ...given({ predicted }), inputs, options }),
      sentences: (summary) => sentences(summary, options),
    },
    told,
    terminal,
  );
}

function sentences(summary: Summary, { dryRun, report }: DedupFilesOptions): string[] {
  const { read, kept, duplicates, rejected, clusters, truncated, known } = summary;
  const { index, resumed = 0, sameIds } = summary;
  return [
    ...settling(index?.settled),
    ...(index?.repeated
      ? ['this run was made before: answered as then, nothing added to the index']
      : []),
    ...(resumed > 0 ? [`${plural(resumed, 'record')} of it from the run that stopped`] : []),
    readings(read, { kept, duplicates, rejected }),
    ...(known === undefined ? [] : [`beside ${plural(known, 'known document')}`]),
    `${plural(clusters, 'cluster')}, ${pace(summary)}`,
    ...cut(truncated),
    ...named(sameIds),
    ...reported(summary.report, report as string | undefined),
    ...(index === undefined ? [] : [`index of ${plural(index.documents, 'document')}`]),
    ...(dryRun ? ['dry run: nothing was written'] : []),
  ];
}
