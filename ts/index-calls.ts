/** Options of the calls on an index, and how they are checked. */
import { COMPARISON, mustBe } from './comparison';
import { about, rangeError, typeError } from './errors';
import { JOB, type JobOptions } from './fingerprinter';
import { given } from './given';
import type { IndexMethod } from './method';
import type { NativeAbout, NativeSearch } from './native';
import * as check from './options';
import { type BatchTimes, type Time, type Times, time, times } from './time';
import { singleOnly } from './verify';

/** How to add one item. */
export interface AddOptions {
  /**
   * The item's time. Default now. Only an index with a window looks at it; a time before the latest one counts as the
   * latest, so that time never runs backwards, and one further ahead of the clock than the window's `maxSkew` is refused.
   */
  at?: Time | undefined;
  /**
   * The item's key: 1 to 65,536 bytes of UTF-8. A string with half of a surrogate pair is a TypeError, as UTF-8 cannot hold it.
   * Default none. Needs an index with `keys`. What one does that comes again is said by `onSameKey` of the index; by default each document keeps its own, and the key names the latest of them that is alive.
   */
  key?: string | undefined;
}

/** How to add many items. */
export interface AddManyOptions {
  /** One time for all items, or a list of one for each, in order; a list of another length is a RangeError. As in {@link AddOptions}. Default now. */
  at?: Times | undefined;
  /** A key for each item, `undefined` for none; as in {@link AddOptions}. Default none at all. */
  keys?: readonly (string | undefined)[] | undefined;
}

/** How far a caller has come with a batch. */
export interface PositionOptions {
  /**
   * How far the caller has come in what it reads, for example the offset of a queue: `position` of the index from now on, kept in the same commit as
   * the end of the batch, so that both are there after a crash or neither is. 0 to 2^53 - 1; one lower than before is a RangeError. Default: as it is.
   */
  position?: number | undefined;
}

/** What to do with an item that has a near-duplicate. */
export interface DuplicateOptions {
  /**
   * `'skip'` (default): the item is not added; `'add'`: it is added all the same; `'touch'`: it is not added, and the
   * match becomes as young as the item (in an index with a window; otherwise as `'skip'`).
   */
  onDuplicate?: 'skip' | 'add' | 'touch' | undefined;
}

/** How to search. */
export interface SearchOptions<M extends IndexMethod = IndexMethod> {
  /** At most so many matches per item, the best first; 0 to 2^53 - 1. Default all. */
  limit?: number | undefined;
  /** `false`: candidates as they are, without a look at the texts. Default: as the index verifies. */
  verify?: false | undefined;
  /** Least similarity, 0 to 1: of the texts, of an unverified match the estimated one. Default: that of the index. */
  minSimilarity?: number | undefined;
  /** Largest distance of candidates, inclusive, 0 to 16. Default: that of the index. For `'simhash'`. */
  maxDistance?: ([M] extends ['simhash'] ? number : never) | undefined;
}

/** Bytes of the longest key. */
const LONGEST_KEY = 65_536;

/** A key. */
export const keyString: check.Check<string> = (value, name) => {
  const key = check.wellFormed(value, name);
  // No character has more than three bytes per code unit.
  const bytes = key.length * 3 <= LONGEST_KEY ? key.length : Buffer.byteLength(key);
  if (bytes > 0 && bytes <= LONGEST_KEY) return key;
  throw rangeError(`${name} must be a string of 1 to ${LONGEST_KEY} bytes, got ${check.show(key)}`);
};
const keys: check.Check<(string | undefined)[]> = (value, name) => {
  check.array(value, name);
  return Array.from(value as unknown[], (key, row) =>
    key === undefined ? undefined : keyString(key, `${name}[${row}]`),
  );
};
const never: check.Check<false> = (value, name) => {
  if (value === false) return value;
  const expected = 'false or left out here; what is measured is an option of the index';
  const code = typeof value === 'string' ? 'ERR_INVALID_ARG_VALUE' : 'ERR_INVALID_ARG_TYPE';
  throw typeError(`${name} must be ${expected}, got ${check.show(value)}`, code);
};
const DUPLICATE: check.Checks<DuplicateOptions> = {
  onDuplicate: check.choice('skip', 'add', 'touch'),
};

/** Times come out of the check in milliseconds. */
export const ADD: check.Checks<{ at?: number; key?: string }> = { at: time, key: check.wellFormed };
export const ADD_MANY: check.Checks<{ at?: BatchTimes; keys?: (string | undefined)[] }> = {
  at: times,
  keys,
};
export const ADD_JOB = { ...ADD_MANY, ...JOB };
const POSITION: check.Checks<PositionOptions> = { position: check.id };
/** For batches up to a position. */
export const ADD_TO = { ...ADD_MANY, ...POSITION };
export const ADD_TO_JOB = { ...ADD_JOB, ...POSITION };
const ofIndex = check.notHere('is an option of the index: give it to new Index');
export const CHECK = {
  ...ADD,
  ...DUPLICATE,
  verify: ofIndex,
  minSimilarity: ofIndex,
  textOf: check.callback as check.Check<(id: number) => unknown>,
};
/** For batches. */
export const CHECK_MANY = {
  ...ADD_TO,
  ...DUPLICATE,
  textOf: singleOnly,
  verify: ofIndex,
  minSimilarity: ofIndex,
};
export const CHECK_JOB = { ...CHECK_MANY, ...JOB };
export const SEARCH: check.Checks<SearchOptions<'simhash'>> = {
  limit: check.id,
  verify: never,
  minSimilarity: check.share,
  maxDistance: COMPARISON.maxDistance,
};
export const SEARCH_JOB: check.Checks<SearchOptions<'simhash'> & JobOptions> = {
  ...SEARCH,
  ...JOB,
};

/** Checked options of a search as the addon takes them. */
export function nativeSearch(options: SearchOptions<'simhash'>, index: NativeAbout): NativeSearch {
  const { limit, verify, minSimilarity, maxDistance } = options;
  const { method, texts, signatures } = index;
  if (maxDistance !== undefined) mustBe('simhash', method, 'maxDistance');
  const measures = method === 'exact' || signatures || (texts && index.verify !== undefined);
  if (minSimilarity !== undefined && !measures) {
    const why =
      'is for an index that knows similarities: one that verifies, with texts, or keeps signatures';
    throw about(typeError(`minSimilarity ${why}`, 'ERR_INVALID_ARG_VALUE'), 'minSimilarity');
  }
  if (verify === false && minSimilarity !== undefined) {
    const why = 'must be left out beside verify: false, which measures nothing';
    throw about(typeError(`minSimilarity ${why}`, 'ERR_INVALID_ARG_VALUE'), 'minSimilarity');
  }
  return given({ limit, verify, minSimilarity, maxDistance });
}
