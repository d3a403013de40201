import { given } from '../../given';
import { INDEX_METHODS } from '../../method';
import { OPTIONS } from '../../option-table';
import { defineCommand } from '../command';
import { UsageError } from '../exit';
import { fillIndex, readOf } from '../indexed';
import { comparing, comparingOptions, INDEX_AND_DOCUMENTS, rejects } from '../options';

const { method, ...others } = comparing;

export const indexBuild = defineCommand({
  name: 'index build',
  summary: 'make an index of the documents in files',
  arguments: INDEX_AND_DOCUMENTS,
  options: {
    ...rejects,
    method: { ...method, choices: INDEX_METHODS },
    plan: OPTIONS.plan,
    capacity: OPTIONS.capacity,
    'no-texts': {
      kind: 'flag',
      help: 'store no texts: the index is smaller, and its answers are not verified',
    },
    ...others,
  },
  examples: [
    'index build news.index news.jsonl',
    'index build small.index news.jsonl --method simhash --no-texts',
  ],
  notes: [
    'Creates a folder, which must not exist or be empty, with the tables that find neighbours, the ids of the documents, and their normalised texts, by which index query verifies. The index records its options, and checks that a dictionary, stop words and idf are the same later. It appears when the run has ended, or not at all; the next run removes what a killed run has left there, and reports it.',
    'Duplicates are not removed: every document is added to the index. A malformed line is reported as file:line and counted, and the run goes on (exit status 1).',
  ],
  async run([path = '', ...inputs], values, terminal) {
    if (path === '-') {
      throw new UsageError('index build needs DIR, got -', 'an index is a folder, not a stream');
    }
    const { plan, capacity, 'no-texts': noTexts } = values;
    const simhash = plan !== undefined || capacity !== undefined ? 'simhash' : undefined;
    const compared = comparingOptions({ ...values, method: values.method ?? simhash });
    const texts = noTexts ? { texts: false } : {};
    const options = { ...compared, ...given({ plan, capacity }), ...texts };
    const read = readOf(inputs, values);
    const { buildIndex } = await import('../../index-files.js');
    const start = (watched: Parameters<typeof buildIndex>[3]) =>
      buildIndex(path, options, read, watched);
    return fillIndex(path, start, { inputs, options }, values, terminal);
  },
});
