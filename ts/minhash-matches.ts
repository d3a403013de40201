/** Answers of an index of MinHash signatures. */
import { bit } from './bitmap';
import { type Found, found } from './found';
import type { NativeBandChecked, NativeBandMatches } from './native';

/** A live document that shares a band. */
export interface MinHashMatch {
  /** Its id. */
  id: number;
  /** How many bands are equal. */
  bands: number;
  /** Estimated Jaccard similarity; absent where the index keeps no signatures. */
  similarity?: number;
}

/** The outcome of one check-and-add: `id`, or `duplicateOf` and how it is known, or with `onDuplicate: 'add'` both. */
export interface MinHashChecked {
  /** Id under which the item was added. */
  id?: number;
  /** Id of the best live match, ties to the lowest id. */
  duplicateOf?: number;
  /** Estimated Jaccard similarity of the two; absent where the index keeps no signatures. */
  similarity?: number;
  /** How many bands are equal. */
  bands?: number;
  /** A bucket held more than the index reads (`bucketLimit`): a match may have been skipped. Absent otherwise. */
  truncated?: true;
}

/** `similarity`, where it is known. */
function known(similarity: number | undefined): { similarity?: number } {
  return similarity === undefined || Number.isNaN(similarity) ? {} : { similarity };
}

/** Answers to a batch of searches, in columns; rows become objects when they are read. */
export class MinHashMatches implements Iterable<Found<MinHashMatch>> {
  /** Matches of row i are at `offsets[i]` to `offsets[i + 1] - 1` of the other columns. */
  readonly offsets: Uint32Array;
  /** Ids, the best first within a row. */
  readonly ids: Float64Array;
  /** Estimated similarities; NaN where the index keeps no signatures. */
  readonly similarities: Float64Array;
  /** Numbers of equal bands. */
  readonly bands: Uint32Array;
  /** Bit i (the lowest bit of a byte first) is 1 where a limit cut row i. */
  readonly truncated: Uint8Array;

  /** @internal */
  constructor({ offsets, ids, similarities, bands, truncated }: NativeBandMatches) {
    this.offsets = offsets;
    this.ids = ids;
    this.similarities = similarities;
    this.bands = bands;
    this.truncated = truncated;
  }

  /** Number of rows: of items searched for. */
  get length(): number {
    return this.offsets.length - 1;
  }

  /** Matches of row `row`, the best first; none where there is no such row. */
  get(row: number): Found<MinHashMatch> {
    const matches: MinHashMatch[] = [];
    const end = this.offsets[row + 1] ?? 0;
    for (let at = this.offsets[row] ?? 0; at < end; at++) {
      const [id = Number.NaN, bands = 0] = [this.ids[at], this.bands[at]];
      matches.push({ id, bands, ...known(this.similarities[at]) });
    }
    return found(matches, this.isTruncated(row));
  }

  /** Whether matches of row `row` were left out: by the limit of the search or of a bucket. */
  isTruncated(row: number): boolean {
    return bit(this.truncated, row);
  }

  *[Symbol.iterator](): IterableIterator<Found<MinHashMatch>> {
    for (let row = 0; row < this.length; row++) yield this.get(row);
  }
}

/** Outcomes of a batch, in columns; rows become objects when they are read. */
export class MinHashCheckedItems implements Iterable<MinHashChecked> {
  /** Id under which each item was added; NaN where it was not. */
  readonly ids: Float64Array;
  /** Id of each item's best match, ties to the lowest id; NaN where there was none. */
  readonly duplicateOf: Float64Array;
  /** Estimated similarity to the match; NaN where there was none, or no signatures are kept. */
  readonly similarities: Float64Array;
  /** Number of bands equal to the match's; 0 where there was none. */
  readonly bands: Uint32Array;
  /** Bit i (the lowest bit of a byte first) is 1 where a bucket held more than the index reads. */
  readonly truncated: Uint8Array;

  /** @internal */
  constructor({ ids, duplicateOf, similarities, bands, truncated }: NativeBandChecked) {
    this.ids = ids;
    this.duplicateOf = duplicateOf;
    this.similarities = similarities;
    this.bands = bands;
    this.truncated = truncated;
  }

  /** Number of items. */
  get length(): number {
    return this.ids.length;
  }

  /** Outcome of item `row`; `undefined` where there is no such row. */
  get(row: number): MinHashChecked | undefined {
    const [id, duplicateOf, bands] = [this.ids[row], this.duplicateOf[row], this.bands[row]];
    if (id === undefined || duplicateOf === undefined || bands === undefined) return undefined;
    const added = Number.isNaN(id) ? {} : { id };
    const cut = bit(this.truncated, row) ? { truncated: true as const } : {};
    if (Number.isNaN(duplicateOf)) return { ...added, ...cut };
    return { ...added, duplicateOf, ...known(this.similarities[row]), bands, ...cut };
  }

  *[Symbol.iterator](): IterableIterator<MinHashChecked> {
    for (let row = 0; row < this.length; row++) yield this.get(row) ?? {};
  }
}
