import { defineCommand } from '../command';
import { EXIT } from '../exit';
import { bytes, count } from '../format';
import { words, wordsOf } from '../options';
import { watched } from '../run';
import { versions } from '../version';

export const indexConvert = defineCommand({
  name: 'index convert',
  summary: 'convert an index that an earlier release saved into a folder',
  arguments: {
    usage: 'OLD DIR',
    min: 2,
    max: 2,
    help: 'a saved index, and a folder that does not exist yet',
  },
  options: { ...words, json: { kind: 'flag', help: 'print everything as JSON' } },
  examples: ['index convert old.index news.index'],
  notes: [
    'OLD is a file that release 0.1 saved (with OLD.ids.jsonl if the command line made it), or a file of this release. OLD is not changed. DIR appears when the run has ended, or not at all. Give the dictionary, stop words and idf that OLD was made with again.',
    'Indexes of release 0.1 store no texts to compare: answers say "verified": false.',
  ],
  run([old = '', folder = ''], values, terminal) {
    return watched(terminal, '-', async (signal) => {
      const { convertIndex } = await import('../../convert.js');
      const made = await convertIndex(old, folder, { ...wordsOf(values), signal });
      const { method, documents, tornBytes } = made;
      if (values.json) {
        const all = { index: folder, ...made, versions: versions() };
        await terminal.write(`${JSON.stringify(all)}\n`);
        return EXIT.done;
      }
      const torn =
        tornBytes > 0 ? `, without ${bytes(tornBytes)} of an incomplete last change` : '';
      await terminal.write(`${folder}: ${count(documents)} documents, ${method}${torn}\n`);
      return EXIT.done;
    });
  },
});
