import { defineCommand } from '../command';
import { checkStreams, comparing, rejections } from '../deduplicate';
import { codeOf, EXIT } from '../exit';
import { Interrupt } from '../interrupt';
import { features, fields, fingerprinterOptions } from '../options';

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
      ...comparing.method,
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
    const run = {
      inputs,
      output: '-',
      json,
      format: format === 'auto' ? undefined : format,
      textField: values['text-field'],
      idField: values['id-field'],
    };
    const options = { ...fingerprinterOptions(values), method };
    const { fingerprintFiles } = await import('../../fingerprint-files.js');
    const interrupt = new Interrupt(terminal);
    try {
      const summary = await fingerprintFiles(run, options, interrupt.signal);
      rejections(summary, terminal);
      return summary.rejected > 0 ? EXIT.rejected : EXIT.done;
    } catch (error) {
      if (interrupt.status !== undefined) return interrupt.status;
      // The reader of standard output, such as `head`, has what it wants.
      if (codeOf(error) === 'ERR_SIMHASH_PIPE') return EXIT.done;
      throw error;
    } finally {
      interrupt.release();
    }
  },
});
