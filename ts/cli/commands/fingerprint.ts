import { OPTIONS } from '../../option-table';
import { defineCommand } from '../command';
import {
  checkStreams,
  execution,
  features,
  fields,
  fieldsOf,
  fingerprinterOptions,
} from '../options';
import { run as execute } from '../run';

export const fingerprint = defineCommand({
  name: 'fingerprint',
  summary: 'print the 64-bit SimHash of each text',
  arguments: {
    usage: '[IN...]',
    min: 0,
    max: Number.POSITIVE_INFINITY,
    help: 'files or folders, plain or compressed; without any, or for -, standard input',
  },
  options: {
    method: {
      ...OPTIONS.method,
      default: 'simhash',
      help: 'what is printed: the signature of minhash, the fingerprint of simhash, the hashes of the longest sentences, of all features or of the whole text',
    },
    ...features,
    ...fields,
    json: { kind: 'flag', help: 'print JSON lines: id and fingerprint' },
    quiet: execution.quiet,
  },
  examples: ['fingerprint news.jsonl', 'fingerprint titles.txt --method minhash --json'],
  notes: [
    'Prints id, fingerprint in hexadecimal and the beginning of the text, separated by tabs. The fingerprint is - (with --json, absent) if the text is too short for the method, for example if it has too few features to be compared by Hamming distance.',
    'An input whose name or first character does not show that it is JSON, CSV or TSV is read as lines. The id of a line is its number; with several inputs, file:line. Ids of records are printed as they are written. Malformed JSON lines are reported as file:line (exit status 1).',
  ],
  async run(args, values, terminal) {
    const { method, json } = values;
    const inputs = args.length === 0 ? ['-'] : [...args];
    checkStreams(inputs, []);
    const files = {
      inputs,
      output: '-',
      json,
      form: fieldsOf(values),
    };
    const options = { ...fingerprinterOptions(values), method };
    const { fingerprintFiles } = await import('../../fingerprint-files.js');
    return execute(
      {
        output: '-',
        start: ({ signal, onProgress }) =>
          fingerprintFiles(files, options, signal, ({ found: _, ...at }) => onProgress(at)),
        figures: (summary) => summary,
        // The lines are all that it says.
        summary: () => ({}),
        sentences: () => [],
      },
      { json: false, quiet: values.quiet },
      terminal,
    );
  },
});
