import { defineCommand } from '../command';
import { interruptible } from '../interrupt';
import { writeNear } from '../near';
import { comparison, execution, fields, output, savedIndex } from '../options';
import { required, searchSaved } from '../saved';

const { default: _ofTheIndex, ...distance } = comparison['max-distance'];

export const indexQuery = defineCommand({
  name: 'index query',
  summary: 'find the documents of a saved index near those in files',
  arguments: {
    usage: 'IN...',
    min: 1,
    max: Number.POSITIVE_INFINITY,
    help: 'files of JSON lines, plain or gzip; - is standard input',
  },
  options: {
    ...savedIndex,
    ...output,
    'max-distance': {
      ...distance,
      help: `${distance.help}; without it that of the index`,
    },
    limit: {
      kind: 'integer',
      value: 'N',
      min: 1,
      max: Number.MAX_SAFE_INTEGER,
      help: 'at most N matches for each document, the nearest first',
    },
    ...fields,
    ...execution,
  },
  notes: [
    'Writes a JSON line per document: id and matches, each with id and distance, the nearest first; those equally near in the order in which they were added. Where --limit left matches out, truncated is true. The index is not changed.',
    'Matches rest on fingerprints alone, no text is compared; a short text matches only the same text.',
    'The JSON summary goes to standard error where the matches go to standard output.',
  ],
  run(inputs, values, terminal) {
    const path = required(values, 'index query');
    return interruptible(terminal, values.output, (signal) => {
      const { threads, limit, 'max-distance': maxDistance } = values;
      const about = { index: path, options: { maxDistance, limit, threads } };
      const open = () => searchSaved(path, { maxDistance, limit, threads, signal });
      return writeNear(inputs, [path], values, terminal, signal, about, open);
    });
  },
});
