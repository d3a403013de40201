/** Options of an index of sentences and of its calls, and how they are checked. */
import { given } from './given';
import type { Window } from './index-options';
import { WINDOW } from './index-options';
import type { NativeSentenceIndexOptions } from './native';
import { type Normalize, nativeNormalizer, normalize } from './normalize';
import * as check from './options';

/** Which sentences are too common to count: page furniture, signatures, disclaimers. */
export interface CommonOptions {
  /** A sentence does not count while more than this share of the distinct sketches have it, 0 to 1. Default 0.001. */
  share?: number | undefined;
  /** So many sketches may have a sentence however few there are, 0 to 2^32 - 1. Default 5. */
  count?: number | undefined;
}

/** How an index of sentences is made. */
export interface SentenceIndexOptions {
  /** How many of the longest sentences of a text are kept, 1 to 64. Default 5. */
  count?: number | undefined;
  /**
   * Shortest sentence that counts, in code points without punctuation and white space, 0 to 2^32 - 1. Default 10: of news
   * that share a shorter sentence, most have nothing else in common. A text without such a sentence is compared as a
   * whole, by equality after normalisation.
   */
  minLength?: number | undefined;
  /** Normalisation, as for `sentences()`. Default as for a fingerprinter. */
  normalize?: Normalize | undefined;
  /** Hash of a sentence: `'xxh3'` (default), or `'md5'`, its first 64 bits, to compare with hashes made elsewhere. */
  hash?: 'xxh3' | 'md5' | undefined;
  /** Which sentences are too common to count; `false`: none is. */
  common?: CommonOptions | false | undefined;
  /**
   * Keeps the time of each document (12 bytes) and lets old ones leave; `{}` keeps times for `expire` alone. Default: no
   * times, documents stay until they are deleted.
   */
  window?: Window | undefined;
  /** Most threads of one call, 0 to 1024; 0 (default) is one per core. Changes no result. */
  threads?: number | undefined;
}

/** How the index of a file is opened: a file that exists must have been made with what is given. */
export interface OpenSentencesOptions extends SentenceIndexOptions {
  /**
   * When a change counts as kept. `'commit'` (default): when the disk has it; it survives the end of the process and a power
   * cut, and costs two flushes per call. `'system'`: when the operating system has it; it survives the end of the process.
   */
  durability?: 'commit' | 'system' | undefined;
}

/** How to search by sentences. */
export interface SentenceSearchOptions {
  /** At most so many matches per text, those that share most first; 0 to 2^53 - 1. Default all. */
  limit?: number | undefined;
}

const UINT32 = 2 ** 32 - 1;
const COMMON: check.Checks<CommonOptions> = {
  share: check.share,
  count: check.integer(0, UINT32),
};

export const SENTENCE_INDEX: check.Checks<SentenceIndexOptions> = {
  count: check.integer(1, 64),
  minLength: check.integer(0, UINT32),
  normalize,
  hash: check.choice('xxh3', 'md5'),
  common: (value, name) => (value === false ? false : check.checked(value, COMMON, name)),
  window: (value, name) => check.checked(value, WINDOW, name),
  threads: check.integer(0, 1024),
};
export const OPEN_SENTENCES: check.Checks<OpenSentencesOptions> = {
  ...SENTENCE_INDEX,
  durability: check.choice('commit', 'system'),
};
export const SENTENCE_SEARCH: check.Checks<SentenceSearchOptions> = { limit: check.id };

/** Checked options as the addon takes them. */
export function nativeSentenceIndexOptions(
  options: OpenSentencesOptions,
): NativeSentenceIndexOptions {
  const { common, window, threads = 0, count, minLength, hash, durability } = options;
  // A share of 1 lets every sentence count.
  const { share: commonShare, count: commonCount } =
    common === false ? { share: 1 } : (common ?? {});
  const limits = window && given(window);
  return {
    ...given({ count, minLength, hash, durability, commonShare, commonCount, window: limits }),
    normalize: nativeNormalizer(options.normalize ?? {}),
    threads,
  };
}
