import type { Evaluation } from '../..';
import { OPTIONS } from '../../option-table';
import { defineCommand } from '../command';
import { EXIT, UsageError } from '../exit';
import { count, plural } from '../format';
import {
  checkStreams,
  execution,
  features,
  fields,
  fieldsOf,
  fingerprinterOptions,
} from '../options';
import { rejections, watched } from '../run';
import { versions } from '../version';

export const evaluation = defineCommand({
  name: 'eval',
  summary: 'score a result against labels: recall and precision',
  arguments: {
    usage: 'RESULT',
    min: 1,
    max: 1,
    help: 'what dedup --mark or --clusters wrote; - is standard input',
  },
  options: {
    labels: {
      kind: 'texts',
      value: 'FILE',
      help: 'the correct answers: clusters, pairs with a similarity or a label, or arrays of ids',
    },
    docs: {
      kind: 'texts',
      value: 'FILE',
      help: 'the documents: their number, and the texts by which links are verified',
    },
    'min-similarity': {
      ...OPTIONS.minSimilarity,
      default: 0.8,
      help: 'similarity from which a pair counts as duplicates',
    },
    ...features,
    ...fields,
    threads: execution.threads,
    json: { kind: 'flag', help: 'print the figures as JSON, with options and versions' },
  },
  examples: ['eval clusters.jsonl --labels labels.jsonl --docs news.jsonl'],
  notes: [
    'Result and labels are JSON lines, plain or gzip, of the same forms: {"representative", "members": [{"id"}]} or an array of ids is a cluster; {"a", "b"} is a pair, of duplicates unless its similarity is below --min-similarity or its label is 0; {"id", "duplicateOf"} is a decision. A pair of labels links the clusters of its two documents.',
    'Document recall is the share of redundant documents that are linked to a true duplicate of theirs. Pair precision is the share of reported links whose similarity, computed again from --docs, reaches --min-similarity; a cluster is scored by the links that connect its members with the highest similarities (the maximum spanning tree). Pair recall counts each labelled cluster as 50 pairs at most. Kept precision compares each duplicate with the document that was kept.',
    'Without --docs the documents are those that result and labels name. If the labels name no duplicates, recall is - (with --json, absent); labels without any usable line are an error. A malformed line is reported as file:line and counted, and the run goes on (exit status 1).',
  ],
  run([result = ''], values, terminal) {
    const { labels, docs, threads, 'min-similarity': minSimilarity } = values;
    if (labels === undefined) {
      throw new UsageError('eval needs --labels FILE', 'see: simhash-native help eval');
    }
    checkStreams([result, ...labels, ...(docs ?? [])], []);
    return watched(terminal, '-', async (signal) => {
      const { evaluateFile } = await import('../../evaluate-files.js');
      const by = fingerprinterOptions(values);
      const files = { labels, documents: docs, form: fieldsOf(values), by, minSimilarity, threads };
      const { figures, ...lines } = await evaluateFile(result, files, signal);
      rejections(lines, terminal);
      const { rejected } = lines;
      if (values.json) {
        const options = { ...by, minSimilarity };
        const all = { ...figures, rejected, result, labels, docs, options };
        await terminal.write(`${JSON.stringify({ ...all, versions: versions() })}\n`);
      } else {
        await terminal.write(table(figures));
        for (const line of doubts(figures)) terminal.say(line);
      }
      return rejected > 0 ? EXIT.rejected : EXIT.done;
    });
  },
});

/** One line per figure: its name, its value, what it is of. */
function table(of: Evaluation): string {
  const share = (value: number | undefined) => (value === undefined ? '-' : value.toFixed(6));
  const rows = [
    ['documents', count(of.documents), `${count(of.redundant)} redundant`],
    ['links', count(of.pairs), `${count(of.removed)} documents removed`],
    ['document recall', share(of.documentRecall), 'of redundant documents'],
    ['removal recall', share(of.removalRecall), 'of redundant documents, counted'],
    ['pair precision', share(of.pairPrecision), 'of links, by their texts'],
    ['  at 0.5', share(of.halfPrecision), ''],
    ['kept precision', share(of.keptPrecision), 'of removed documents, by their texts'],
    ['labelled precision', share(of.labelledPrecision), 'of links, by the labels'],
    ['pair recall', share(of.pairRecall), 'of true pairs, a cluster as 50 at most'],
    ['B-cubed precision', share(of.bcubedPrecision), ''],
    ['B-cubed recall', share(of.bcubedRecall), ''],
    ['B-cubed F1', share(of.bcubedF1), ''],
    ['adjusted Rand index', share(of.adjustedRand), ''],
    ...(of.apart > 0
      ? [['merged', count(of.merged), `of ${count(of.apart)} pairs labelled as different`]]
      : []),
  ];
  const [name, value] = [0, 1].map((at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows
    .map(([what = '', figure = '', basis = '']) =>
      `${what.padEnd(name ?? 0)}  ${figure.padStart(value ?? 0)}  ${basis}`.trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
}

/** What makes the figures doubtful. */
function doubts({ unknownDecisions, unknownLabels, redundant, removed }: Evaluation): string[] {
  return [
    ...(redundant === 0 ? ['the labels name no duplicates: is --labels the right file?'] : []),
    ...(removed === 0 ? ['the result names no duplicates: is RESULT the right file?'] : []),
    ...unknownIds(unknownDecisions, 'result'),
    ...unknownIds(unknownLabels, 'labels'),
  ];
}

/** What is said of ids that no document has. */
export function unknownIds(ids: number, where: 'result' | 'labels'): string[] {
  if (ids === 0) return [];
  const are = ids === 1 ? 'is of no document, and was' : 'are of no document, and were';
  return [`${plural(ids, 'id')} in the ${where} ${are} left out`];
}
