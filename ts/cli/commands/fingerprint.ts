import { defineCommand } from '../command';
import { EXIT } from '../exit';
import { oneLine } from '../format';
import { features, fields, fingerprinterOptions } from '../options';
import { type Document, records } from '../records';
import { Rejections } from '../rejections';

/** Documents per call into the addon: enough that its fixed cost disappears, few enough to stay in the cache. */
const BATCH = 1024;
/** Characters of the text that a line shows. */
const PREVIEW = 40;

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
    'Prints id, fingerprint in hexadecimal and the beginning of the text, separated by tabs. The fingerprint is - (with --json, absent) where the text has too few features to be compared by Hamming distance.',
    'The id of a line is its number; with several inputs, file:line. Malformed JSON lines are reported as file:line (exit status 1).',
  ],
  async run(args, values, terminal) {
    const { Fingerprinter, toHex } = await import('../../index.js');
    const fingerprinter = new Fingerprinter(fingerprinterOptions(values));
    const rejections = new Rejections(terminal);
    const source = {
      inputs: args.length === 0 ? ['-'] : args,
      format: values.format,
      textField: values['text-field'],
      idField: values['id-field'],
    };
    for await (const batch of batches(records(source, rejections))) {
      const results = await fingerprinter.fingerprintManyAsync(batch.map(({ text }) => text));
      const lines = batch.map(({ id, text }, row) => {
        const value = results.get(row);
        const hex = value === undefined ? undefined : toHex(value);
        return values.json
          ? JSON.stringify({ id, fingerprint: hex })
          : `${oneLine(id)}\t${hex ?? '-'}\t${preview(text)}`;
      });
      await terminal.write(`${lines.join('\n')}\n`);
    }
    rejections.end();
    return rejections.count > 0 ? EXIT.rejected : EXIT.done;
  },
});

async function* batches(documents: AsyncIterable<Document>): AsyncGenerator<Document[]> {
  let batch: Document[] = [];
  for await (const document of documents) {
    batch.push(document);
    if (batch.length === BATCH) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

/** The beginning of a text on one line. */
function preview(text: string | Uint8Array): string {
  // Twice what 40 characters of 4 bytes take, so that space in front costs nothing of the preview.
  const length = PREVIEW * 4 * 2;
  const start =
    typeof text === 'string'
      ? text.slice(0, length)
      : Buffer.from(text.subarray(0, length)).toString();
  return [...oneLine(start).trim()].slice(0, PREVIEW).join('');
}
