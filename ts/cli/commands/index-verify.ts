import { given } from '../../given';
import { defineCommand } from '../command';
import { EXIT } from '../exit';
import { described, sentence } from '../indexed';
import { READ_INDEX, words, wordsOf } from '../options';
import { watched } from '../run';
import { versions } from '../version';

export const indexVerify = defineCommand({
  name: 'index verify',
  summary: 'read and check everything of an index',
  arguments: READ_INDEX,
  options: { ...words, json: { kind: 'flag', help: 'print the result as JSON' } },
  examples: ['index verify news.index'],
  notes: [
    'Reads every file, checks all checksums, and checks that everything is consistent: files and manifest, consecutive logs, ids, keys and texts, fingerprints and their texts, and the records of dedup --index runs. The first damage is reported with file and byte (exit status 4). Nothing is changed; another process may write to the index meanwhile.',
    'Give the dictionary, stop words and idf that the index was built with again.',
  ],
  run([path = ''], values, terminal) {
    return watched(terminal, '-', async (signal) => {
      const { verifyIndex } = await import('../../index-files.js');
      const { index, unsettled } = await verifyIndex(path, wordsOf(values), signal);
      if (values.json) {
        const about = { ...described(index), ...given({ unsettled }) };
        const all = { index: path, documents: index.stats.live, ...about };
        await terminal.write(`${JSON.stringify({ ...all, versions: versions() })}\n`);
        return EXIT.done;
      }
      await terminal.write(`sound: ${sentence(index)}\n`);
      if (unsettled !== undefined) {
        terminal.say(
          `a run was killed while it was about to count (${unsettled.join(', ')}); the next one that writes to the index finishes it, or undoes it`,
        );
      }
      return EXIT.done;
    });
  },
});
