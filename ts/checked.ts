import { bit } from './bitmap';
import type { NativeChecked } from './native';

/** The outcome of one check-and-add: exactly one of `id` and `duplicateOf`. */
export interface Checked {
  /** Id under which the item was added. */
  id?: number;
  /** Id of the nearest live match, ties to the lowest id; the item was not added. */
  duplicateOf?: number;
  /** Bits in which the two differ. */
  distance?: number;
}

/** Outcomes of a batch, in columns; rows become objects when they are read. */
export class CheckedItems implements Iterable<Checked> {
  /** Id of the item, or of the match where it is a duplicate. */
  readonly ids: Float64Array;
  /** Distance to the match; 0 where the item was added. */
  readonly distances: Uint8Array;
  /** Bit i (the lowest bit of a byte first) is 1 where item i is a duplicate. */
  readonly duplicate: Uint8Array;

  /** @internal */
  constructor({ ids, distances, duplicate }: NativeChecked) {
    this.ids = ids;
    this.distances = distances;
    this.duplicate = duplicate;
  }

  /** Number of items. */
  get length(): number {
    return this.ids.length;
  }

  /** Outcome of item `row`; `undefined` where there is no such row. */
  get(row: number): Checked | undefined {
    const id = this.ids[row];
    if (id === undefined) return undefined;
    if (!bit(this.duplicate, row)) return { id };
    return { duplicateOf: id, distance: this.distances[row] ?? 0 };
  }

  *[Symbol.iterator](): IterableIterator<Checked> {
    for (let row = 0; row < this.length; row++) yield this.get(row) ?? {};
  }
}
