import { bit } from './bitmap';
import { type Found, found } from './found';
import type { NativeSentenceChecked, NativeSentenceMatches } from './native';

/** A live document that has a sentence in common with the one asked for. */
export interface SentenceMatch {
  /** Its id. */
  id: number;
  /** Sentences in common that count; all of them where the longest sentences are the same, 0 for equal short texts. */
  shared: number;
}

/** Answers to a batch of searches, in columns; rows become objects when they are read. */
export class SentenceMatches implements Iterable<Found<SentenceMatch>> {
  /** Matches of row i are at `offsets[i]` to `offsets[i + 1] - 1` of the other columns. */
  readonly offsets: Uint32Array;
  /** Ids: within a row those that share most first, then by id. */
  readonly ids: Float64Array;
  /** Sentences in common. */
  readonly shared: Uint8Array;
  /** Bit i (the lowest bit of a byte first) is 1 where a limit cut row i. */
  readonly truncated: Uint8Array;

  /** @internal */
  constructor({ offsets, ids, shared, truncated }: NativeSentenceMatches) {
    this.offsets = offsets;
    this.ids = ids;
    this.shared = shared;
    this.truncated = truncated;
  }

  /** Number of rows: of texts searched for. */
  get length(): number {
    return this.offsets.length - 1;
  }

  /** Matches of row `row`; none where there is no such row. */
  get(row: number): Found<SentenceMatch> {
    const matches: SentenceMatch[] = [];
    const end = this.offsets[row + 1] ?? 0;
    for (let at = this.offsets[row] ?? 0; at < end; at++) {
      matches.push({ id: this.ids[at] ?? Number.NaN, shared: this.shared[at] ?? Number.NaN });
    }
    return found(matches, this.isTruncated(row));
  }

  /** Whether a limit left matches of row `row` out. */
  isTruncated(row: number): boolean {
    return bit(this.truncated, row);
  }

  *[Symbol.iterator](): IterableIterator<Found<SentenceMatch>> {
    for (let row = 0; row < this.length; row++) yield this.get(row);
  }
}

/** The outcome of one check-and-add: `id`, or `duplicateOf` and `shared`, or with `onDuplicate: 'add'` all three. */
export interface SentenceChecked {
  /** Id under which the text was added. */
  id?: number;
  /** Id of the live match that shares most sentences, ties to the lowest id. */
  duplicateOf?: number;
  /** Sentences in common with it, as in {@link SentenceMatch}. */
  shared?: number;
}

/** Outcomes of a batch, in columns; rows become objects when they are read. */
export class SentencesChecked implements Iterable<SentenceChecked> {
  /** Id under which each text was added; NaN where it was not. */
  readonly ids: Float64Array;
  /** Id of each text's best match; NaN where there was none. */
  readonly duplicateOf: Float64Array;
  /** Sentences in common with the match; 0 where there was none. */
  readonly shared: Uint8Array;

  /** @internal */
  constructor({ ids, duplicateOf, shared }: NativeSentenceChecked) {
    this.ids = ids;
    this.duplicateOf = duplicateOf;
    this.shared = shared;
  }

  /** Number of texts. */
  get length(): number {
    return this.ids.length;
  }

  /** Outcome of text `row`; `undefined` where there is no such row. */
  get(row: number): SentenceChecked | undefined {
    const [id, duplicateOf, shared] = [this.ids[row], this.duplicateOf[row], this.shared[row]];
    if (id === undefined || duplicateOf === undefined || shared === undefined) return undefined;
    if (Number.isNaN(duplicateOf)) return { id };
    return Number.isNaN(id) ? { duplicateOf, shared } : { id, duplicateOf, shared };
  }

  *[Symbol.iterator](): IterableIterator<SentenceChecked> {
    for (let row = 0; row < this.length; row++) yield this.get(row) ?? {};
  }
}
