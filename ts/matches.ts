import { bit } from './bitmap';
import { type Found, found } from './found';
import type { NativeMatches } from './native';

/** A live document within the distance asked for. */
export interface Match {
  /** Its id. */
  id: number;
  /** Bits that differ, 0 to 16. */
  distance: number;
  /** Its key, in an index with `keys`; absent where it came without one. */
  key?: string;
}

/** Answers to a batch of searches, in columns; rows become objects when they are read. */
export class Matches implements Iterable<Found<Match>> {
  /** Matches of row i are at `offsets[i]` to `offsets[i + 1] - 1` of the other columns. */
  readonly offsets: Uint32Array;
  /** Ids, by distance, then id, within a row. */
  readonly ids: Float64Array;
  /** Distances. */
  readonly distances: Uint8Array;
  /** Bit i (the lowest bit of a byte first) is 1 where a limit cut row i. */
  readonly truncated: Uint8Array;
  /** Keys of `ids`, `undefined` for documents without one; absent in an index without keys. */
  readonly keys?: readonly (string | undefined)[];

  /** @internal */
  constructor({ offsets, ids, distances, truncated, keys }: NativeMatches) {
    this.offsets = offsets;
    this.ids = ids;
    this.distances = distances;
    this.truncated = truncated;
    if (keys) this.keys = keys.map((key) => key ?? undefined);
  }

  /** Number of rows: of items searched for. */
  get length(): number {
    return this.offsets.length - 1;
  }

  /** Matches of row `row`, nearest first; none where there is no such row. */
  get(row: number): Found<Match> {
    const matches: Match[] = [];
    const end = this.offsets[row + 1] ?? 0;
    for (let at = this.offsets[row] ?? 0; at < end; at++) {
      const key = this.keys?.[at];
      matches.push({
        id: this.ids[at] ?? Number.NaN,
        distance: this.distances[at] ?? Number.NaN,
        ...(key === undefined ? {} : { key }),
      });
    }
    return found(matches, this.isTruncated(row));
  }

  /** Whether a limit left matches of row `row` out. */
  isTruncated(row: number): boolean {
    return bit(this.truncated, row);
  }

  *[Symbol.iterator](): IterableIterator<Found<Match>> {
    for (let row = 0; row < this.length; row++) yield this.get(row);
  }
}
