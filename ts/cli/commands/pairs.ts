import { given } from '../../given';
import { defineCommand } from '../command';
import { checkStreams, comparing, comparingOptions, pace, removed } from '../deduplicate';
import { seek } from '../edges';
import { count, plural } from '../format';
import { output } from '../options';

export const pairs = defineCommand({
  name: 'pairs',
  summary: 'list the pairs of near-duplicates in files',
  arguments: {
    usage: 'IN...',
    min: 1,
    max: Number.POSITIVE_INFINITY,
    help: 'files of JSON lines, plain or gzip; - is standard input',
  },
  options: {
    ...output,
    rejects: { kind: 'text', value: 'FILE', help: 'also write the rejected records' },
    ...comparing,
  },
  notes: [
    'Writes a JSON line per pair: a and b, the ids of two documents in the order of the input, and similarity and distance where they are known. These are the pairs by which dedup decides: what they connect are the clusters of --cluster components.',
    'Of documents with equal texts the first stands for all: each later one is paired with it, at similarity 1. A thousand copies are 999 pairs, not half a million.',
    'Where a limit cut the candidates of b, the pair says "truncated": true; the summary counts such texts.',
    'A malformed line is reported as file:line and counted, and the run goes on (exit status 1). The JSON summary goes to standard error where the pairs go to standard output.',
  ],
  async run(inputs, values, terminal) {
    const { output, rejects } = values;
    checkStreams(inputs, [rejects]);
    const options = { ...given({ rejects }), ...comparingOptions(values) };
    const { pairsFiles } = await import('../../index.js');
    return seek(
      {
        output,
        what: 'pairs',
        about: { inputs, options },
        start: (watched) => pairsFiles(inputs, output, { ...options, ...watched }),
        sentences: (summary) => [
          `read ${count(summary.read)} = documents ${count(summary.documents)} + rejected ${count(summary.rejected)}`,
          `${plural(summary.pairs, 'pair')}, ${plural(summary.candidates, 'candidate')} compared, ${pace(summary)}`,
          ...(summary.truncated > 0
            ? [`${plural(summary.truncated, 'text')} had more candidates than were looked at`]
            : []),
          ...removed(summary),
        ],
      },
      values,
      terminal,
    );
  },
});
