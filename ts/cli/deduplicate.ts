/** What `dedup` and `clusters` share: their options, one run over files, and what it says at its end. */
import { statSync } from 'node:fs';
import type { DedupFilesOptions, Keep, Summary } from '..';
import { OPTIONS } from '../option-table';
import type { Values } from './command';
import { UsageError } from './exit';
import { plural } from './format';
import { settling } from './indexed';
import { GO_ON } from './interrupt';
import {
  candidates,
  comparing,
  comparingOptions,
  fieldsOf,
  resources,
  resourcesOf,
} from './options';
import { cut, named, pace, readings, run, type Told } from './run';
import type { Terminal } from './terminal';

/** How documents are decided. */
export const deciding = {
  ...candidates,
  cluster: { ...OPTIONS.cluster, default: 'representative' },
  keep: {
    kind: 'choice',
    value: 'RULE',
    choices: ['first', 'last', 'longest', 'newest', 'largest', 'smallest'],
    default: 'first',
    help: 'which document of a cluster is kept',
  },
  'keep-by': {
    kind: 'text',
    value: 'NAME',
    help: 'field that newest, largest and smallest compare; without it date for newest',
  },
  'across-files-only': {
    kind: 'flag',
    help: 'documents of one input are never duplicates of each other',
  },
  ...comparing,
  ...resources,
} as const;

type Deciding = Values<typeof deciding>;

/** The values as the library takes them. */
export function decidingOptions(values: Deciding) {
  const compared = {
    ...comparingOptions(values),
    ...fieldsOf(values),
    ...resourcesOf(values),
  };
  const acrossFilesOnly = values['across-files-only'];
  return {
    ...compared,
    cluster: values.cluster,
    keep: keepOf(values),
    ...(acrossFilesOnly ? { acrossFilesOnly } : {}),
  };
}

function keepOf({ keep, 'keep-by': field }: Deciding): Keep {
  if (keep === 'first' || keep === 'last' || keep === 'longest') {
    if (field === undefined) return keep;
    throw new UsageError(`--keep-by is for newest, largest and smallest, not for ${keep}`);
  }
  if (field?.split('.').includes('')) {
    const expected = 'keys separated by dots, none of them empty';
    throw new UsageError(`--keep-by must be ${expected}, got '${field}'`);
  }
  if (keep === 'newest') return field === undefined ? keep : { field };
  if (field === undefined) throw new UsageError(`--keep ${keep} needs --keep-by NAME`);
  return { field, order: keep };
}

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
  const { dedupFiles } = await import('../index.js');
  const { tmp, index, known = [], copy, dryRun = false } = options;
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
      start: (watched) => dedupFiles(inputs, output, { ...options, ...watched }),
      figures: (summary) => summary,
      summary: (summary) => ({ ...summary, inputs, options }),
      sentences: (summary) => sentences(summary, options.dryRun === true),
    },
    told,
    terminal,
  );
}

/** Whether this is a file or folder, which a run that goes on reads again. */
function canBeReadAgain(path: string): boolean {
  const about = path === '-' ? undefined : statSync(path, { throwIfNoEntry: false });
  // What is not there by this name is a pattern of names.
  if (about === undefined) return path !== '-' && /[*?[]/.test(path);
  return about.isFile() || about.isDirectory();
}

function sentences(summary: Summary, dryRun: boolean): string[] {
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
    ...(index === undefined ? [] : [`index of ${plural(index.documents, 'document')}`]),
    ...(dryRun ? ['dry run: nothing was written'] : []),
  ];
}
