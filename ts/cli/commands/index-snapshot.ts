import { defineCommand } from '../command';
import { EXIT } from '../exit';
import { count } from '../format';
import { described } from '../indexed';
import { words, wordsOf } from '../options';
import { watched } from '../run';
import { versions } from '../version';

export const indexSnapshot = defineCommand({
  name: 'index snapshot',
  summary: 'write an index, as it is now, to another folder',
  arguments: {
    usage: 'DIR OUT',
    min: 2,
    max: 2,
    help: 'the folder of an index, and the folder for its copy, which must not be there or be empty',
  },
  options: { ...words, json: { kind: 'flag', help: 'print the result as JSON' } },
  examples: ['index snapshot news.index backup.index'],
  notes: [
    'The copy is an index of its own: a backup, or a second index to add to. It appears whole or not at all; another process may write to the index meanwhile. Instead of DIR a file that Index.save has written may be given: the copy is then the folder that index add and dedup --index write to.',
    'Give the dictionary, stop words and idf that the index was built with again.',
  ],
  run([path = '', to = ''], values, terminal) {
    return watched(terminal, undefined, async (signal) => {
      const { snapshotIndex } = await import('../../index-files.js');
      const written = await snapshotIndex(path, wordsOf(values), to, signal);
      const { documents, leftovers, index } = written;
      if (values.json) {
        const all = { index: path, output: to, documents, leftovers, ...described(index) };
        await terminal.write(`${JSON.stringify({ ...all, versions: versions() })}\n`);
        return EXIT.done;
      }
      terminal.say(`${count(documents)} documents written to ${to}`);
      for (const path of leftovers) terminal.say(`removed ${path}, which a killed run had left`);
      return EXIT.done;
    });
  },
});
