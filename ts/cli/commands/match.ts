import type { MatchSummary } from '../..';
import { given } from '../../given';
import { OPTIONS } from '../../option-table';
import { defineCommand, type OptionTable, type Values } from '../command';
import { UsageError } from '../exit';
import { count, plural } from '../format';
import { queryIndex } from '../indexed';
import {
  bounds,
  boundsOf,
  checkStreams,
  comparing,
  comparingOptions,
  execution,
  fields,
  fieldsOf,
  output,
  rejects,
  reported,
  reporting,
  reportingOf,
  separating,
  separatingOf,
  words,
} from '../options';
import { named, pace, readings, run } from '../run';
import type { Terminal } from '../terminal';

const options = {
  against: { kind: 'texts', value: 'FILE', help: 'the documents to search' },
  index: { kind: 'text', value: 'INDEX', help: 'a saved index to search, in place of files' },
  ...output,
  ...separating,
  ...rejects,
  ...reporting,
  limit: OPTIONS.limit,
  ...comparing,
  ...bounds,
} as const;

type MatchValues = Values<typeof options>;

/** Of the options about comparing and writing, those that an index takes too. */
const TAKEN: readonly string[] = [
  ...['against', 'index', 'limit', 'max-distance', 'min-similarity'],
  ...Object.keys({ ...output, ...separating, ...rejects, ...words, ...fields, ...execution }),
];

export const match = defineCommand({
  name: 'match',
  summary: 'find the documents of other files or an index near new ones',
  arguments: {
    usage: 'NEW...',
    min: 1,
    max: Number.POSITIVE_INFINITY,
    help: 'files of new documents, or folders; - is standard input',
  },
  options,
  examples: [
    'match train.jsonl --against test.jsonl --remove -o clean.jsonl',
    'match new.jsonl --against old.jsonl -o seen.jsonl',
    'match new.jsonl --against old.jsonl -o m.jsonl --report r.html',
    'match new.jsonl --index seen.index --limit 3',
  ],
  notes: [
    'Writes a JSON line per new document: id and matches, each with id and, where they are known, similarity and distance, the most similar first; those equally similar in the order of the files of --against. If a limit left something out, truncated is true.',
    'Matches are the pairs that the command pairs finds between the two, in the files of --against followed by the new ones. New documents are not compared with each other. Of documents of --against with equal texts the first stands for all, and a new document whose text is among them has that one match.',
    'With --remove the new documents without a match are written, as dedup writes them: in their format, byte for byte. This removes from a training set what a test set contains. With --mark all are written, and those with matches name the best one; --list and --copy are for texts in files.',
    'With --memory the data about documents of both sides is kept in temporary files, as with dedup; the matches are the same. Linux only, and not with --index, which is held in memory.',
    'With --index the command does the same as index query: documents are compared with the options of the index, and each copy that it holds is a match of its own.',
    'The JSON summary goes to standard error where the matches go to standard output.',
  ],
  async run(inputs, values, terminal) {
    const { against, index } = values;
    if ((against === undefined) === (index === undefined)) {
      throw new UsageError('match needs --against FILE or --index DIR', 'and not both');
    }
    if (index === undefined) return amongFiles(inputs, against ?? [], values, terminal);
    checkUnused(values);
    return queryIndex(index, inputs, values, terminal);
  },
});

async function amongFiles(
  inputs: readonly string[],
  against: readonly string[],
  values: MatchValues,
  terminal: Terminal,
): Promise<number> {
  const { rejects, limit } = values;
  const { records, separates, output } = separatingOf(values);
  checkStreams([...inputs, ...against], [rejects, values.report]);
  if (values.report !== undefined && (separates || output === '-')) {
    throw new UsageError(
      'match --report needs -o FILE, and matches in it',
      'the report is made of that file',
    );
  }
  const options = {
    ...{ against, ...given({ rejects, limit }), ...records },
    ...comparingOptions(values),
    ...boundsOf(values),
    ...fieldsOf(values),
    ...reportingOf(values),
  };
  const { matchFiles } = await import('../../edge-files.js');
  return run(
    {
      output,
      start: ({ signal, onProgress }) =>
        matchFiles(inputs, output, {
          ...options,
          signal,
          onProgress: ({ found: matches, ...at }) => onProgress({ ...at, matches }),
        }),
      figures: (summary) => summary,
      summary: (summary) => ({ ...summary, inputs, options }),
      sentences: (summary) => sentences(summary, separates, values.report),
    },
    values,
    terminal,
  );
}

function sentences(
  summary: MatchSummary,
  separates: boolean,
  report: string | undefined,
): string[] {
  const { read, documents, against, rejected, matched, matches, candidates } = summary;
  const { truncated, sameIds } = summary;
  return [
    readings(read, { 'new documents': documents, 'documents of --against': against, rejected }),
    `${plural(matched, 'document')} with ${count(matches)} matches, ${plural(candidates, 'candidate')} compared, ${pace(summary)}`,
    ...(separates ? [`${plural(documents - matched, 'document')} without`] : []),
    ...(truncated > 0 ? [`of ${plural(truncated, 'document')} a limit left something out`] : []),
    ...named(sameIds),
    ...reported(summary.report, report),
  ];
}

/** @throws UsageError for an option that an index has decided already. */
function checkUnused(values: Readonly<Record<string, unknown>>): void {
  const table: OptionTable = options;
  for (const [name, spec] of Object.entries(table)) {
    const initial = spec.kind === 'flag' ? false : spec.default;
    if (TAKEN.includes(name) || values[name] === initial) continue;
    throw new UsageError(
      `--${name} is for --against`,
      'an index says itself how documents are compared',
    );
  }
}
