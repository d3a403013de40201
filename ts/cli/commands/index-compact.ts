import { given } from '../../given';
import { defineCommand } from '../command';
import { EXIT } from '../exit';
import { described, sentence, settling } from '../indexed';
import { words, wordsOf } from '../options';
import { watched } from '../run';
import { versions } from '../version';

export const indexCompact = defineCommand({
  name: 'index compact',
  summary: 'make an index as small as it can be',
  arguments: { usage: 'DIR', min: 1, max: 1, help: 'the folder of an index' },
  options: { ...words, json: { kind: 'flag', help: 'print the result as JSON' } },
  examples: ['index compact news.index'],
  notes: [
    'Gives back the space of documents that have left, and writes a checkpoint that takes the place of the logs: nothing is answered otherwise, and the next opening has less to read. Killed on the way, it leaves the index as it was.',
    'A dictionary, stop words and idf that it was built with are given again.',
  ],
  run([path = ''], values, terminal) {
    return watched(terminal, undefined, async (signal) => {
      const { compactIndex } = await import('../../index-files.js');
      const index = await compactIndex(path, wordsOf(values), signal);
      if (values.json) {
        const about = { ...described(index), ...given({ settled: index.settled }) };
        const all = { index: path, documents: index.stats.live, ...about };
        await terminal.write(`${JSON.stringify({ ...all, versions: versions() })}\n`);
        return EXIT.done;
      }
      for (const line of [...settling(index.settled), sentence(index)]) terminal.say(line);
      return EXIT.done;
    });
  },
});
