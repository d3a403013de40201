import { binding } from './binding';
import type { Text } from './documents';
import { native } from './errors';
import { type Normalize, nativeNormalizer, normalize } from './normalize';
import * as check from './options';

/** A sentence of a text. */
export interface Sentence {
  /** 64-bit hash of the normalised sentence without punctuation and white space at its ends. */
  hash: bigint;
  /** Code points of the normalised sentence without punctuation and white space. */
  length: number;
  /** Its place among the sentences of the text, from 0. */
  index: number;
}

/** Which sentences are taken. */
export interface SentenceOptions {
  /** How many of the longest, 0 to 2^32 - 1. Default 5. */
  count?: number | undefined;
  /** Shortest that counts, in code points without punctuation and white space, 0 to 2^32 - 1. Default 5. */
  minLength?: number | undefined;
  /** Normalisation; html, noise and emoji before the text is split, the rest after it. Default as for a fingerprinter. */
  normalize?: Normalize | undefined;
  /** `'xxh3'` (default), or `'md5'`, its first 64 bits, to compare with hashes made elsewhere. */
  hash?: 'xxh3' | 'md5' | undefined;
}

const UINT32 = 2 ** 32 - 1;
const OPTIONS: check.Checks<SentenceOptions> = {
  count: check.integer(0, UINT32),
  minLength: check.integer(0, UINT32),
  normalize,
  hash: check.choice('xxh3', 'md5'),
};

/**
 * The longest sentences of a text, Chinese or English, the longest first, each once. Two texts that have one in common are
 * likely copies, whatever a page has put around them; one changed character in a sentence hides it.
 */
export function sentences(text: Text, options?: SentenceOptions): Sentence[] {
  const given = check.checked(options, OPTIONS);
  const { count = 5, minLength = 5 } = given;
  const steps = nativeNormalizer(given.normalize ?? {});
  return native(() => binding.sentences(text, count, minLength, steps, given.hash));
}
