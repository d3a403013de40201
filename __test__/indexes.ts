/** Indexes that tests make. */
import {
  Index,
  type IndexMethod,
  type MinHashIndexOptions,
  type SimHashOptions,
  type StoreOptions,
  type VerifiedOptions,
} from '..';

/** What opens an index of bare fingerprints. */
export const BARE = { method: 'simhash', texts: false } as const;

/** An index of bare fingerprints, within a distance of 3 unless another is given. */
export const bare = (options: SimHashOptions = {}) =>
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

/** An index of any method, by the options that all have; equal texts alone are found without stored ones. */
export const of = (method: IndexMethod, options: StoreOptions & VerifiedOptions<true> = {}) => {
  const { texts, ...others } = options;
  const given = method === 'exact' ? others : options;
  return new Index({ ...given, method } as MinHashIndexOptions<true>) as unknown as Index<'exact'>;
};
