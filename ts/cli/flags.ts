/** Complaints of the library about options, in the spelling of the command line. */
import { optionsOf } from '../errors';
import type { OptionTable } from './command';
import { codeOf, EXIT, statusOf, UsageError } from './exit';

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
  const flags = new Map(Object.keys(options).map((flag) => [optionOf(flag), flag]));
  // The command clusters writes them to its output.
  if (!flags.has('clusters') && flags.has('output')) flags.set('clusters', 'output');
  if (statusOf(error) !== EXIT.usage) return withFlags(error, flags);
  const named = optionsOf(error);
  const subject = named.join(' and ');
  const flagged = named.map((option) => {
    const flag = flags.get(option);
    return flag === undefined ? option : (typed.get(flag) ?? `--${flag}`);
  });
  // `keep.field must …` is about no flag.
  if (flagged.every((flag, at) => flag === named[at])) return withFlags(error, flags);
  // Whoever says what an error is about has begun its message with that.
  const message = flagged.join(' and ') + error.message.slice(subject.length);
  return new UsageError(settings(message, flags));
}

/** The same error, with what it says to set as it is typed. */
function withFlags(error: Error, flags: ReadonlyMap<string, string>): Error {
  const message = settings(error.message, flags);
  if (message === error.message) return error;
  return Object.assign(new Error(message, { cause: error }), { code: codeOf(error) });
}

/** `textField: 'body'` between backticks, as the library writes what to set, becomes `--text-field body`; `header: false` `--no-header`. */
function settings(message: string, flags: ReadonlyMap<string, string>): string {
  return message.replace(
    /`(\w+): (false|'[^`]*'|"[^`]*")`/g,
    (whole, option: string, value: string) => {
      const flag = flags.get(option);
      if (flag === undefined) return whole;
      const negated = flag.startsWith('no-');
      if ((value === 'false') !== negated) return whole;
      return negated ? `--${flag}` : `--${flag} ${asWord(value)}`;
    },
  );
}

/** A string of JavaScript as a word of a shell: without its quotes where nothing in it has a meaning there. */
function asWord(literal: string): string {
  if (literal === "'\\t'") return 'tab';
  const text = literal.slice(1, -1);
  return /^[\p{L}\p{N}_.,/-]+$/u.test(text) ? text : literal;
}
