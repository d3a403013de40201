/** From the words of a command line to the command they name: `dedup`, or `index build` of a group. */

import { suggest } from '../suggest';
import { UsageError } from './exit';
import { didYouMean } from './parse';

/** A command and the words behind its name, or the commands of a group of which none is named. */
export type Found<C> =
  | { readonly command: C; readonly rest: readonly string[] }
  | { readonly group: readonly C[]; readonly name: string; readonly rest: readonly string[] };

/** A command, or what is known of it before it is loaded. */
export interface Named {
  readonly name: string;
}

/**
 * What the first one or two words name.
 *
 * @throws UsageError where they name nothing, with the nearest name.
 */
export function find<C extends Named>(words: readonly string[], commands: readonly C[]): Found<C> {
  const [first = '', second] = words;
  const command = commands.find(({ name }) => name === first || name === `${first} ${second}`);
  if (command !== undefined) {
    return { command, rest: words.slice(command.name.split(' ').length) };
  }
  const group = commands.filter(({ name }) => name.startsWith(`${first} `));
  if (group.length > 0 && (second === undefined || second.startsWith('-'))) {
    return { group, name: first, rest: words.slice(1) };
  }
  const [word, names] =
    group.length > 0
      ? [`${first} ${second}`, group.map(({ name }) => name)]
      : [first, commands.map(({ name }) => name.split(' ')[0] ?? name)];
  throw new UsageError(
    `unknown ${word.startsWith('-') ? 'option' : 'command'} '${word}'`,
    didYouMean(suggest(word, names)) ?? 'see: simhash-native help',
  );
}

/** The commands of a group by the word that is their own: `build`, `add`. */
export function ownNames(group: readonly Named[]): string[] {
  return group.map(({ name }) => name.slice(name.indexOf(' ') + 1));
}
