import { OPTIONS } from '../../option-table';
import { defineCommand } from '../command';
import { checkStreams, features, fields, fieldsOf, fingerprinterOptions } from '../options';
import { run as execute } from '../run';

export const fingerprint = defineCommand({
  name: 'fingerprint',
  summary: 'print the 64-bit SimHash of each text',
  arguments: {
    usage: '[IN...]',
    min: 0,
    max: Number.POSITIVE_INFINITY,
    help: 'files, plain or gzip; without any, or for -, standard input',
  },
  options: {
    method: {
      ...OPTIONS.method,
      default: 'simhash',
      help: 'what is printed: the signature of minhash, the fingerprint of simhash, the hashes of the longest sentences, of all features or of the whole text',
    },
    format: {
      kind: 'choice',
      value: 'FORMAT',
      choices: ['auto', 'lines', 'jsonl'],
      default: 'auto',
      help: 'one text per line, or JSON lines; auto = by the name of the file, lines for standard input',
    },
    ...features,
    ...fields,
    json: { kind: 'flag', help: 'print JSON lines: id and fingerprint' },
  },
  notes: [
    'Prints id, fingerprint in hexadecimal and the beginning of the text, separated by tabs. The fingerprint is - (with --json, absent) where the text has too little of what the method looks at, too few features to be compared by Hamming distance for instance.',
    'The id of a line is its number; with several inputs, file:line. Ids of records are printed as they are written. Malformed JSON lines are reported as file:line (exit status 1).',
  ],
  async run(args, values, terminal) {
    const { method, format, json } = values;
    const inputs = args.length === 0 ? ['-'] : [...args];
    checkStreams(inputs, []);
    const files = {
      inputs,
      output: '-',
      json,
      format: format === 'auto' ? undefined : format,
      ...fieldsOf(values),
    };
    const options = { ...fingerprinterOptions(values), method };
    const { fingerprintFiles } = await import('../../fingerprint-files.js');
    return execute(
      {
        output: '-',
        start: ({ signal }) => fingerprintFiles(files, options, signal),
        figures: (summary) => summary,
        // The lines are all that it says.
        summary: () => ({}),
        sentences: () => [],
      },
      { json: false, quiet: true },
      terminal,
    );
  },
});
