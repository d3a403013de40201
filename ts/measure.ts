import { binding } from './binding';
import type { Text } from './documents';
import { native } from './errors';
import { type Fingerprinter, type FingerprinterOptions, fingerprinterOf } from './fingerprinter';
import { NATIVE } from './native-part';
import * as check from './options';

/** How texts become features: a fingerprinter (made once, used often) or its options. */
export type By = Fingerprinter | FingerprinterOptions;

/**
 * The similarity that `verify: 'auto'`, the default, goes by, 0 to 1; 1 means equal after normalisation. It is that of
 * {@link jaccard}, and in short texts numbers count: two texts that differ in a number (digits, or Chinese numerals as in 第三 and
 * 十月) have 0 if the shorter one has at most 48 code points, their Jaccard similarity from 96 on, and between the two their
 * Jaccard similarity times (length - 48) / 48. `EP100` and `EP1000` have 0, two pages that differ in a count of views nearly 1.
 */
export function similarity(a: Text, b: Text, by?: By): number {
  const maker = fingerprinterOf(by)[NATIVE];
  return native(() => binding.similarity(a, b, maker));
}

/**
 * Jaccard similarity of the feature sets of two texts, 0 to 1: shared features by features of either. 0 where neither has any.
 * Where features are chosen by script and both texts have 400 ideographs or more, a digit counting as two, their runs of five
 * characters are compared too, and the lower similarity counts.
 */
export function jaccard(a: Text, b: Text, by?: By): number {
  const maker = fingerprinterOf(by)[NATIVE];
  return native(() => binding.jaccard(a, b, maker));
}

/**
 * How much of the smaller feature set the larger one holds, 0 to 1; an empty one is contained in nothing. Long texts as by
 * {@link jaccard}.
 */
export function containment(a: Text, b: Text, by?: By): number {
  const maker = fingerprinterOf(by)[NATIVE];
  return native(() => binding.containment(a, b, maker));
}

/**
 * Cosine of the angle between the weighted features of two texts, 0 to 1: by how often they occur, or by TF-IDF with
 * `{ preset: 'jieba-tfidf' }`, where rare words say more; all features, whatever `topK` is. 0 where a text has none.
 */
export function cosine(a: Text, b: Text, by?: By): number {
  const maker = fingerprinterOf(by)[NATIVE];
  return native(() => binding.cosine(a, b, maker));
}

/** How far an edit distance is looked for. */
export interface LevenshteinOptions {
  /**
   * Give up beyond this distance, 0 to 2^53 - 1. Default: never. The work falls from the product of the lengths to this
   * times the shorter length (by 64 and by 32 per step). Give it wherever a text can be long: for a similarity of at least s
   * it is `(1 - s) * Math.max(a.length, b.length)`.
   */
  maxDistance?: number | undefined;
}

const LEVENSHTEIN: check.Checks<LevenshteinOptions> = { maxDistance: check.id };

/**
 * Fewest insertions, deletions and replacements of one code point that turn one text into the other; `undefined` where that
 * is more than `maxDistance`. The texts are compared as they are: pass `fingerprinter.normalize(text)` to leave aside what
 * normalisation leaves aside. The call is synchronous, and without `maxDistance` its time is the product of the lengths: two
 * unrelated texts of 1,000 characters take some 60 µs, of 100,000 about a second, of 400,000 about 20.
 */
export function levenshtein(a: Text, b: Text): number;
export function levenshtein(a: Text, b: Text, options?: LevenshteinOptions): number | undefined;
export function levenshtein(a: Text, b: Text, options?: LevenshteinOptions): number | undefined {
  const { maxDistance } = check.checked(options, LEVENSHTEIN);
  return native(() => binding.levenshtein(a, b, maxDistance)) ?? undefined;
}

/** Bits in which two fingerprints differ, 0 to 64. */
export function hammingDistance(a: bigint, b: bigint): number {
  return native(() => binding.hammingDistance(check.bigint(a, 'a'), check.bigint(b, 'b')));
}

/** A fingerprint as 16 lower-case hexadecimal digits. */
export function toHex(fingerprint: bigint): string {
  return native(() => binding.toHex(check.bigint(fingerprint, 'fingerprint')));
}

/** The fingerprint that exactly 16 hexadecimal digits of either case spell. */
export function fromHex(text: string): bigint {
  return native(() => binding.fromHex(check.string(text, 'text')));
}
