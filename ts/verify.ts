/** What verification measures, and which texts an index keeps for it. */
import type { Text } from './documents';
import * as check from './options';

/**
 * What is measured between two normalised texts: Jaccard similarity or containment of the features, of long texts also of
 * their runs of five characters (see `jaccard()`); edit distance as a share of the longer text; or the cosine of weighted
 * features. `'auto'` is `'jaccard'`, and in short texts numbers count (see `similarity()`): titles that differ in one are two.
 */
export type Measure = 'auto' | 'jaccard' | 'containment' | 'edit' | 'cosine';

/** Which texts an index stores. */
export interface TextLimit {
  /** Longest text in bytes of UTF-8 after normalisation, 1 to 2^24. Default 65,536. */
  maxLength?: number | undefined;
}

/** How a single check finds texts that the index has not stored. */
export interface TextOfOptions {
  /**
   * The text of a live document that the index has not stored, `undefined` where there is none. Called while the index is free
   * for others, this callback included; what it throws ends the check as it is, and nothing has been added. Checks that callbacks
   * make may be 16 deep, one inside the other: then `ERR_OUT_OF_RANGE`. If another worker adds a near document meanwhile, its
   * text is asked for too. For `'simhash'` give `maxDistance: 8`, the default of an index that stores texts; without texts it is 3.
   */
  textOf?: ((id: number) => Text | undefined) | undefined;
}

const LIMIT: check.Checks<TextLimit> = { maxLength: check.integer(1, 2 ** 24) };

/** Bytes of the longest text that is stored: 64 KiB. */
export const LONGEST_TEXT = 65_536;

/** Bytes of the longest stored text; 0: none are stored. */
export const storedTexts: check.Check<number> = (value, name) => {
  if (typeof value === 'boolean') return value ? LONGEST_TEXT : 0;
  return check.checked(value, LIMIT, name).maxLength ?? LONGEST_TEXT;
};

/** Refuses what only a single check can do. */
export const singleOnly = check.notHere(
  'works with checkAndAdd alone: a batch, and work off the JavaScript thread, cannot call back for texts; let the index store them (texts)',
);
