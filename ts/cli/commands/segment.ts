import { given } from '../../given';
import { defineCommand } from '../command';
import { checkStreams, execution, features, fields, fieldsOf, output, rejects } from '../options';
import { run as execute, pace, readings } from '../run';

export const segment = defineCommand({
  name: 'segment',
  summary: 'write the Chinese words of each text',
  arguments: {
    usage: '[IN...]',
    min: 0,
    max: Number.POSITIVE_INFINITY,
    help: 'files or folders, plain or compressed; without any, or for -, standard input',
  },
  options: {
    ...output,
    ...rejects,
    json: { kind: 'flag', help: 'JSON lines of id and words, which joined are the text' },
    dictionary: features.dictionary,
    'no-hmm': features['no-hmm'],
    ...fields,
    threads: execution.threads,
    quiet: execution.quiet,
  },
  examples: ['segment titles.txt -o words.txt', 'segment news.jsonl --json --dictionary own.txt'],
  notes: [
    'Writes the words of Python jieba in accurate mode: one line per record, separated by spaces, without words that are white space. With --json none is left out. Texts are not normalised.',
    'An input whose name or first character does not show that it is JSON, CSV or TSV is read as lines. A malformed record has no line: it is reported as file:line and counted, and the run goes on (exit status 1).',
  ],
  async run(args, values, terminal) {
    const { output, rejects, json, dictionary, threads } = values;
    const inputs = args.length === 0 ? ['-'] : [...args];
    checkStreams(inputs, [rejects]);
    const files = { inputs, output, rejects, json, form: fieldsOf(values), threads };
    const cutting = { hmm: !values['no-hmm'], ...given({ dictionary }) };
    const { segmentFiles } = await import('../../segment-files.js');
    return execute(
      {
        output,
        start: ({ signal, onProgress }) =>
          segmentFiles(files, cutting, signal, ({ found: _, ...at }) => onProgress(at)),
        figures: (summary) => summary,
        // The lines are all that it says.
        summary: () => ({}),
        sentences: (summary) => {
          const { read, kept: documents, rejected } = summary;
          return [readings(read, { documents, rejected }), pace(summary)];
        },
      },
      { json: false, quiet: values.quiet },
      terminal,
    );
  },
});
