import { defineCommand } from '../command';
import { fillIndex, readOf } from '../indexed';
import { execution, fields, INDEX_AND_DOCUMENTS, rejects, words, wordsOf } from '../options';

export const indexAdd = defineCommand({
  name: 'index add',
  summary: 'add the documents in files to an index',
  arguments: INDEX_AND_DOCUMENTS,
  options: { ...rejects, ...words, ...fields, ...execution },
  examples: ['index add news.index today.jsonl'],
  notes: [
    'Documents are compared with the options of the index; give the dictionary, stop words and idf that it was built with again. The run is one commit: at the end the index has all of its documents; if it is killed, it has all or none. One process writes to an index at a time; others may query it meanwhile.',
    'A record without an id gets its line number as id, as with other commands; after several runs such an id names several documents.',
  ],
  async run([path = '', ...inputs], values, terminal) {
    const read = readOf(inputs, values);
    const { addToIndex } = await import('../../index-files.js');
    const start = (watched: Parameters<typeof addToIndex>[3]) =>
      addToIndex(path, wordsOf(values), read, watched);
    return fillIndex(path, start, { inputs }, values, terminal);
  },
});
