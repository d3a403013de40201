import { pairTold } from '../../explain/page';
import { defineCommand } from '../command';
import { changes, shown } from '../difference';
import { EXIT, UsageError } from '../exit';
import { interruptible } from '../interrupt';
import { about, opened } from '../opened';
import {
  checkStreams,
  comparing,
  comparingOptions,
  fieldsOf,
  fingerprinterOptions,
} from '../options';
import { rejections } from '../run';
import { describe, reason } from '../verdict';
import { versions } from '../version';

const { threads: _threads, json: _json, quiet: _quiet, ...compared } = comparing;

export const explain = defineCommand({
  name: 'explain',
  summary: 'explain why two texts are near-duplicates, or are not',
  arguments: {
    usage: '[A B]',
    min: 0,
    max: 2,
    help: 'two texts, or with --in two ids; may be left out with --open',
  },
  addresses: 'any',
  options: {
    in: {
      kind: 'text',
      value: 'FILE',
      help: 'A and B are ids of this file of JSON lines, not texts; - is standard input',
    },
    ...compared,
    json: { kind: 'flag', help: 'print everything as JSON' },
    open: {
      kind: 'flag',
      help: 'compare on a page in the browser, where texts can be pasted; ends when the page is closed',
    },
  },
  examples: [
    "explain 'rain tomorrow, 12 degrees' 'rain tomorrow, 19 degrees'",
    'explain --in news.jsonl d005 d021',
    'explain --open --method simhash',
  ],
  notes: [
    'Prints the decision that dedup makes with the same options, the characters in which the texts differ ([-only in A-], {+only in B+}), the similarity and the distance, the tokens that only one of the texts has, and the bits that differ with the margin by which each text decided them (from -100 % to 100 %; near 0 a small edit turns a bit).',
    'A file is read until both ids are found.',
    'With --open the command serves one page to this machine only, on a free loopback port and behind a random token. It prints the address and opens the browser: the program that the environment variable BROWSER names, or none if that is none or there is no screen. It ends when the page is closed, or with Ctrl-C.',
  ],
  run(args, values, terminal) {
    const [a = '', b = ''] = args;
    if (args.length !== 2 && !(values.open && args.length === 0 && values.in === undefined)) {
      throw new UsageError(
        `explain needs A B: ${values.in === undefined ? 'two texts' : 'two ids'}`,
      );
    }
    if (values.open && values.json) throw new UsageError('--open and --json exclude each other');
    return interruptible(terminal, undefined, async (signal) => {
      const [{ explain }, { verdict, textsOfFile }] = await Promise.all([
        import('../../index.js'),
        import('../../verdict.js'),
      ]);
      let [first, second, rejected] = [a, b, 0];
      if (values.in !== undefined) {
        checkStreams([values.in], []);
        const found = await textsOfFile(values.in, [a, b], fieldsOf(values), signal);
        rejections(found, terminal);
        [first, second] = [a, b].map((id, row) => {
          const text = found.texts[row];
          if (typeof text === 'string') return text;
          throw new UsageError(`${values.in} has no record with ${values['id-field']} '${id}'`);
        }) as [string, string];
        rejected = found.rejected;
      }
      const options = comparingOptions({ ...values, threads: 0, json: false, quiet: false });
      if (values.open) {
        const compare = (a: string, b: string) => {
          const told = verdict(a, b, options);
          const explanation = explain(a, b, fingerprinterOptions(values));
          return pairTold(explanation, told.duplicates, reason(told, options));
        };
        const texts = args.length === 0 ? {} : { a: first, b: second };
        await opened({ texts, compare, about: about(options), signal }, terminal);
        return rejected > 0 ? EXIT.rejected : EXIT.done;
      }
      const told = verdict(first, second, options);
      const explanation = explain(first, second, fingerprinterOptions(values));
      const why = reason(told, options);
      const difference = changes(first, second);
      if (values.json) {
        // A bigint has no JSON form; hexadecimal is what the other commands print.
        const hex = (_key: string, value: unknown) =>
          typeof value === 'bigint' ? value.toString(16).padStart(16, '0') : value;
        const { duplicates, shared } = told;
        const verdict = {
          duplicates,
          reason: why,
          difference,
          ...explanation,
          measured: told.similarity,
          compared: shared,
        };
        const { threads: _, ...asked } = options;
        const all = { ...verdict, options: asked, versions: versions() };
        await terminal.write(`${JSON.stringify(all, hex)}\n`);
      } else {
        const [verdict = '', ...rest] = describe(explanation, told.duplicates, why);
        const lines = [verdict, ...shown(first, difference), ...rest];
        await terminal.write(`${lines.join('\n')}\n`);
      }
      return rejected > 0 ? EXIT.rejected : EXIT.done;
    });
  },
});
