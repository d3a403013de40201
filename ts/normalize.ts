import { given as withoutUndefined } from './given';
import type { NativeNormalizer } from './native';
import * as check from './options';

/**
 * Steps before features are taken, in this order. A step that is left out stays as it is in `base`.
 *
 * The defaults (`nfkc`, `case` and `whitespace: 'auto'`) never change: fingerprints that are stored are made with them.
 */
export interface NormalizeOptions {
  /**
   * Steps to start from: `'default'`; `'web'` for pages (also html, noise, simplified, invisible, punctuation dropped);
   * `'microblog'` for posts, which are plain text (as web without html, with emoji and runs); `'off'` for none. Default:
   * the steps of the preset, `'default'` without one.
   */
  base?: 'default' | 'web' | 'microblog' | 'off' | undefined;
  /** HTML to text: tags, comments, script and style go, character references are decoded. Default false. */
  html?: boolean | undefined;
  /**
   * Drop URLs, mail addresses, `@names`, `//@name:` chains, `#topics#`, `[emoticons]`, 转发微博. A text of nothing else keeps
   * them. Default false.
   */
  noise?: boolean | undefined;
  /** Drop emoji. A text of nothing else keeps them. Default false. */
  emoji?: boolean | undefined;
  /** Unicode NFKC: full-width and compatibility forms become plain. Default true. */
  nfkc?: boolean | undefined;
  /** Full case folding. Default true. */
  case?: boolean | undefined;
  /** Traditional characters become simplified ones, character by character. Default false. */
  simplified?: boolean | undefined;
  /** Drop zero-width characters, directional marks, variation selectors and control characters. Default false. */
  invisible?: boolean | undefined;
  /**
   * Punctuation: `'keep'` (default) leaves it alone; `'fold'` gives each meaning one form (。 becomes `.`, 「 becomes `"`);
   * `'drop'` removes it. Numbers keep theirs: `3.14`, `12:30`, `50%`.
   */
  punctuation?: 'keep' | 'fold' | 'drop' | undefined;
  /**
   * White space: `'auto'` (default) trims, makes one space of each run and removes it beside a CJK character; `'collapse'`
   * does not look at CJK; `'remove'` removes all; `'keep'` leaves it alone.
   */
  whitespace?: 'auto' | 'collapse' | 'remove' | 'keep' | undefined;
  /** More than three equal characters in a row, digits apart, become three. Default false. */
  runs?: boolean | undefined;
}

/** Normalisation: steps, the name of ready-made ones, or none. */
export type Normalize = NormalizeOptions | 'web' | 'microblog' | false;

export const STEPS: check.Checks<NormalizeOptions> = {
  base: check.choice('default', 'web', 'microblog', 'off'),
  html: check.boolean,
  noise: check.boolean,
  emoji: check.boolean,
  nfkc: check.boolean,
  case: check.boolean,
  simplified: check.boolean,
  invisible: check.boolean,
  punctuation: check.choice('keep', 'fold', 'drop'),
  whitespace: check.choice('auto', 'collapse', 'remove', 'keep'),
  runs: check.boolean,
};

const named = check.choice('web', 'microblog');

export const normalize: check.Check<Normalize> = (value, name) => {
  if (value === false) return false;
  return typeof value === 'string' ? named(value, name) : check.checked(value, STEPS, name);
};

/** Checked steps as the addon takes them. */
export function nativeNormalizer(given: Normalize): NativeNormalizer {
  if (given === false) return { base: 'off' };
  return typeof given === 'string' ? { base: given } : withoutUndefined(given);
}
