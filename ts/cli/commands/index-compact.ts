import { given } from '../../given';
import { defineCommand } from '../command';
import { EXIT } from '../exit';
import { described, sentence, settling } from '../indexed';
import { words, wordsOf } from '../options';
import { watched } from '../run';
import { versions } from '../version';

export const indexCompact = defineCommand({
  name: 'index compact',
  summary: 'reclaim space in an index',
  arguments: { usage: 'DIR', min: 1, max: 1, help: 'the folder of an index' },
  options: { ...words, json: { kind: 'flag', help: 'print the result as JSON' } },
  examples: ['index compact news.index'],
  notes: [
    'Frees the space of removed documents, and writes a checkpoint that replaces the logs: answers stay the same, and the next opening has less to read. If it is killed, the index stays as it was.',
    'Give the dictionary, stop words and idf that the index was built with again.',
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
