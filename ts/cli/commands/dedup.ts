import type { Summary } from '../..';
import { given } from '../../given';
import { defineCommand, type Values } from '../command';
import { codeOf, EXIT, UsageError } from '../exit';
import { bytes, count, plural } from '../format';
import { Interrupt } from '../interrupt';
import { comparison, features, fields, fingerprinterOptions } from '../options';
import { ProgressReport } from '../progress';
import { Rejections } from '../rejections';
import type { Terminal } from '../terminal';
import { versions } from '../version';

const options = {
  output: { kind: 'text', short: 'o', value: 'OUT', help: 'file for the documents that are kept' },
  clusters: {
    kind: 'text',
    value: 'FILE',
    help: 'also write each cluster of two or more: its representative and members',
  },
  mark: {
    kind: 'flag',
    help: 'keep every record; add duplicateOf, similarity and distance to duplicates',
  },
  rejects: { kind: 'text', value: 'FILE', help: 'also write the rejected records' },
  ...comparison,
  ...features,
  ...fields,
  threads: {
    kind: 'integer',
    value: 'N',
    min: 0,
    max: 1024,
    default: 0,
    help: 'threads to use; 0 = one per core',
  },
  'dry-run': { kind: 'flag', help: 'decide and count, write nothing' },
  json: { kind: 'flag', help: 'print the summary as JSON, with options and versions' },
  quiet: { kind: 'flag', short: 'q', help: 'no progress and no summary, only errors' },
} as const;

export const dedup = defineCommand({
  name: 'dedup',
  summary: 'write the documents of files without their near-duplicates',
  arguments: {
    usage: 'IN...',
    min: 1,
    max: Number.POSITIVE_INFINITY,
    help: 'files of JSON lines, plain or gzip; - is standard input',
  },
  options,
  notes: [
    'Of near-duplicates the first is kept; kept records are copied byte for byte. Outputs appear whole when the run has ended, or not at all.',
    'A malformed line is rejected: it is reported as file:line and counted, and the run goes on (exit status 1).',
    'The JSON summary goes to standard output, or to standard error where the documents go to standard output.',
  ],
  async run(inputs, values, terminal) {
    checkStreams(inputs, values);
    const { dedupFiles } = await import('../../index.js');
    const output = values['dry-run'] ? (values.output ?? '-') : (values.output ?? missingOutput());
    const progress = values.quiet ? undefined : new ProgressReport(terminal);
    const interrupt = new Interrupt(terminal);
    try {
      const summary = await dedupFiles(inputs, output, {
        ...libraryOptions(values),
        signal: interrupt.signal,
        onProgress: (position) => progress?.update(position),
      });
      progress?.end();
      await report(inputs, values, summary, terminal);
      return summary.rejected > 0 ? EXIT.rejected : EXIT.done;
    } catch (error) {
      progress?.end();
      if (interrupt.status === undefined) {
        // The reader of standard output, such as `head`, has what it wants.
        if (values.output === '-' && codeOf(error) === 'ERR_SIMHASH_PIPE') return EXIT.done;
        throw error;
      }
      terminal.say('interrupted; no output was written');
      terminal.say('to resume, run the same command again: it starts from the beginning');
      return interrupt.status;
    } finally {
      interrupt.release();
    }
  },
});

type DedupValues = Values<typeof options>;

function libraryOptions(values: DedupValues) {
  return {
    ...given({
      clusters: values.clusters,
      rejects: values.rejects,
    }),
    ...fingerprinterOptions(values),
    mark: values.mark,
    maxDistance: values['max-distance'],
    minSimilarity: values['min-similarity'],
    textField: values['text-field'],
    idField: values['id-field'],
    threads: values.threads,
    dryRun: values['dry-run'],
  };
}

function missingOutput(): never {
  throw new UsageError(
    'dedup needs -o OUT',
    '-o - writes to standard output, --dry-run writes nothing',
  );
}

function checkStreams(inputs: readonly string[], values: DedupValues): void {
  if (inputs.filter((input) => input === '-').length > 1) {
    throw new UsageError('standard input (-) can be read only once');
  }
  const others = [values.clusters, values.rejects];
  if (others.includes('-')) {
    throw new UsageError('only -o can be standard output (-); name a file for the others');
  }
}

async function report(
  inputs: readonly string[],
  values: DedupValues,
  summary: Summary,
  terminal: Terminal,
): Promise<void> {
  const rejections = new Rejections(terminal);
  for (const { file, line, reason } of summary.firstRejected ?? []) {
    rejections.add(file, line, reason);
  }
  rejections.end(summary.rejected);
  if (values.json) {
    const all = { ...summary, inputs, options: libraryOptions(values), versions: versions() };
    const text = JSON.stringify(all);
    if (values.output === '-') terminal.say(text);
    else await terminal.write(`${text}\n`);
  } else if (!values.quiet) {
    for (const line of sentences(summary, values['dry-run'])) terminal.say(line);
  }
}

function sentences(summary: Summary, dryRun: boolean): string[] {
  const { read, kept, duplicates, rejected, clusters, truncated, seconds } = summary;
  const rate = seconds > 0 ? summary.bytes / seconds : 0;
  return [
    `read ${count(read)} = kept ${count(kept)} + duplicates ${count(duplicates)} + rejected ${count(rejected)}`,
    `${plural(clusters, 'cluster')}, ${bytes(summary.bytes)} in ${seconds.toFixed(2)} s (${bytes(rate)}/s)`,
    ...(truncated > 0
      ? [`${plural(truncated, 'document')} had more candidates than were verified`]
      : []),
    ...(dryRun ? ['dry run: nothing was written'] : []),
  ];
}
