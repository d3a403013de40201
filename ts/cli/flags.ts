/** Complaints of the library about options, in the spelling of the command line. */
import type { OptionTable } from './command';
import { EXIT, statusOf, UsageError } from './exit';

/** What the library calls the option of a flag: `topK` for `top-k`, `hmm` for `no-hmm`. */
const camel = (flag: string) =>
  flag.replace(/^no-/, '').replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

/**
 * The same error, with options named as they are typed: `topK must be …` becomes `--top-k must be …`. One word that may
 * also be plain English (`bands`) is taken for an option only where the message begins with it.
 */
export function asTyped(error: unknown, options: OptionTable): unknown {
  if (!(error instanceof Error) || error instanceof UsageError) return error;
  if (statusOf(error) !== EXIT.usage) return error;
  const flags = new Map(Object.keys(options).map((flag) => [camel(flag), flag]));
  const subject = /^\w+(?: and \w+)?(?= (?:must|is|needs) )/.exec(error.message)?.[0].length ?? 0;
  const message = error.message.replace(/'[^']*'|\b\w+\b/g, (word, at: number) => {
    const flag = flags.get(word);
    const meant = flag !== undefined && (at < subject || flag !== word);
    return meant ? `--${flag}` : word;
  });
  return message === error.message ? error : new UsageError(message);
}
