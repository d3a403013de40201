import { defineCommand } from '../command';
import { EXIT, UsageError } from '../exit';
import { comparison, features, fields, fingerprinterOptions } from '../options';
import { records } from '../records';
import { Rejections } from '../rejections';
import { describe, judge } from '../verdict';
import { versions } from '../version';

/** Without it the verdict is that of the default method, which knows no distance. */
const { default: _, ...distance } = comparison['max-distance'];

const options = {
  in: {
    kind: 'text',
    value: 'FILE',
    help: 'A and B are ids of this file of JSON lines, not texts; - is standard input',
  },
  'max-distance': {
    ...distance,
    help: 'judge as dedup --method simhash with this distance does',
  },
  'min-similarity': comparison['min-similarity'],
  ...features,
  ...fields,
  json: { kind: 'flag', help: 'print everything as JSON' },
} as const;

export const explain = defineCommand({
  name: 'explain',
  summary: 'say why two texts are near-duplicates, or are not',
  arguments: { usage: 'A B', min: 2, max: 2, help: 'two texts, or with --in two ids' },
  options,
  notes: [
    'Prints the verdict, which is that of dedup with the same options, the similarity and the distance, the tokens that only one of the texts has, and the bits that differ with the margin by which each text decided them (from -100 % to 100 %; near 0 a small edit turns a bit).',
  ],
  async run([a = '', b = ''], values, terminal) {
    if (values['min-similarity'] === 0 && values['max-distance'] === undefined) {
      throw new UsageError('--min-similarity 0 needs --max-distance: one of them has to judge');
    }
    const { explain } = await import('../../index.js');
    const rejections = new Rejections(terminal);
    const { in: file, 'text-field': textField, 'id-field': idField } = values;
    const [first, second] =
      file === undefined ? [a, b] : await textsOf([a, b], file, textField, idField, rejections);
    rejections.end();
    const explanation = explain(first, second, fingerprinterOptions(values));
    const limits = {
      maxDistance: values['max-distance'],
      minSimilarity: values['min-similarity'],
    };
    const verdict = judge(explanation, limits);
    if (values.json) {
      // A bigint has no JSON form; hexadecimal is what the other commands print.
      const hex = (_key: string, value: unknown) =>
        typeof value === 'bigint' ? value.toString(16).padStart(16, '0') : value;
      const all = { ...verdict, ...explanation, options: limits, versions: versions() };
      await terminal.write(`${JSON.stringify(all, hex)}\n`);
    } else {
      await terminal.write(`${describe(explanation, verdict).join('\n')}\n`);
    }
    return rejections.count > 0 ? EXIT.rejected : EXIT.done;
  },
});

/** The texts of two records of a file. */
async function textsOf(
  ids: readonly [string, string],
  file: string,
  textField: string,
  idField: string,
  rejections: Rejections,
): Promise<[string, string]> {
  const found = new Map<string, string>();
  const source = { inputs: [file], textField, idField };
  for await (const { id, text } of records(source, rejections)) {
    if (ids.includes(id) && !found.has(id)) found.set(id, text.toString());
    if (ids.every((wanted) => found.has(wanted))) break;
  }
  const text = (id: string): string => {
    const value = found.get(id);
    if (value === undefined) throw new UsageError(`${file} has no record with ${idField} '${id}'`);
    return value;
  };
  return [text(ids[0]), text(ids[1])];
}
