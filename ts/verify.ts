/** How near documents are confirmed on their texts, and where the texts come from. */
import type { Text } from './documents';
import { typeError } from './errors';
import type { NativeVerify } from './native';
import * as check from './options';

/**
 * What is measured between two normalised texts: Jaccard similarity or containment of the features, of long texts also of
 * their runs of five characters (see `jaccard()`); edit distance as a share of the longer text; or the cosine of weighted
 * features. `'auto'` is `'jaccard'`, and in short texts numbers count (see `similarity()`): titles that differ in one are two.
 * Texts too short for a fingerprint must be similar enough by edit distance too.
 */
export type Measure = 'auto' | 'jaccard' | 'containment' | 'edit' | 'cosine';

/** A measure with its threshold. */
export interface VerifyOptions {
  /** Default `'auto'`. */
  by?: Measure | undefined;
  /** Least similarity, above 0 and at most 1. Default 0.8. */
  minSimilarity?: number | undefined;
}

/** How a check confirms what lies near. */
export interface ConfirmOptions {
  /**
   * Documents within `maxDistance` count only if their text is similar enough: a measure, with 0.8 as the least similarity,
   * or both. Default: distance alone decides. A document whose text is not at hand counts by its distance alone, and the
   * result then has no `similarity`; so does an item given as a fingerprint. Needs `storeShortTexts` or `textOf`.
   */
  verify?: Measure | VerifyOptions | undefined;
}

/** How a single check finds texts. */
export interface TextOfOptions extends ConfirmOptions {
  /**
   * The text of a live document that the index has not stored, `undefined` where there is none. Called with `verify` only,
   * while the index is free for others, this callback included; what it throws ends the check as it is, and nothing has been
   * added. Checks that callbacks make may be 16 deep, one inside the other: then `ERR_OUT_OF_RANGE`.
   * If another worker adds a near document meanwhile, its text is asked for too.
   */
  textOf?: ((id: number) => Text | undefined) | undefined;
}

/** Which texts an index stores. */
export interface StoreShortTexts {
  /** Longest text in code points after normalisation, 1 to 65,536. Default 140. */
  maxLength?: number | undefined;
}

const measure = check.choice('auto', 'jaccard', 'containment', 'edit', 'cosine');
const VERIFY: check.Checks<VerifyOptions> = { by: measure, minSimilarity: check.share };
const STORE: check.Checks<StoreShortTexts> = { maxLength: check.integer(1, 65_536) };

/** Checked verification as the addon takes it. */
export const verify: check.Check<NativeVerify> = (value, name) => {
  if (typeof value === 'string') return { by: measure(value, name), minSimilarity: 0.8 };
  if (value === false) {
    throw typeError(
      `${name} must be the name of a measure or { by, minSimilarity }, got false; leave it out to decide by distance alone`,
      'ERR_INVALID_ARG_TYPE',
    );
  }
  const { by = 'auto', minSimilarity = 0.8 } = check.checked(value, VERIFY, name);
  return { by, minSimilarity };
};

/** Characters of the longest stored text; 0: none are stored. */
export const storeShortTexts: check.Check<number> = (value, name) => {
  if (typeof value === 'boolean') return value ? 140 : 0;
  return check.checked(value, STORE, name).maxLength ?? 140;
};

/** Refuses what only a single check can do. */
export const singleOnly = check.notHere(
  'works with checkAndAdd alone: a batch, and work off the JavaScript thread, cannot call back for texts; make the index with storeShortTexts',
);
