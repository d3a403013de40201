/** `--normalize LIST`: where to start, then steps to switch. */
import type { NormalizeOptions } from '..';
import { suggest } from '../suggest';
import { UsageError } from './exit';
import { didYouMean } from './parse';

const BASES = ['default', 'web', 'microblog', 'off'] as const;
const SWITCHES = [
  ...['html', 'noise', 'emoji', 'nfkc', 'case', 'simplified', 'invisible', 'runs'],
] as const;
const CHOICES: Readonly<Record<string, readonly string[]>> = {
  punctuation: ['keep', 'fold', 'drop'],
  whitespace: ['auto', 'collapse', 'remove', 'keep'],
};

/** Every item that a list may have. */
const ITEMS: readonly string[] = [
  ...BASES,
  ...SWITCHES,
  ...SWITCHES.map((step) => `no-${step}`),
  ...Object.entries(CHOICES).flatMap(([step, values]) => values.map((value) => `${step}=${value}`)),
];

/** What help says about the list. */
export const LIST_HELP = `steps, separated by commas: ${BASES.join(', ')} to start from; then ${SWITCHES.join(', ')}, each also with no-; ${Object.entries(
  CHOICES,
)
  .map(([step, values]) => `${step}=${values.join('|')}`)
  .join(', ')}`;

/**
 * The steps that a list names; a later item overrides an earlier one.
 *
 * @throws UsageError for an item that is none, or a starting point that is not at the start.
 */
export function normalizeOf(list: string): NormalizeOptions {
  let steps: Record<string, string | boolean> = {};
  for (const [place, item] of list.split(',').entries()) {
    if (!ITEMS.includes(item)) {
      const hint = didYouMean(suggest(item, ITEMS)) ?? 'see --normalize in the help';
      throw new UsageError(`--normalize has no step '${item}'`, hint);
    }
    const [name = '', value] = item.split('=');
    if (BASES.some((base) => base === item)) {
      if (place > 0) throw new UsageError(`--normalize: ${item} can only be the first of the list`);
      steps = { ...steps, base: item };
    } else if (value !== undefined) steps[name] = value;
    else steps[name.replace(/^no-/, '')] = !name.startsWith('no-');
  }
  return steps;
}
