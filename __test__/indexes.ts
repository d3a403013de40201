/** Indexes that tests make. */
import {
  type ExactIndexOptions,
  Index,
  type IndexMethod,
  type SimHashIndexOptions,
  type StoreOptions,
} from '..';

/** What opens an index of bare fingerprints. */
export const BARE = { method: 'simhash', texts: false } as const;

/** An index of bare fingerprints, within a distance of 3 unless another is given. */
export const bare = (options: Omit<SimHashIndexOptions, 'texts'> = {}) =>
  new Index({ maxDistance: 3, ...options, texts: false });

/** A match by fingerprints alone. */
export const near = (id: number, distance: number) => ({ id, verified: false, distance });

/** A duplicate by fingerprints alone. */
export const copy = (duplicateOf: number, distance: number) => ({
  duplicateOf,
  verified: false,
  distance,
});

/** Every method of an index. */
export const METHODS = ['minhash', 'simhash', 'sentences', 'exact'] as const;

/** An index of any method, by the options that all have. */
export const of = (method: IndexMethod, options: Omit<StoreOptions<true>, 'threads'> = {}) =>
  new Index({ ...options, method } as ExactIndexOptions<true>);
