import { given } from '../../given';
import { defineCommand } from '../command';
import { plural } from '../format';
import {
  bounds,
  boundsOf,
  checkStreams,
  comparing,
  comparingOptions,
  DOCUMENTS,
  fieldsOf,
  output,
  rejects,
} from '../options';
import { cut, named, pace, readings, run } from '../run';

export const pairs = defineCommand({
  name: 'pairs',
  summary: 'list the pairs of near-duplicates in files',
  arguments: DOCUMENTS,
  options: {
    ...output,
    ...rejects,
    ...comparing,
    ...bounds,
  },
  examples: [
    'pairs news.jsonl -o pairs.jsonl',
    'pairs titles.txt --method simhash --max-distance 3',
  ],
  notes: [
    'Writes a JSON line per pair: a and b, the ids of two documents in the order of the input, and similarity and distance where they are known. These are the pairs by which dedup decides: their connected components are the clusters of --cluster components.',
    'Of documents with equal texts the first stands for all: each later one is paired with it, at similarity 1. A thousand copies are 999 pairs, not half a million.',
    'Where a limit cut the candidates of b, the pair says "truncated": true; the summary counts such texts.',
    'With --memory the data about documents is kept in temporary files, as with dedup; the pairs are the same. Linux only.',
    'A malformed line is reported as file:line and counted, and the run goes on (exit status 1). The JSON summary goes to standard error where the pairs go to standard output.',
  ],
  async run(inputs, values, terminal) {
    const { output, rejects } = values;
    checkStreams(inputs, [rejects]);
    const options = {
      ...given({ rejects }),
      ...comparingOptions(values),
      ...boundsOf(values),
      ...fieldsOf(values),
    };
    const { pairsFiles } = await import('../../index.js');
    return run(
      {
        output,
        start: ({ signal, onProgress }) =>
          pairsFiles(inputs, output, {
            ...options,
            signal,
            onProgress: ({ found: pairs, ...at }) => onProgress({ ...at, pairs }),
          }),
        figures: (summary) => summary,
        summary: (summary) => ({ ...summary, inputs, options }),
        sentences: (summary) => {
          const { read, documents, rejected, pairs, candidates, truncated, sameIds } = summary;
          return [
            readings(read, { documents, rejected }),
            `${plural(pairs, 'pair')}, ${plural(candidates, 'candidate')} compared, ${pace(summary)}`,
            ...cut(truncated),
            ...named(sameIds),
          ];
        },
      },
      values,
      terminal,
    );
  },
});
