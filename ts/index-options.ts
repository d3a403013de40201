/** Options of an index and of its calls, and how they are checked. */
import {
  FINGERPRINTER,
  Fingerprinter,
  type FingerprinterOptions,
  JOB,
  type JobOptions,
} from './fingerprinter';
import { given } from './given';
import type { NativeIndexOptions, NativeVerify } from './native';
import * as check from './options';
import { type Time, type Times, time, times } from './time';
import { type StoreShortTexts, singleOnly, storeShortTexts, verify } from './verify';

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
   * How many milliseconds `at` may be ahead of the system's clock, 0 to 2^53 - 1 or `Infinity`; beyond that a call throws
   * `ERR_OUT_OF_RANGE` and changes nothing, because one time far in the future would stop the window. Where `at` is no Unix
   * time in milliseconds, set `Infinity`. Not saved: it belongs to the open index. Default 86,400,000, a day.
   */
  maxSkew?: number | undefined;
}

/** How an index is made. */
export interface IndexOptions {
  /** Largest Hamming distance of near-duplicates, inclusive, 0 to 16. Default 3. */
  maxDistance?: number | undefined;
  /** Makes the fingerprints of texts: a fingerprinter or its options. Default `new Fingerprinter()`. */
  fingerprinter?: Fingerprinter | FingerprinterOptions | undefined;
  /** Expected number of documents, 0 to 2^53 - 1; a hint for `plan: 'auto'`. */
  capacity?: number | undefined;
  /** Which tables to keep: `'auto'` (default), `'classic'` (k + 1 blocks), or a plan's name such as `'k3-t6'`. */
  plan?: 'auto' | 'classic' | (string & {}) | undefined;
  /**
   * Keeps the time of each document (12 bytes) and lets old ones leave; `{}` keeps times for `expire` alone. Default: no
   * times, documents stay until they are deleted.
   */
  window?: Window | undefined;
  /**
   * Whether documents can have keys: names of the caller's, which find them again (`idOf`, `keyOf`, `Match.key`). Costs 4
   * bytes per document, the key, and about 40. Default false.
   */
  keys?: boolean | undefined;
  /**
   * Keeps the normalised texts of live documents up to a length, so that `verify` can compare them: 4 bytes per document
   * and the text. Texts too short for a fingerprint are then compared with each other by edit distance, for about 100 bytes
   * each. `true`: up to 140 code points. Default false.
   */
  storeShortTexts?: boolean | StoreShortTexts | undefined;
  /** Most threads of one call, 0 to 1024; 0 (default) is one per core. Changes no result. */
  threads?: number | undefined;
}

/** How a saved index is opened: what is given must be what the index was made with. */
export interface OpenOptions {
  /** Must make the same fingerprints as that of the saved index. Default `new Fingerprinter()`. */
  fingerprinter?: Fingerprinter | FingerprinterOptions | undefined;
  /** If given, must be that of the saved index. */
  maxDistance?: number | undefined;
  /** If given and not `'auto'`, must be that of the saved index. */
  plan?: 'auto' | 'classic' | (string & {}) | undefined;
  /** If given, must be that of the saved index. */
  window?: Window | undefined;
  /** If given, must be that of the saved index. */
  keys?: boolean | undefined;
  /** If given, must be that of the saved index. */
  storeShortTexts?: boolean | StoreShortTexts | undefined;
  /** Most threads of one call, 0 to 1024; 0 (default) is one per core. Changes no result. */
  threads?: number | undefined;
}

/** How to search. */
export interface SearchOptions {
  /** Largest distance, inclusive, 0 to 16. Default: that of the index. */
  maxDistance?: number | undefined;
  /** At most so many matches per item, the nearest first; 0 to 2^53 - 1. Default all. */
  limit?: number | undefined;
}

/** When one item came. */
export interface TimeOptions {
  /**
   * The item's time. Default now. Only an index with a window looks at it; a time before the latest one counts as the
   * latest, so that time never runs backwards, and one further ahead of the clock than the window's `maxSkew` is refused.
   */
  at?: Time | undefined;
  /** Refused: only `Index` has keys. */
  key?: undefined;
  /** Refused: only `Index` has keys. */
  keys?: undefined;
}

/** When many items came. */
export interface TimesOptions {
  /** One time for all items, or one for each, in order; as in {@link TimeOptions}. Default now. */
  at?: Times | undefined;
  /** Refused: only `Index` has keys. */
  key?: undefined;
  /** Refused: only `Index` has keys. */
  keys?: undefined;
}

/** How to add one item. */
export interface AddOptions extends Pick<TimeOptions, 'at'> {
  /**
   * The item's key: 1 to 65,536 bytes of UTF-8. Default none. Needs an index with `keys`. A key may come again: each document
   * keeps its own, and the key names the latest of them that is alive.
   */
  key?: string | undefined;
}

/** How to add many items. */
export interface AddManyOptions extends Pick<TimesOptions, 'at'> {
  /** A key for each item, `undefined` for none; as in {@link AddOptions}. Default none at all. */
  keys?: readonly (string | undefined)[] | undefined;
}

/** What to do with an item that has a near-duplicate. */
export interface DuplicateOptions {
  /**
   * `'skip'` (default): the item is not added; `'add'`: it is added all the same; `'touch'`: it is not added, and the
   * nearest match becomes as young as the item (in an index with a window; otherwise as `'skip'`).
   */
  onDuplicate?: 'skip' | 'add' | 'touch' | undefined;
}

/** How to compare all documents with each other. */
export interface JoinOptions extends JobOptions {
  /** Largest distance of a pair, inclusive, 0 to 16. Default: that of the index. */
  maxDistance?: number | undefined;
}

const UINT32 = 2 ** 32 - 1;
export const WINDOW: check.Checks<Window> = {
  maxAge: check.integer(1, Number.MAX_SAFE_INTEGER),
  maxCount: check.integer(1, UINT32 - 1),
  maxSkew: (value, name) =>
    value === Number.POSITIVE_INFINITY
      ? value
      : check.integer(0, Number.MAX_SAFE_INTEGER)(value, name),
};
const DISTANCE = check.integer(0, 16);

/** What comes out of the check: texts by their longest length. */
type Checked<T> = Omit<T, 'storeShortTexts'> & { storeShortTexts?: number };

export const OPEN: check.Checks<Checked<OpenOptions>> = {
  fingerprinter: (value, name) =>
    value instanceof Fingerprinter ? value : check.checked(value, FINGERPRINTER, name),
  maxDistance: DISTANCE,
  plan: check.string,
  window: (value, name) => check.checked(value, WINDOW, name),
  keys: check.boolean,
  storeShortTexts,
  threads: check.integer(0, 1024),
};
export const INDEX: check.Checks<Checked<IndexOptions>> = { ...OPEN, capacity: check.id };
export const SEARCH: check.Checks<SearchOptions> = { maxDistance: DISTANCE, limit: check.id };
const keyless = check.notHere(
  'is an option of Index, made with keys: true; this index keeps no keys, so map its ids to your own',
);
/** For an index without keys. Times come out of the check in milliseconds. */
export const AT: check.Checks<{ at?: number; key?: never; keys?: never }> = {
  at: time,
  key: keyless,
  keys: keyless,
};
export const AT_MANY: check.Checks<{ at?: Float64Array; key?: never; keys?: never }> = {
  ...AT,
  at: times,
};
export const ADD: check.Checks<{ at?: number; key?: string }> = { at: time, key: check.string };
export const ADD_MANY: check.Checks<{ at?: Float64Array; keys?: (string | undefined)[] }> = {
  at: times,
  keys: (value, name) => {
    check.array(value, name);
    return Array.from(value as unknown[], (key, row) =>
      key === undefined ? undefined : check.string(key, `${name}[${row}]`),
    );
  },
};
export const CONFIRM: check.Checks<{
  verify?: NativeVerify;
  textOf?: (id: number) => unknown;
}> = { verify, textOf: check.callback };
/** For batches. */
export const CONFIRM_MANY: check.Checks<{ verify?: NativeVerify; textOf?: never }> = {
  verify,
  textOf: singleOnly,
};
export const DUPLICATE: check.Checks<DuplicateOptions> = {
  onDuplicate: check.choice('skip', 'add', 'touch'),
};
export const JOIN: check.Checks<JoinOptions> = { ...JOB, maxDistance: DISTANCE };

/** Checked options as the addon takes them. */
export function nativeIndexOptions(options: Checked<IndexOptions>): NativeIndexOptions {
  const { maxDistance, plan, capacity, window, keys, threads = 0 } = options;
  const limits = window && given(window);
  const longestText = options.storeShortTexts;
  return {
    ...given({ maxDistance, plan, capacity, window: limits, keys, longestText }),
    threads,
  };
}
