import { binding } from './binding';
import type { Text } from './documents';
import { native } from './errors';
import { type Fingerprinter, type FingerprinterOptions, fingerprinterOf } from './fingerprinter';
import { NATIVE } from './native-part';
import * as check from './options';

/** How texts become features: a fingerprinter (made once, used often) or its options. */
export type By = Fingerprinter | FingerprinterOptions;

/**
 * Jaccard similarity of the feature sets of two texts, 0 to 1: shared features by features of either. 0 where neither has any.
 */
export function jaccard(a: Text, b: Text, by?: By): number {
  const maker = fingerprinterOf(by)[NATIVE];
  return native(() => binding.jaccard(a, b, maker));
}

/** How much of the smaller feature set the larger one holds, 0 to 1; an empty one is contained in nothing. */
export function containment(a: Text, b: Text, by?: By): number {
  const maker = fingerprinterOf(by)[NATIVE];
  return native(() => binding.containment(a, b, maker));
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
