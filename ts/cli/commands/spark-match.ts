import { given } from '../../given';
import { OPTIONS } from '../../option-table';
import { defineCommand } from '../command';
import { UsageError } from '../exit';
import { count, plural } from '../format';
import { jobOf, readOf, spark, sparking } from '../spark';

export const sparkMatch = defineCommand({
  name: 'spark match',
  summary: 'match on Spark: the documents of an old corpus near new ones',
  arguments: {
    usage: 'NEW...',
    min: 1,
    max: Number.POSITIVE_INFINITY,
    help: 'files or folders of new documents, as spark dedup takes them',
  },
  addresses: 'any',
  options: {
    against: { kind: 'texts', value: 'FILE', help: 'the documents to search' },
    ...sparking,
    limit: OPTIONS.limit,
  },
  examples: [
    'spark match new.jsonl --against old.jsonl -o out',
    'spark match train.parquet --against test.parquet -o clean',
  ],
  notes: [
    'Finds what match finds, byte for byte. OUT gets matches (a JSON line for each new document: id and matches), records (the new documents without a match: a training set without what the test set contains), and rejects if lines were rejected.',
    'Everything else is as with spark dedup: what is needed, the order of documents, methods, formats.',
  ],
  async run(inputs, values, terminal) {
    const { against, limit } = values;
    if (against === undefined) throw new UsageError('spark match needs --against FILE');
    const job = jobOf('spark match', inputs, values, given({ limit }), against);
    return spark(
      job,
      values,
      (counted) => {
        const { documents = 0, matched = 0, matches = 0 } = counted;
        return [
          readOf(counted, { 'documents of both sides': documents }),
          `${plural(matched, 'document')} with ${count(matches)} matches`,
        ];
      },
      terminal,
    );
  },
});
