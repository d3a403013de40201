import { defineCommand } from '../command';
import { fillIndex, readOf, required } from '../indexed';
import { DOCUMENTS, execution, fields, rejects, savedIndex, words, wordsOf } from '../options';

export const indexAdd = defineCommand({
  name: 'index add',
  summary: 'add the documents in files to a saved index',
  arguments: DOCUMENTS,
  options: { ...savedIndex, ...rejects, ...words, ...fields, ...execution },
  notes: [
    'The index says how documents are compared; a dictionary, stop words and idf that it was built with are given again. The index is read, changed in memory and written anew: it is replaced when the run has ended, or stays as it was.',
    'A record without an id has its line number as id, as everywhere; after several runs such ids name several documents.',
  ],
  async run(inputs, values, terminal) {
    const path = required(values, 'index add');
    const read = readOf(inputs, values);
    const { addToIndexFile } = await import('../../index-files.js');
    const start = (watched: Parameters<typeof addToIndexFile>[3]) =>
      addToIndexFile(path, wordsOf(values), read, watched);
    return fillIndex(path, start, { inputs }, values, terminal);
  },
});
