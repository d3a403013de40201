import { given } from '../../given';
import { defineCommand } from '../command';
import { UsageError } from '../exit';
import { count, plural } from '../format';
import {
  candidates,
  checkStreams,
  execution,
  features,
  fields,
  fieldsOf,
  fingerprinterOptions,
  looks,
  looksOf,
  methodOptions,
  reported,
  verification,
} from '../options';
import { run } from '../run';

const { 'max-verifications': _most, ...verified } = verification;
const { sentences: _sentences, ...method } = candidates;

export const reporting = defineCommand({
  name: 'report',
  summary: 'make a report about a file of clusters or matches: figures, and pairs to label',
  arguments: {
    usage: 'RESULT',
    min: 1,
    max: 1,
    help: 'output of clusters, dedup --clusters or match: JSON lines',
  },
  options: {
    output: {
      kind: 'text',
      short: 'o',
      value: 'FILE',
      default: 'report.html',
      help: 'the page; it appears whole or not at all',
    },
    docs: { kind: 'texts', value: 'IN', help: 'the documents of the result' },
    others: {
      kind: 'texts',
      value: 'FILE',
      help: 'documents that are shown but not counted: those of --known or --against',
    },
    ...looks,
    ...method,
    ...verified,
    ...features,
    ...fields,
    ...execution,
  },
  examples: [
    'report clusters.jsonl --docs news.jsonl -o report.html',
    'report seen.jsonl --docs new.jsonl --others old.jsonl',
  ],
  notes: [
    'The report is one HTML file that loads nothing: totals, duplicate rates by file, length and date, sizes, similarities, distances, the curve of the bands, and a few hundred clusters with their texts, to look at and to label. Figures cover all documents; texts are shown for a selection of clusters. Give --method and the options after it as the result was made; nothing is compared again.',
    'Labels are downloaded from the page as a file for eval --labels and tune --labels. See docs/report.md.',
    'The JSON summary goes to standard output.',
  ],
  run([result = ''], values, terminal) {
    const { docs, others, output, threads } = values;
    if (docs === undefined) {
      throw new UsageError('report needs --docs IN', 'the documents that the result is about');
    }
    checkStreams([...docs, ...(others ?? [])], [result, output]);
    const options = {
      ...given({ others }),
      ...looksOf(values),
      ...methodOptions({ ...values, sentences: undefined }),
      ...fingerprinterOptions(values),
      ...fieldsOf(values),
      threads,
    };
    return run(
      {
        start: async ({ signal, onProgress }) => {
          const { reportFiles } = await import('../../report-files.js');
          return reportFiles(result, docs, output, { ...options, signal, onProgress });
        },
        figures: (summary) => summary,
        summary: (summary) => ({ ...summary, result, docs, output, options }),
        sentences: (summary) => [
          `${plural(summary.documents, 'document')}, ${count(summary.duplicates)} of them named as duplicates`,
          ...reported(summary, output),
        ],
      },
      values,
      terminal,
    );
  },
});
