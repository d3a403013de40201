/** What is told of two texts. */

/** As the page gets it: what JSON has no form for is text. */
export interface PairTold {
  /** What `dedup` with the same options decides, and why. */
  readonly duplicates: boolean;
  readonly reason: string;
  /** 0 to 1. */
  readonly similarity: number;
  /** Bits that differ; none where a text has no fingerprint. */
  readonly distance?: number;
  /** 16 hexadecimal digits; none of a text with too few features. */
  readonly fingerprints: readonly (string | null)[];
  /** How many features both have. */
  readonly shared: number;
  /** Features of one alone, heaviest first. */
  readonly onlyA: readonly string[];
  readonly onlyB: readonly string[];
  /** Margins by which each text decided the bit, from -1 to 1. */
  readonly differingBits: readonly { readonly bit: number; readonly margins: readonly number[] }[];
}
