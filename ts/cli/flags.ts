/** Complaints of the library about options, in the spelling of the command line. */
import { optionsOf, settingsOf } from '../errors';
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
  return new UsageError(flagged.join(' and ') + settable(error, flags).slice(subject.length));
}

/** The same error, with what it says to set as it is typed. */
function withFlags(error: Error, flags: ReadonlyMap<string, string>): Error {
  const message = settable(error, flags);
  if (message === error.message) return error;
  return Object.assign(new Error(message, { cause: error }), { code: codeOf(error) });
}

/** The message, in which what to set is as it is typed: `textField: 'body'` is `--text-field body`, `header: false` `--no-header`. */
function settable(error: Error, flags: ReadonlyMap<string, string>): string {
  const { message } = error;
  const parts: string[] = [];
  let from = 0;
  for (const { option, start, end } of settingsOf(error)) {
    const value = message.slice(start + `\`${option}: `.length, end - 1);
    const flag = flags.get(option);
    const negated = flag?.startsWith('no-') ?? false;
    if (flag === undefined || (value === 'false') !== negated) continue;
    parts.push(message.slice(from, start), negated ? `--${flag}` : `--${flag} ${asWord(value)}`);
    from = end;
  }
  return parts.join('') + message.slice(from);
}

/** A string of JavaScript as a word of a shell: without its quotes where nothing in it has a meaning there. */
function asWord(literal: string): string {
  if (literal === "'\\t'") return 'tab';
  const text = literal.slice(1, -1);
  return /^[\p{L}\p{N}_.,/-]+$/u.test(text) ? text : literal;
}
