/** Options of an index, by method, and how they are checked. */
import { bothOrNeither, COMPARISON, mustBe, verification } from './comparison';
import { about, rangeError, typeError } from './errors';
import { FINGERPRINTER, type FingerprinterOptions, nativeOptions } from './fingerprinter';
import { given } from './given';
import { INDEX_METHODS, INDEX_OWN, type IndexMethod, methodOf } from './method';
import { MIN_HASH } from './min-hasher';
import type { NativeIndexOptions, NativeWindow } from './native';
import { checksOf } from './option-table';
import * as check from './options';
import { LONGEST_TEXT, type Measure, storedTexts, type TextLimit } from './verify';

/** Which documents stay; the oldest leave first. Renewed documents (`onDuplicate: 'touch'`) count as new. */
export interface Window {
  /**
   * Largest age in milliseconds, 1 to 2^53 - 1, measured at the latest time that an addition has brought: documents older
   * than that leave before the addition looks. Default any age.
   */
  maxAge?: number | undefined;
  /** Most live documents, 1 to 2^32 - 2. Default any number. */
  maxCount?: number | undefined;
  /**
   * How many milliseconds `at` may be ahead of the system's clock (of one that was set back: of where it was), 0 to 2^53 - 1 or `Infinity`; beyond that a call throws
   * `ERR_OUT_OF_RANGE` and changes nothing, because one time far in the future would stop the window. Where `at` is no Unix
   * time in milliseconds, set `Infinity`. Not saved: it belongs to the open index. Default 86,400,000, a day.
   */
  maxSkew?: number | undefined;
}

/** Matches are verified on the texts, the default. `T` is `false` where none are stored. */
export interface VerifiedOptions<T extends boolean = boolean> {
  /**
   * What is measured between the texts of candidates: `'auto'` (default, as in `dedup`), `'jaccard'`, `'containment'`, `'edit'` or
   * `'cosine'`.
   */
  verify?: Measure | undefined;
  /** Least similarity by that measure, 0 to 1. Default 0.8. 0 is `verify: false`, and goes beside no measure. */
  minSimilarity?: number | undefined;
  /** Most candidates whose texts are compared in one look, best first, 1 to 2^32 - 1. Default 1000. What is cut says `truncated`. */
  maxVerifications?: number | undefined;
  /**
   * Which normalised texts are stored, so that candidates can be verified: `true` (default), those of at most 64 KiB of UTF-8, in
   * compressed blocks; `{ maxLength }`, those of at most so many bytes; `false`, none. A match whose text is not at hand counts by its distance, its
   * estimated similarity or its sentences alone, behind every verified one, and says `verified: false`.
   */
  texts?: T | TextLimit | undefined;
}

/** Candidates are matches as they are. */
export interface UnverifiedOptions<T extends boolean = boolean> {
  /** `false`: nothing is compared. */
  verify: false;
  /** Nothing is measured: left out, or 0. */
  minSimilarity?: 0 | undefined;
  /** Nothing is compared. */
  maxVerifications?: undefined;
  /** As for an index that verifies, but none are stored by default: nothing would be compared with them. */
  texts?: T | TextLimit | undefined;
}

/** What a document does whose key came before, see {@link StoreOptions.onSameKey}. */
export type OnSameKey = 'add' | 'error' | 'replace' | 'repeat';

/** Options of every method. */
export interface StoreOptions extends FingerprinterOptions {
  /**
   * Whether documents can have keys: names of the caller's, which find them again (`idOf`, `keyOf`, `key` in results). Costs 4
   * bytes per document, the key, and about 40. Default false.
   */
  keys?: boolean | undefined;
  /**
   * What a document does whose key came before, in an index with `keys`:
   *
   * - `'add'` (default, and what 0.1.0 did): it is a document like any other; a key names the latest of its documents that is alive.
   * - `'error'`: while the key names a live document, `ERR_SIMHASH_SAME_KEY`, before anything is looked for. Of a batch the items
   *   before count, and `done` of the error has them.
   * - `'replace'`: the live document of the key leaves, and the new one is added or checked in its place, as one step, so it is never a
   *   duplicate of its own old version. It gets a new id. If it is a duplicate of another document it is not kept, and the old one is gone
   *   all the same: the key names nothing then.
   * - `'repeat'`: it is answered as the key was answered first, with `repeated: true`, and nothing changes: for a queue that delivers twice. The
   *   answer lives as long as a document of its time: that of a kept document until it leaves or is deleted; that of a duplicate, with a window,
   *   until `maxAge` has passed over its time, `maxCount` documents were added after it, or `expire` is called with a later time, and
   *   without a window until the document that it was like is deleted. Then the key is new. `add` of a kept key gives its id again; one of
   *   a duplicate adds it. Costs 140 to 180 bytes for each key of a duplicate, which counts as an addition where `memory` ends.
   */
  onSameKey?: OnSameKey | undefined;
  /**
   * Keeps the time of each document (12 bytes) and lets old ones leave; `{}` keeps times for `expire` alone. Default: no
   * times, documents stay until they are deleted.
   */
  window?: Window | undefined;
  /**
   * Most bytes that the index may take, 1 to 2^53 - 1. At 80 % the process is warned once (`SIMHASH_MEMORY`), after the call that came
   * there; beyond it additions fail with `ERR_SIMHASH_MEMORY`, and everything else goes on. It is looked at before each addition: the last
   * one may pass it by the pages that tables take at a time (2 MiB each), and a merge of `'simhash'` in the background by what it
   * merges. Default any.
   */
  memory?: number | undefined;
}

/** Options that other methods have. */
type NotOf<M extends IndexMethod> = {
  [Own in (typeof INDEX_OWN)[number] as Own[1] extends M ? never : Own[0]]?: undefined;
};

/** Options of an index of 64-bit SimHash fingerprints: every one within a Hamming distance, and nothing else. */
export interface SimHashOptions extends StoreOptions, NotOf<'simhash'> {
  /** `'simhash'`; may be left out beside any other option of this method. */
  method?: 'simhash' | undefined;
  /** Largest Hamming distance of candidates, inclusive, 0 to 16. Default 8, and 3 where nothing is verified. */
  maxDistance?: number | undefined;
  /** Which tables to keep: `'auto'` (default), `'classic'` (k + 1 blocks), or a plan's name such as `'k3-t6'`. */
  plan?: 'auto' | 'classic' | (string & {}) | undefined;
  /** Expected number of documents, 0 to 2^53 - 1; a hint for `plan: 'auto'`. */
  capacity?: number | undefined;
}

/** How an index of SimHash fingerprints is made. */
export type SimHashIndexOptions<T extends boolean = boolean> = SimHashOptions &
  (VerifiedOptions<T> | UnverifiedOptions<T>);

/** How much it weighs to find too much, and to find too little. Not both 0. */
export interface BandWeights {
  /** Weight of the area under the S-curve below `minSimilarity`, 0 or more. */
  falsePositive: number;
  /** Weight of the area above it beyond `minSimilarity`, 0 or more. */
  falseNegative: number;
}

/** Bands as they are given. */
export interface GivenBands {
  /** So many bands, 1 to 1024. More find more. */
  bands: number;
  /** Positions per band, beside `bands`. More find less. */
  rows: number;
  /** Decides about bands as well. */
  recall?: undefined;
  /** Decides about bands as well. */
  weights?: undefined;
}

/** Bands by what they find, the default. */
export interface RecalledBands {
  /** As many as `recall` needs. */
  bands?: undefined;
  /** The most that `recall` allows. */
  rows?: undefined;
  /**
   * The probability with which a pair at `minSimilarity` must share a band, above 0 and below 1: the most rows that allow it, and no
   * more bands than it needs. Default 0.9999.
   */
  recall?: number | undefined;
  /** Decides about bands as well. */
  weights?: undefined;
}

/** Bands by the least weighted error. */
export interface WeightedBands {
  /** By the weights. */
  bands?: undefined;
  /** By the weights. */
  rows?: undefined;
  /** Decides about bands as well. */
  recall?: undefined;
  /** What both kinds of errors weigh; look at the recall of the plan. */
  weights: BandWeights;
}

/** Options of an index of MinHash signatures by bands, the default. */
export interface MinHashOwnOptions extends StoreOptions, Omit<NotOf<'minhash'>, keyof GivenBands> {
  /** `'minhash'`, the default. */
  method?: 'minhash' | undefined;
  /**
   * Positions of a signature, 1 to 1024. Bands that are not given use no more than these. Default 128, and where bands are given and
   * signatures kept at least `bands * rows`. Beside bands that are given any but `bands * rows` needs `signatures`: no other positions are made.
   */
  hashes?: number | undefined;
  /** Where the orders of features come from, as for a `MinHasher`; `'bottom-k'` has no bands. Default `'fast-similarity'`. */
  scheme?: 'fast-similarity' | 'permutations' | 'one-permutation' | undefined;
  /** Chooses the hash functions: 0 to 2^53 - 1, or a bigint of 64 bits. Default 0. */
  seed?: number | bigint | undefined;
  /**
   * Keeps the signatures, 4 bytes per position and document: what shares a band and has no text at hand counts by the
   * estimated similarity. Default: where texts are not stored.
   */
  signatures?: boolean | undefined;
  /**
   * Most documents read from one bucket, the oldest first, at least 1; what lies beyond makes an answer `truncated`. Default
   * 1024. What is similar shares other bands than a crowded one.
   */
  bucketLimit?: number | undefined;
}

/** How an index of MinHash signatures is made. */
export type MinHashIndexOptions<T extends boolean = boolean> = MinHashOwnOptions &
  (GivenBands | RecalledBands | WeightedBands) &
  (VerifiedOptions<T> | UnverifiedOptions<T>);

/** Which sentences are too common to count: page furniture, signatures, disclaimers. */
export interface CommonOptions {
  /** A sentence does not count while more than this share of the distinct sketches have it, 0 to 1. Default 0.001. */
  share?: number | undefined;
  /** So many sketches may have a sentence however few there are, 0 to 2^32 - 1. Default 5. */
  count?: number | undefined;
}

/** Options of an index of the longest sentences of each text. */
export interface SentencesOptions extends StoreOptions, Omit<NotOf<'sentences'>, 'groups'> {
  /** `'sentences'`; may be left out beside any other option of this method. */
  method?: 'sentences' | undefined;
  /** How many of the longest sentences of a text are kept, 1 to 64. Default 5. */
  sentences?: number | undefined;
  /**
   * Shortest sentence that counts, in code points without punctuation and white space, 0 to 2^32 - 1. Default 10: of news
   * that share a shorter sentence, most have nothing else in common. A text without such a sentence is compared as a
   * whole, by equality after normalisation.
   */
  minLength?: number | undefined;
  /** Hash of a sentence: `'xxh3'` (default), or `'md5'`, its first 64 bits, to compare with hashes made elsewhere. */
  hash?: 'xxh3' | 'md5' | undefined;
  /** Which sentences are too common to count; `false`: none is. Default `false` where matches are verified, else the defaults of its fields. */
  common?: CommonOptions | false | undefined;
}

/** Groups are kept, and nothing is compared. */
export interface GroupOptions<T extends boolean = boolean> {
  /** Keeps the groups of texts that share a sentence, for `similarId` and `group`; a shared sentence alone decides. Default false. */
  groups: true;
  /** Nothing is compared. */
  verify?: false | undefined;
  /** Nothing is measured. */
  minSimilarity?: 0 | undefined;
  /** Nothing is compared. */
  maxVerifications?: undefined;
  /** As for an index that verifies, but none are stored by default. */
  texts?: T | TextLimit | undefined;
}

/** No groups are kept. */
export interface NoGroups {
  /** Default false. */
  groups?: false | undefined;
}

/** How an index of sentences is made. */
export type SentencesIndexOptions<T extends boolean = boolean> = SentencesOptions &
  (GroupOptions<T> | (NoGroups & (VerifiedOptions<T> | UnverifiedOptions<T>)));

/** How an index of equal normalised texts is made. They are found by their hashes, and none are stored. */
export interface ExactIndexOptions
  extends StoreOptions,
    NotOf<'exact'>,
    Omit<VerifiedOptions<false>, 'verify' | 'texts'> {
  /** `'exact'`. */
  method: 'exact';
  /** Equal texts have a similarity of 1 by every measure. */
  verify?: Measure | false | undefined;
  /** None are stored. */
  texts?: false | undefined;
}

/** How an index is made, by method. */
export type IndexOptions<
  M extends IndexMethod = IndexMethod,
  T extends boolean = boolean,
> = M extends 'minhash'
  ? MinHashIndexOptions<T>
  : M extends 'simhash'
    ? SimHashIndexOptions<T>
    : M extends 'sentences'
      ? SentencesIndexOptions<T>
      : ExactIndexOptions;

/** Options of an index whose method is not known. */
export type AnyMethodOptions = StoreOptions & { method?: undefined } & NotOf<never> &
  (VerifiedOptions | UnverifiedOptions);

/** That one of these options is given. */
type OneOf<K extends string> = K extends string
  ? { readonly [P in K]: NonNullable<unknown> }
  : never;

/** The method where it is named, by itself or by an option that only it has. */
export type Named<M extends IndexMethod> =
  | { readonly method: M }
  | OneOf<Extract<(typeof INDEX_OWN)[number], readonly [string, M]>[0]>;

const UINT32 = 2 ** 32 - 1;
/** A value that has the right type and no meaning. */
const INVALID = 'ERR_INVALID_ARG_VALUE';
export const WINDOW: check.Checks<Window> = {
  maxAge: check.integer(1, Number.MAX_SAFE_INTEGER),
  maxCount: check.integer(1, UINT32 - 1),
  maxSkew: (value, name) =>
    value === Number.POSITIVE_INFINITY
      ? value
      : check.integer(0, Number.MAX_SAFE_INTEGER)(value, name),
};
export const COMMON: check.Checks<CommonOptions> = {
  share: check.share,
  count: check.integer(0, UINT32),
};
const weight: check.Check<number> = (value, name) => {
  if (typeof value !== 'number') throw check.wrongType(name, 'a number of 0 or more', value);
  if (!(value >= 0 && value < Number.POSITIVE_INFINITY))
    throw rangeError(`${name} must be 0 or more, got ${value}`);
  return value;
};
const WEIGHTS: check.Checks<BandWeights> = { falsePositive: weight, falseNegative: weight };
const method = check.choice(...INDEX_METHODS);

/** What comes out of the check: every option of every method, texts by their longest length. */
export interface CheckedOptions
  extends StoreOptions,
    Pick<SimHashOptions, 'maxDistance' | 'plan' | 'capacity'>,
    Pick<MinHashOwnOptions, 'hashes' | 'scheme' | 'seed' | 'signatures' | 'bucketLimit'>,
    Pick<SentencesOptions, 'sentences' | 'minLength' | 'hash' | 'common'> {
  method?: IndexMethod | undefined;
  verify?: Measure | false | undefined;
  minSimilarity?: number | undefined;
  maxVerifications?: number | undefined;
  texts?: number | undefined;
  bands?: number | undefined;
  rows?: number | undefined;
  recall?: number | undefined;
  weights?: BandWeights | undefined;
  groups?: boolean | undefined;
}

/** An option of release 0.1 that held others. */
const FORMER = {
  fingerprinter: check.notHere(
    'is gone: its options are options of the index, as new Index({ ngram: 3 })',
  ),
};

export const INDEX: check.Checks<CheckedOptions> = {
  ...FORMER,
  ...FINGERPRINTER,
  method: (value, name) => {
    if (value !== 'brute-force') return method(value, name);
    const why =
      "compares every pair, and has no live index; use it with dedup, pairs or match, or take 'minhash'";
    throw typeError(`${name} 'brute-force' ${why}`, INVALID);
  },
  verify: COMPARISON.verify,
  minSimilarity: COMPARISON.minSimilarity,
  maxVerifications: COMPARISON.maxVerifications,
  texts: storedTexts,
  keys: check.boolean,
  ...checksOf('onSameKey'),
  window: (value, name) => check.checked(value, WINDOW, name),
  memory: check.integer(1, Number.MAX_SAFE_INTEGER),
  maxDistance: COMPARISON.maxDistance,
  ...checksOf('plan', 'capacity'),
  bands: COMPARISON.bands,
  rows: COMPARISON.rows,
  recall: check.share,
  weights: (value, name) => {
    const { falsePositive, falseNegative } = check.checked(value, WEIGHTS, name);
    // Both are needed: what is absent is of the wrong type.
    return {
      falsePositive: weight(falsePositive, `${name}.falsePositive`),
      falseNegative: weight(falseNegative, `${name}.falseNegative`),
    };
  },
  hashes: check.integer(1, 1024),
  scheme: check.choice('fast-similarity', 'permutations', 'one-permutation'),
  seed: MIN_HASH.seed,
  signatures: check.boolean,
  bucketLimit: check.integer(1, Number.MAX_SAFE_INTEGER),
  sentences: COMPARISON.sentences,
  minLength: check.integer(0, UINT32),
  hash: check.choice('xxh3', 'md5'),
  common: (value, name) => (value === false ? false : check.checked(value, COMMON, name)),
  groups: check.boolean,
};

/** Refuses an option that goes with nothing else of these. */
function refuse(option: string, why: string): never {
  throw about(typeError(`${option} ${why}`, INVALID), option);
}

/** Why nothing is compared; `undefined`: texts are. */
function unverified({ groups, verify, minSimilarity }: CheckedOptions): string | undefined {
  if (groups) return 'groups: true, where a shared sentence alone decides';
  if (verify === false) return 'verify: false, which measures nothing';
  return verify === undefined && minSimilarity === 0
    ? 'minSimilarity: 0, which measures nothing'
    : undefined;
}

/** Bytes of the longest text that an index of these options stores; 0: none. */
export function longestText(options: CheckedOptions, method: IndexMethod): number {
  // Equal texts are known by their hashes.
  if (method === 'exact') return 0;
  // Texts that are compared with nothing are not stored unless they are asked for.
  return options.texts ?? (unverified(options) === undefined ? LONGEST_TEXT : 0);
}

/** Refuses options of other methods, and those that do not go together. */
export function methodOfIndex(options: CheckedOptions): IndexMethod {
  const method = methodOf<IndexMethod>(options);
  for (const [option, owner] of INDEX_OWN) {
    if (options[option] !== undefined) mustBe(owner, method, option);
  }
  bothOrNeither(options);
  const { verify, minSimilarity, maxVerifications, texts } = options;
  const { bands, rows, weights, recall } = options;
  const ways = { 'bands and rows': bands, weights, recall };
  const [one, other] = Object.entries(ways).filter(([, value]) => value !== undefined);
  if (other !== undefined) {
    refuse(
      other[0],
      `must be left out beside ${one?.[0]}: each of them decides how many bands there are`,
    );
  }
  const keeps = options.signatures ?? longestText(options, method) === 0;
  const made = (bands ?? 0) * (rows ?? 0);
  if (bands !== undefined && (options.hashes ?? made) !== made && !keeps) {
    refuse(
      'hashes',
      'must be left out beside bands and rows, unless signatures are kept: no others are made',
    );
  }
  if (method === 'exact' && texts) {
    refuse(
      'texts',
      "must be left out or false with method 'exact', which knows equal texts by their hashes",
    );
  }
  const alone = unverified(options);
  if (alone !== undefined && (verify ?? false) !== false) {
    refuse('verify', `must be left out beside ${alone}`);
  }
  if (alone !== undefined && (minSimilarity ?? 0) > 0) {
    refuse('minSimilarity', `must be left out beside ${alone}`);
  }
  if (alone !== undefined && maxVerifications !== undefined && method !== 'exact') {
    refuse('maxVerifications', `must be left out beside ${alone}`);
  }
  return method;
}

/** The limits of a window as the addon takes them. */
export function nativeWindow(window: Window | undefined): NativeWindow | undefined {
  return window && given(window);
}

/** Checked options as the addon takes them. */
export function nativeIndexOptions(options: CheckedOptions): NativeIndexOptions {
  const method = methodOfIndex(options);
  return { ...nativeOptionsOf(options), method, longestText: longestText(options, method) };
}

/** Those of an index that is there already: what is not given is its own, the method too. */
export function nativeOpenOptions(options: CheckedOptions): NativeIndexOptions {
  const method = methodOfIndex(options);
  const isGiven =
    options.method !== undefined || INDEX_OWN.some(([own]) => options[own] !== undefined);
  return {
    ...nativeOptionsOf(options),
    ...given({ method: isGiven ? method : undefined, longestText: options.texts }),
    longestTextOfNew: longestText(options, method),
  };
}

function nativeOptionsOf(options: CheckedOptions): NativeIndexOptions {
  const { maxVerifications, keys, onSameKey, window, memory, threads = 0 } = options;
  const { maxDistance, plan, capacity, bands, rows, recall, weights, hashes } = options;
  const { scheme, seed, signatures, bucketLimit, sentences, minLength, hash } = options;
  const { common, groups } = options;
  // A share of 1 lets every sentence count.
  const { share: commonShare, count: commonCount } =
    common === false ? { share: 1 } : (common ?? {});
  return {
    fingerprinter: nativeOptions(options),
    threads,
    ...(groups ? { minSimilarity: 0 } : verification(options)),
    ...given({ maxVerifications, keys, onSameKey, memory, window: nativeWindow(window) }),
    ...given({ maxDistance, plan, capacity }),
    ...given({ bands, rows, recall, weights, hashes, scheme, signatures, bucketLimit }),
    ...given({ groups, seed: seed as bigint | undefined, sentences, minLength, hash }),
    ...given({ commonShare, commonCount }),
  };
}
