/** What `dedup` and `clusters` share: their options, one run over files, and what it says at its end. How documents are compared is said for `pairs` and `match` too. */
import type { DedupFilesOptions, Keep, Summary } from '..';
import { given } from '../given';
import { methodOf } from '../method';
import type { Values } from './command';
import { codeOf, EXIT, UsageError } from './exit';
import { bytes, count, plural } from './format';
import { Interrupt } from './interrupt';
import { execution, features, fields, fingerprinterOptions } from './options';
import { ProgressReport } from './progress';
import { Rejections } from './rejections';
import type { Told } from './summary';
import type { Terminal } from './terminal';
import { versions } from './version';

/** Who is compared with whom. */
const candidates = {
  method: {
    kind: 'choice',
    value: 'NAME',
    choices: ['minhash', 'simhash', 'sentences', 'brute-force', 'exact'],
    help: 'how near-duplicates are looked for; without it the one whose options are given, else minhash',
  },
  'max-distance': {
    kind: 'integer',
    value: 'K',
    min: 0,
    max: 16,
    help: 'for simhash: largest Hamming distance of two fingerprints, inclusive; without it 8',
  },
  bands: {
    kind: 'integer',
    value: 'B',
    min: 1,
    max: 1024,
    help: 'for minhash, with --rows; without it as many as --min-similarity needs',
  },
  rows: { kind: 'integer', value: 'R', min: 1, max: 1024, help: 'for minhash: rows per band' },
  sentences: {
    kind: 'integer',
    value: 'N',
    min: 1,
    max: 64,
    help: 'for sentences: how many of the longest; without it 5',
  },
} as const;

/** What they are compared by. */
const verification = {
  verify: {
    kind: 'choice',
    value: 'MEASURE',
    choices: ['auto', 'jaccard', 'containment', 'edit', 'cosine', 'off'],
    default: 'auto',
    help: 'what is measured between candidates',
  },
  'min-similarity': {
    kind: 'number',
    value: 'S',
    min: 0,
    max: 1,
    help: 'least similarity by that measure, where 0 = do not verify; without it 0.8',
  },
} as const;

/** How documents are compared. */
export const comparing = {
  ...candidates,
  ...verification,
  ...features,
  ...fields,
  ...execution,
} as const;

/** How documents are decided. */
export const deciding = {
  ...candidates,
  cluster: {
    kind: 'choice',
    value: 'HOW',
    choices: ['representative', 'components'],
    default: 'representative',
    help: 'what belongs together: what resembles the document that is kept, or whatever matches connect',
  },
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
  ...verification,
  ...features,
  ...fields,
  ...execution,
} as const;

type Comparing = Values<typeof comparing>;
type Deciding = Values<typeof deciding>;

/** The values as the library takes them. */
export function decidingOptions(values: Deciding) {
  return { ...comparingOptions(values), cluster: values.cluster, keep: keepOf(values) };
}

/** The values as the library takes them. */
export function comparingOptions(values: Comparing) {
  const { bands, rows, sentences, threads } = values;
  const own = given({ maxDistance: values['max-distance'], bands, rows, sentences });
  const method = methodOf({ ...given({ method: values.method }), ...own });
  const initial = method === 'simhash' ? { maxDistance: 8 } : {};
  return {
    ...initial,
    ...own,
    ...fingerprinterOptions(values),
    method,
    ...verified(values),
    textField: values['text-field'],
    idField: values['id-field'],
    threads,
  };
}

function verified({ verify, 'min-similarity': least }: Comparing) {
  if (verify !== 'off') return { verify, minSimilarity: least ?? 0.8 };
  if (least === undefined || least === 0) return { verify: false as const };
  throw new UsageError(
    `--min-similarity ${least} must be left out beside --verify off, which measures nothing`,
  );
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

/** One run. */
export interface Run {
  readonly inputs: readonly string[];
  readonly output: string | undefined;
  readonly options: DedupFilesOptions;
  /** Data goes to standard output, so that the JSON goes to standard error. */
  readonly streamed: boolean;
}

/** Runs to the end; the result is the exit status. */
export async function deduplicate(
  { inputs, output, options, streamed }: Run,
  { json, quiet }: Told,
  terminal: Terminal,
): Promise<number> {
  const { dedupFiles } = await import('../index.js');
  const progress = quiet ? undefined : new ProgressReport(terminal);
  const interrupt = new Interrupt(terminal);
  try {
    const summary = await dedupFiles(inputs, output, {
      ...options,
      signal: interrupt.signal,
      onProgress: (position) => progress?.update(position),
    });
    progress?.end();
    rejections(summary, terminal);
    if (json) {
      const text = JSON.stringify({ ...summary, inputs, options, versions: versions() });
      if (streamed) terminal.say(text);
      else await terminal.write(`${text}\n`);
    } else if (!quiet) {
      for (const line of sentences(summary, options.dryRun === true)) terminal.say(line);
    }
    return summary.rejected > 0 ? EXIT.rejected : EXIT.done;
  } catch (error) {
    progress?.end();
    if (interrupt.status === undefined) {
      // The reader of standard output, such as `head`, has what it wants.
      if (streamed && codeOf(error) === 'ERR_SIMHASH_PIPE') return EXIT.done;
      throw error;
    }
    terminal.say('interrupted; no output was written');
    terminal.say('to resume, run the same command again: it starts from the beginning');
    return interrupt.status;
  } finally {
    interrupt.release();
  }
}

/** @throws UsageError where standard input or output would be used twice. */
export function checkStreams(inputs: readonly string[], files: readonly (string | undefined)[]) {
  if (inputs.filter((input) => input === '-').length > 1) {
    throw new UsageError('standard input (-) can be read only once');
  }
  if (files.includes('-')) {
    throw new UsageError('only -o can be standard output (-); name a file for the others');
  }
}

/** Names the rejected records of a run. */
export function rejections(
  { firstRejected, rejected }: Pick<Summary, 'firstRejected' | 'rejected'>,
  terminal: Terminal,
): void {
  const rejections = new Rejections(terminal);
  for (const { file, line, reason } of firstRejected) rejections.add(file, line, reason);
  rejections.end(rejected);
}

function sentences(summary: Summary, dryRun: boolean): string[] {
  const { read, kept, duplicates, rejected, clusters, truncated } = summary;
  return [
    `read ${count(read)} = kept ${count(kept)} + duplicates ${count(duplicates)} + rejected ${count(rejected)}`,
    `${plural(clusters, 'cluster')}, ${pace(summary)}`,
    ...(truncated > 0
      ? [`${plural(truncated, 'text')} had more candidates than were looked at`]
      : []),
    ...removed(summary),
    ...(dryRun ? ['dry run: nothing was written'] : []),
  ];
}

/** How much was read, in what time. */
export function pace(summary: { readonly bytes: number; readonly seconds: number }): string {
  const { seconds } = summary;
  const rate = seconds > 0 ? summary.bytes / seconds : 0;
  return `${bytes(summary.bytes)} of lines in ${seconds.toFixed(2)} s (${bytes(rate)}/s)`;
}

/** What earlier runs had left. */
export function removed({ leftovers }: { readonly leftovers: readonly string[] }): string[] {
  return leftovers.map((path) => `removed ${path}, which a killed run had left`);
}
