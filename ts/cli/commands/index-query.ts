import { OPTIONS } from '../../option-table';
import { defineCommand } from '../command';
import { queryIndex, required } from '../indexed';
import { DOCUMENTS, execution, fields, output, rejects, savedIndex, words } from '../options';

export const indexQuery = defineCommand({
  name: 'index query',
  summary: 'find the documents of a saved index near those in files',
  arguments: DOCUMENTS,
  options: {
    ...savedIndex,
    ...output,
    ...rejects,
    'max-distance': {
      ...OPTIONS.maxDistance,
      help: 'for an index of simhash: largest Hamming distance, inclusive; without it that of the index',
    },
    'min-similarity': {
      ...OPTIONS.minSimilarity,
      help: 'least similarity, where 0 = do not verify; without it that of the index',
    },
    limit: OPTIONS.limit,
    ...words,
    ...fields,
    ...execution,
  },
  notes: [
    'Writes a JSON line per document, as match does: id and matches, each with id and, where they are known, similarity and distance, the most similar first; those equally similar in the order in which they were added. Where a limit left something out, truncated is true. The index is not changed.',
    'Matches are verified as the index was built. Where it has not stored the text of a document, because of --no-texts or beyond 64 KiB, the match says "verified": false, and its similarity is an estimate or absent.',
    'The JSON summary goes to standard error where the matches go to standard output.',
  ],
  run(inputs, values, terminal) {
    return queryIndex(required(values, 'index query'), inputs, values, terminal);
  },
});
