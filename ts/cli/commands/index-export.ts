import { defineCommand } from '../command';
import { codeOf, EXIT } from '../exit';
import { count } from '../format';
import { described } from '../indexed';
import { output, READ_INDEX, words, wordsOf } from '../options';
import { watched } from '../run';
import { versions } from '../version';

export const indexExport = defineCommand({
  name: 'index export',
  summary: 'write down the documents of an index',
  arguments: READ_INDEX,
  options: {
    ...output,
    format: {
      kind: 'choice',
      value: 'FORMAT',
      choices: ['jsonl', 'csv', 'arrow'],
      help: 'JSON lines, CSV with a line of names, or a file of Arrow. Default: what the name of FILE ends with (.csv, .arrow, .feather), else jsonl',
    },
    ...words,
    json: { kind: 'flag', help: 'print a summary as JSON' },
    quiet: { kind: 'flag', short: 'q', help: 'no summary, only errors' },
  },
  examples: [
    'index export news.index -o news.csv',
    'index export news.index --format arrow -o news.feather',
  ],
  notes: [
    'A line per document, in the order in which they were added: id, number in the index, and in hexadecimal what the index knows it by: fingerprint (simhash), signature (minhash, where signatures are kept: index build --no-texts), sentences, their hashes, or hash (exact), = and the hash of the normalised text, which also stands for a document that is compared as a whole. It is left out of an empty text, and where nothing is kept. A document without an id has its number as id.',
    'A file of Arrow (Feather) has these columns: id (text), number (u64), fingerprint (u64), signature (list of u32) or sentences (list of u64), and hash (16 bytes) of what is known by its normalised text.',
    'A writer may go on meanwhile. A dictionary, stop words and idf that it was built with are given again. The JSON summary goes to standard error where the documents go to standard output.',
  ],
  run([path = ''], values, terminal) {
    const { output, format, json, quiet } = values;
    return watched(
      terminal,
      output,
      async (signal) => {
        const { exportIndex } = await import('../../index-files.js');
        try {
          const written = await exportIndex(path, wordsOf(values), output, format, signal);
          const { documents, leftovers, index } = written;
          if (json) {
            const all = { index: path, output, documents, leftovers, ...described(index) };
            const text = JSON.stringify({ ...all, versions: versions() });
            if (output === '-') terminal.say(text);
            else await terminal.write(`${text}\n`);
          } else if (!quiet) {
            terminal.say(`${count(documents)} documents`);
            for (const path of leftovers)
              terminal.say(`removed ${path}, which a killed run had left`);
          }
        } catch (error) {
          // The reader of standard output, such as `head`, has what it wants.
          if (output === '-' && codeOf(error) === 'ERR_SIMHASH_PIPE') return EXIT.done;
          throw error;
        }
        return EXIT.done;
      },
      quiet || (output === '-' && terminal.isShared),
    );
  },
});
