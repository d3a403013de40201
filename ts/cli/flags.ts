/** Complaints of the library about options, in the spelling of the command line. */
import { optionsOf } from '../errors';
import type { OptionTable } from './command';
import { EXIT, statusOf, UsageError } from './exit';

/** What the library calls the option of a flag: `topK` for `top-k`, `hmm` for `no-hmm`. */
const camel = (flag: string) =>
  flag.replace(/^no-/, '').replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

/** The same error, with the options that it is about as they are typed: `topK must be …` becomes `--top-k must be …`. */
export function asTyped(error: unknown, options: OptionTable): unknown {
  if (!(error instanceof Error) || error instanceof UsageError) return error;
  if (statusOf(error) !== EXIT.usage) return error;
  const flags = new Map(Object.keys(options).map((flag) => [camel(flag), flag]));
  const named = optionsOf(error);
  const subject = named.join(' and ');
  const typed = named.map((option) => {
    const flag = flags.get(option);
    return flag === undefined ? option : `--${flag}`;
  });
  // `keep.field must …` is about no flag.
  if (typed.every((flag, at) => flag === named[at]) || !error.message.startsWith(`${subject} `))
    return error;
  return new UsageError(typed.join(' and ') + error.message.slice(subject.length));
}
