/** Options of an index of MinHash signatures and of its calls, and how they are checked. */
import { rangeError } from './errors';
import { given } from './given';
import { WINDOW, type Window } from './index-options';
import { MIN_HASH, type MinHashOptions, nativeMinHashOptions } from './min-hasher';
import type { NativeBandPlanOptions, NativeMinHashIndexOptions } from './native';
import * as check from './options';

/** How much it weighs to find too much, and to find too little. Not both 0. */
export interface BandWeights {
  /** Weight of the area under the S-curve below the threshold, 0 or more. */
  falsePositive: number;
  /** Weight of the area above it beyond the threshold, 0 or more. */
  falseNegative: number;
}

/** How signatures are cut into bands: by recall (the default), by weights, or as given. */
export interface BandOptions {
  /** Similarity of near-duplicates, above 0 and at most 1. Default 0.8. */
  threshold?: number | undefined;
  /**
   * Probability with which a pair at the threshold must share a band, above 0 and below 1: the most rows that allow it, and no
   * more bands than it needs. Default 0.95.
   */
  recall?: number | undefined;
  /** In place of `recall`: the plan with the least weighted error; look at its recall. */
  weights?: BandWeights | undefined;
  /** In place of both, with `rows`: so many bands. More find more. */
  bands?: number | undefined;
  /** Positions per band, with `bands`. More find less. */
  rows?: number | undefined;
  /** Positions of a signature, 1 to 1024, at least `bands * rows`. Default 128. */
  hashes?: number | undefined;
}

/** How an index of signatures is made. */
export interface MinHashIndexOptions extends MinHashOptions, BandOptions {
  /**
   * Keeps the signatures, 4 bytes per position and document, so that matches are confirmed by the estimated similarity: at
   * least `threshold`. `false`: only the bands are kept, about 9 bytes each, and a shared band is all that is known of a
   * match. Default `true`.
   */
  signatures?: boolean | undefined;
  /**
   * Most documents read from one bucket, the oldest first, at least 1; what lies beyond makes an answer `truncated`. Default
   * 1024. What is similar shares other bands than a crowded one.
   */
  bucketLimit?: number | undefined;
  /** Keeps the time of each document (12 bytes) and lets old ones leave. Default: documents stay, no times are kept. */
  window?: Window | undefined;
  /** Most threads of one call, 0 to 1024; 0 (default) is one per core. Changes no result. */
  threads?: number | undefined;
}

/** How to search. */
export interface MinHashSearchOptions {
  /** Least estimated similarity, 0 to 1. Default: that of the index. Only where signatures are kept. */
  threshold?: number | undefined;
  /** At most so many matches per item, the best first; 0 to 2^53 - 1. Default all. */
  limit?: number | undefined;
}

const weight: check.Check<number> = (value, name) => {
  if (typeof value !== 'number') throw check.wrongType(name, 'a number of 0 or more', value);
  if (!(value >= 0 && value < Number.POSITIVE_INFINITY))
    throw rangeError(`${name} must be 0 or more, got ${value}`);
  return value;
};

const WEIGHTS: check.Checks<BandWeights> = { falsePositive: weight, falseNegative: weight };

export const BANDS: check.Checks<BandOptions> = {
  threshold: check.share,
  recall: check.share,
  weights: (value, name) => {
    const { falsePositive, falseNegative } = check.checked(value, WEIGHTS, name);
    // Both are needed: what is absent is of the wrong type.
    return {
      falsePositive: weight(falsePositive, `${name}.falsePositive`),
      falseNegative: weight(falseNegative, `${name}.falseNegative`),
    };
  },
  bands: check.integer(1, 1024),
  rows: check.integer(1, 1024),
  hashes: check.integer(1, 1024),
};

export const MINHASH_INDEX: check.Checks<MinHashIndexOptions> = {
  ...MIN_HASH,
  ...BANDS,
  signatures: check.boolean,
  bucketLimit: check.integer(1, Number.MAX_SAFE_INTEGER),
  window: (value, name) => check.checked(value, WINDOW, name),
  threads: check.integer(0, 1024),
};

export const MINHASH_SEARCH: check.Checks<MinHashSearchOptions> = {
  threshold: check.share,
  limit: check.id,
};

/** Checked options of a plan as the addon takes them. */
export function nativeBandOptions(options: BandOptions): NativeBandPlanOptions {
  const { threshold, recall, weights, bands, rows } = options;
  return given({ threshold, recall, weights, bands, rows });
}

/** Checked options as the addon takes them. */
export function nativeMinHashIndexOptions(options: MinHashIndexOptions): NativeMinHashIndexOptions {
  const { signatures, bucketLimit, window, threads = 0 } = options;
  const limits = window && given(window);
  return {
    minhash: nativeMinHashOptions(options),
    plan: nativeBandOptions(options),
    ...given({ signatures, bucketLimit, window: limits }),
    threads,
  };
}
