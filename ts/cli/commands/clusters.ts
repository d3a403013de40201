import { given } from '../../given';
import { defineCommand } from '../command';
import { deciding, decidingOptions } from '../deciding';
import { deduplicate } from '../deduplicate';
import { UsageError } from '../exit';
import { checkStreams, DOCUMENTS, output, rejects, reporting, reportingOf } from '../options';

export const clusters = defineCommand({
  name: 'clusters',
  summary: 'list the clusters of near-duplicates in files',
  arguments: DOCUMENTS,
  options: {
    ...output,
    ...rejects,
    ...reporting,
    ...deciding,
  },
  examples: [
    'clusters news.jsonl -o clusters.jsonl',
    'clusters news.jsonl -o clusters.jsonl --report report.html',
    'clusters titles.txt --min-similarity 0.7 --cluster components',
  ],
  notes: [
    'A line per cluster of two or more, {"representative": id, "members": [{"id", "similarity", "distance"}, …]}: the document that dedup would keep, first, and the others, with their similarity and distance to it where they are known.',
    'The JSON summary goes to standard output, or to standard error where the clusters go to standard output.',
  ],
  async run(inputs, values, terminal) {
    checkStreams(inputs, [values.rejects, values.report]);
    if (values.report !== undefined && values.output === '-') {
      throw new UsageError('clusters --report needs -o FILE', 'the report is made of that file');
    }
    const options = {
      clusters: values.output,
      ...given({ rejects: values.rejects }),
      ...reportingOf(values),
      ...decidingOptions(values),
    };
    const streamed = values.output === '-';
    return deduplicate({ inputs, output: undefined, options, streamed }, values, terminal);
  },
});
