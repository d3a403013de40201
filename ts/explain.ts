import { binding } from './binding';
import type { Text } from './documents';
import { native } from './errors';
import { fingerprinterOf, type Token } from './fingerprinter';
import type { By } from './measure';
import { NATIVE } from './native-part';

/** A token of both texts. */
export interface SharedToken {
  token: string;
  /** Its weight in each text. */
  weights: [number, number];
  /** Its 64-bit hash. */
  hash: bigint;
}

/** A bit in which two fingerprints differ. */
export interface DifferingBit {
  /** Position, 0 the least significant. */
  bit: number;
  /** By how much each text decided it, -1 to 1; near 0 a small edit turns it. */
  margins: [number, number];
}

/** How two texts compare. */
export interface Explanation {
  /** `undefined` for a text with too few features. */
  fingerprints: [bigint | undefined, bigint | undefined];
  /** Bits that differ, where both have a fingerprint. */
  distance?: number;
  /** By ascending position. */
  differingBits: DifferingBit[];
  /** Tokens of both, in the order of the first. */
  shared: SharedToken[];
  /** Tokens of the first only, heaviest first. */
  onlyA: Token[];
  /** Tokens of the second only, heaviest first. */
  onlyB: Token[];
  /** Jaccard similarity of the feature sets, or `longJaccard` if that is lower, 0 to 1. */
  jaccard: number;
  /** That of the runs of five characters, where features are chosen by script and both texts are long, as in `jaccard()`. */
  longJaccard?: number;
  /** What `verify: 'auto'` goes by, as in `similarity()`: 1 for equal texts, 0 to just below 1 for others. */
  similarity: number;
  /** The numbers of each text in order, as far as they count; in short texts a difference makes two. */
  numbers: [string[], string[]];
  /** Whether the normalised texts are equal and not empty. */
  equal: boolean;
}

/** Why two texts are near-duplicates, or are not. For looking at pairs: costs several fingerprints. */
export function explain(a: Text, b: Text, by?: By): Explanation {
  const maker = fingerprinterOf(by)[NATIVE];
  const { fingerprintA, fingerprintB, distance, longJaccard, numbers, ...told } = native(() =>
    binding.explain(a, b, maker),
  );
  return {
    ...told,
    numbers: [numbers[0] ?? [], numbers[1] ?? []],
    differingBits: told.differingBits.map(({ bit, margins }) => ({ bit, margins: pair(margins) })),
    shared: told.shared.map(({ token, weights, hash }) => ({
      token,
      weights: pair(weights),
      hash,
    })),
    fingerprints: [fingerprintA ?? undefined, fingerprintB ?? undefined],
    ...(typeof distance === 'number' ? { distance } : {}),
    ...(typeof longJaccard === 'number' ? { longJaccard } : {}),
  };
}

function pair([a = 0, b = 0]: readonly number[]): [number, number] {
  return [a, b];
}
