import { given } from '../../given';
import { defineCommand, type OptionTable, type Values } from '../command';
import { checkStreams, comparing, comparingOptions, pace, removed } from '../deduplicate';
import { seek } from '../edges';
import { UsageError } from '../exit';
import { count, plural } from '../format';
import { interruptible } from '../interrupt';
import { writeNear } from '../near';
import { execution, fields, output } from '../options';
import { searchSaved } from '../saved';
import type { Terminal } from '../terminal';

const options = {
  against: { kind: 'texts', value: 'FILE', help: 'the documents to look among' },
  index: { kind: 'text', value: 'INDEX', help: 'a saved index to look in, in place of files' },
  ...output,
  rejects: { kind: 'text', value: 'FILE', help: 'also write the rejected records' },
  limit: {
    kind: 'integer',
    value: 'N',
    min: 1,
    max: Number.MAX_SAFE_INTEGER,
    help: 'at most N matches for each document, the most similar first',
  },
  ...comparing,
} as const;

type MatchValues = Values<typeof options>;

/** Of the options about comparing and writing, those that an index takes too. */
const TAKEN: readonly string[] = [
  'against',
  'index',
  'limit',
  'max-distance',
  ...Object.keys({ ...output, ...fields, ...execution }),
];

export const match = defineCommand({
  name: 'match',
  summary: 'find the documents of other files or an index near new ones',
  arguments: {
    usage: 'NEW...',
    min: 1,
    max: Number.POSITIVE_INFINITY,
    help: 'files of new documents, JSON lines, plain or gzip; - is standard input',
  },
  options,
  notes: [
    'Writes a JSON line per new document: id and matches, each with id and, where they are known, similarity and distance, the most similar first; those equally similar in the order of the files of --against. Where a limit left something out, truncated is true.',
    'Matches are the pairs that the command pairs finds between the two, in the files of --against followed by the new ones. New documents are not compared with each other. Of documents of --against with equal texts the first stands for all, and a new document whose text is among them has that one match.',
    'With --index nothing is verified, it has no texts: it says how features are made, and this is index query.',
    'The JSON summary goes to standard error where the matches go to standard output.',
  ],
  async run(inputs, values, terminal) {
    const { against, index } = values;
    if ((against === undefined) === (index === undefined)) {
      throw new UsageError('match needs --against FILE or --index INDEX', 'and not both');
    }
    return index === undefined
      ? amongFiles(inputs, against ?? [], values, terminal)
      : inIndex(inputs, index, values, terminal);
  },
});

async function amongFiles(
  inputs: readonly string[],
  against: readonly string[],
  values: MatchValues,
  terminal: Terminal,
): Promise<number> {
  const { output, rejects, limit } = values;
  checkStreams([...inputs, ...against], [rejects]);
  const options = { ...given({ rejects, limit }), ...comparingOptions(values) };
  const { matchFiles } = await import('../../index.js');
  return seek(
    {
      output,
      what: 'matches',
      about: { inputs, options: { against, ...options } },
      start: (watched) => matchFiles(inputs, output, { against, ...options, ...watched }),
      sentences: (summary) => [
        `read ${count(summary.read)} = new documents ${count(summary.documents)} + documents of --against ${count(summary.against)} + rejected ${count(summary.rejected)}`,
        `${plural(summary.matched, 'document')} with ${count(summary.matches)} matches, ${plural(summary.candidates, 'candidate')} compared, ${pace(summary)}`,
        ...(summary.truncated > 0
          ? [`of ${plural(summary.truncated, 'document')} a limit left something out`]
          : []),
        ...removed(summary),
      ],
    },
    values,
    terminal,
  );
}

function inIndex(
  inputs: readonly string[],
  index: string,
  values: MatchValues,
  terminal: Terminal,
): Promise<number> {
  checkUnused(values);
  const { 'max-distance': maxDistance, limit, threads } = values;
  return interruptible(terminal, values.output, (signal) => {
    const about = { index, options: { maxDistance, limit, threads } };
    const open = () => searchSaved(index, { maxDistance, limit, threads, signal });
    return writeNear(inputs, [index], values, terminal, signal, about, open);
  });
}

/** @throws UsageError for an option that an index has decided already. */
function checkUnused(values: Readonly<Record<string, unknown>>): void {
  const table: OptionTable = options;
  for (const [name, spec] of Object.entries(table)) {
    const initial = spec.kind === 'flag' ? false : spec.default;
    if (TAKEN.includes(name) || values[name] === initial) continue;
    throw new UsageError(
      `--${name} is for --against`,
      'an index has no texts to verify, and says itself how features are made',
    );
  }
}
