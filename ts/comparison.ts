/** How `dedup` and `dedupFiles` compare documents: the options that both take. */
import { FINGERPRINTER, type FingerprinterOptions, nativeOptions } from './fingerprinter';
import type { NativeDedupOptions } from './native';
import * as check from './options';

/** How documents are compared. */
export interface ComparisonOptions extends FingerprinterOptions {
  /** Largest Hamming distance of candidates, inclusive, 0 to 16. Default 8; with verification a wide radius costs only time. */
  maxDistance?: number | undefined;
  /** Least Jaccard similarity of the features, 0 to 1. Default 0.8. 0: candidates are duplicates without verification. */
  minSimilarity?: number | undefined;
  /** Most candidates verified per document, nearest first, 1 to 2^32 - 1. Default 1000. */
  maxVerifications?: number | undefined;
}

/** A record that could not be used. */
export interface Rejected {
  file: string;
  /** From 1, blank lines counted. */
  line: number;
  reason: string;
}

/** The figures of a run: `read = kept + duplicates + rejected`. */
export interface Summary {
  read: number;
  kept: number;
  duplicates: number;
  rejected: number;
  /** Groups of two or more. */
  clusters: number;
  /** Documents for which `maxVerifications` cut the candidates. */
  truncated: number;
  /** Kept documents without text after normalisation; they match nothing. */
  empty: number;
  /** Documents too short for a fingerprint, compared by equality. */
  short: number;
  /** Wall time. */
  seconds: number;
  /** Bytes of text, or of input lines, decompressed. */
  bytes: number;
  /** The first ten rejected records. */
  firstRejected: Rejected[];
}

export const COMPARISON: check.Checks<ComparisonOptions> = {
  ...FINGERPRINTER,
  maxDistance: check.integer(0, 16),
  minSimilarity: check.share,
  maxVerifications: check.integer(1, 2 ** 32 - 1),
};

/** Checked options as the addon takes them. */
export function nativeComparison(options: ComparisonOptions): NativeDedupOptions {
  const { maxDistance, minSimilarity, maxVerifications, threads = 0 } = options;
  return {
    fingerprinter: nativeOptions(options),
    threads,
    ...(maxDistance === undefined ? {} : { maxDistance }),
    ...(minSimilarity === undefined ? {} : { minSimilarity }),
    ...(maxVerifications === undefined ? {} : { maxVerifications }),
  };
}
