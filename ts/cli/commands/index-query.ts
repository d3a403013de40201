import { OPTIONS } from '../../option-table';
import { defineCommand } from '../command';
import { queryIndex } from '../indexed';
import {
  execution,
  fields,
  INDEX_AND_DOCUMENTS,
  output,
  rejects,
  separating,
  words,
} from '../options';

export const indexQuery = defineCommand({
  name: 'index query',
  summary: 'find the documents of an index near those in files',
  arguments: INDEX_AND_DOCUMENTS,
  options: {
    ...output,
    ...separating,
    ...rejects,
    'max-distance': {
      ...OPTIONS.maxDistance,
      help: 'for an index of method simhash: largest Hamming distance, inclusive; without it that of the index',
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
  examples: ['index query news.index today.jsonl --limit 3'],
  notes: [
    'Writes a JSON line per document, as match does: id and matches, each with id and, where they are known, similarity and distance, the most similar first; those equally similar in the order in which they were added. If a limit left something out, truncated is true. The index is not changed; another process may add to it meanwhile. Instead of DIR a file that Index.save has written may be given.',
    'With --remove the documents that have no match are written instead, in their format; with --mark all of them, with marks. --list and --copy are for texts in files.',
    'Matches are verified as the index was built. Where it has not stored the text of a document, because of --no-texts or beyond 16 MiB, the match says "verified": false, and its similarity is an estimate or absent.',
    'The JSON summary goes to standard error where the matches go to standard output.',
  ],
  run([path = '', ...inputs], values, terminal) {
    return queryIndex(path, inputs, values, terminal);
  },
});
