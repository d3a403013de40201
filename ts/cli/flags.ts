/** Complaints of the library about options, in the spelling of the command line. */
import { optionsOf } from '../errors';
import type { OptionTable } from './command';
import { EXIT, statusOf, UsageError } from './exit';

/** `top-k` -> `topK`. */
export function camelCase(flag: string): string {
  return flag.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** What the library calls the option of a flag: `topK` for `top-k`, `hmm` for `no-hmm`. */
const optionOf = (flag: string) => camelCase(flag.replace(/^no-/, ''));

/**
 * The same error, with the options that it is about as they are typed: `topK must be …` becomes `--top-k must be …`. `typed` has
 * those that were given, by their flags.
 */
export function asTyped(
  error: unknown,
  options: OptionTable,
  typed: ReadonlyMap<string, string>,
): unknown {
  if (!(error instanceof Error) || error instanceof UsageError) return error;
  if (statusOf(error) !== EXIT.usage) return error;
  const flags = new Map(Object.keys(options).map((flag) => [optionOf(flag), flag]));
  const named = optionsOf(error);
  const subject = named.join(' and ');
  const flagged = named.map((option) => {
    const flag = flags.get(option);
    return flag === undefined ? option : (typed.get(flag) ?? `--${flag}`);
  });
  // `keep.field must …` is about no flag.
  if (flagged.every((flag, at) => flag === named[at])) return error;
  // Whoever says what an error is about has begun its message with that.
  return new UsageError(flagged.join(' and ') + error.message.slice(subject.length));
}
