import { defineCommand } from '../command';
import { codeOf, EXIT } from '../exit';
import { count } from '../format';
import { described } from '../indexed';
import { output, READ_INDEX, words, wordsOf } from '../options';
import { watched } from '../run';
import { versions } from '../version';

export const indexExport = defineCommand({
  name: 'index export',
  summary: 'export the documents of an index',
  arguments: READ_INDEX,
  options: {
    ...output,
    format: {
      kind: 'choice',
      value: 'FORMAT',
      choices: ['jsonl', 'csv', 'arrow'],
      help: 'JSON lines, CSV with a header line, or an Arrow file. Default: by the name of FILE (.csv, .arrow, .feather), else jsonl',
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
    'Writes a line per document, in the order in which they were added: id, number in the index, and, in hexadecimal, its fingerprint (simhash), signature (minhash, if signatures are stored: index build --no-texts), the hashes of its sentences (sentences), or hash (exact): = and the hash of the normalised text. The hash is also written for a document that is compared as a whole. The value is absent for an empty text, and if the index stores none. A document without an id has its number as id.',
    'An Arrow file (Feather) has these columns: id (text), number (u64), fingerprint (u64), signature (list of u32) or sentences (list of u64), and hash (16 bytes) for documents compared by their normalised text.',
    'Another process may write to the index meanwhile. Give the dictionary, stop words and idf that the index was built with again. The JSON summary goes to standard error where the documents go to standard output.',
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
