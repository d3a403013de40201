/** The methods by name, and which options belong to which. Loads nothing, so that the command line can say it quickly. */

/** How near-duplicates are looked for. Equal normalised texts are found first, whatever the method. */
export type Method =
  /** Signatures of the sets of features; documents that share one of their `bands` are compared. About 9 bytes per band and document. */
  | 'minhash'
  /** Fingerprints within `maxDistance`: the fewest bytes per document, and the fewest duplicates found among short texts. */
  | 'simhash'
  /** An equal one among the longest `sentences`: for pages that put other things around a text. */
  | 'sentences'
  /** Every pair above `minSimilarity`, exactly: for up to about a million short texts. */
  | 'brute-force'
  /** Equal normalised texts and nothing else. */
  | 'exact';

/** The methods of an `Index`: those that find a neighbour without comparing with everything. */
export type IndexMethod = Exclude<Method, 'brute-force'>;

/** Their names, the default first. */
export const INDEX_METHODS = [
  'minhash',
  'simhash',
  'sentences',
  'exact',
] as const satisfies readonly IndexMethod[];

/** `maxDistance` where none is given: 8 where texts are verified, 3 where the fingerprints alone decide. */
export const defaultDistance = (isVerified: boolean): number => (isVerified ? 8 : 3);

/** Options that one method has. */
export const OWN = [
  ['maxDistance', 'simhash'],
  ['bands', 'minhash'],
  ['rows', 'minhash'],
  ['sentences', 'sentences'],
] as const;

/** Those that it has in an `Index`. */
export const INDEX_OWN = [
  ...OWN,
  ['plan', 'simhash'],
  ['capacity', 'simhash'],
  ['recall', 'minhash'],
  ['weights', 'minhash'],
  ['hashes', 'minhash'],
  ['scheme', 'minhash'],
  ['seed', 'minhash'],
  ['signatures', 'minhash'],
  ['bucketLimit', 'minhash'],
  ['minLength', 'sentences'],
  ['hash', 'sentences'],
  ['common', 'sentences'],
  ['groups', 'sentences'],
] as const;

type Given<M> = { readonly method?: M | undefined } & {
  readonly [K in (typeof INDEX_OWN)[number][0]]?: unknown;
};

/** The method that options ask for: by name, else the one whose options are given, else the default. */
export function methodOf<M extends Method = Method>(options: Given<M>): M | IndexMethod {
  const own = INDEX_OWN.find(([option]) => options[option] !== undefined);
  return options.method ?? own?.[1] ?? 'minhash';
}
