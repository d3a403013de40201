import type { NativeChecked } from './native';

/** The outcome of one check-and-add: `id`, or `duplicateOf` and `distance`, or with `onDuplicate: 'add'` all three. */
export interface Checked {
  /** Id under which the item was added. */
  id?: number;
  /** Id of the nearest live match, ties to the lowest id. */
  duplicateOf?: number;
  /** Bits in which the two differ. */
  distance?: number;
}

/** Outcomes of a batch, in columns; rows become objects when they are read. */
export class CheckedItems implements Iterable<Checked> {
  /** Id under which each item was added; NaN where it was not. */
  readonly ids: Float64Array;
  /** Id of each item's nearest match, ties to the lowest id; NaN where there was none. */
  readonly duplicateOf: Float64Array;
  /** Distance to the match; 0 where there was none. */
  readonly distances: Uint8Array;

  /** @internal */
  constructor({ ids, duplicateOf, distances }: NativeChecked) {
    this.ids = ids;
    this.duplicateOf = duplicateOf;
    this.distances = distances;
  }

  /** Number of items. */
  get length(): number {
    return this.ids.length;
  }

  /** Outcome of item `row`; `undefined` where there is no such row. */
  get(row: number): Checked | undefined {
    const [id, duplicateOf, distance] = [this.ids[row], this.duplicateOf[row], this.distances[row]];
    if (id === undefined || duplicateOf === undefined || distance === undefined) return undefined;
    if (Number.isNaN(duplicateOf)) return { id };
    return Number.isNaN(id) ? { duplicateOf, distance } : { id, duplicateOf, distance };
  }

  *[Symbol.iterator](): IterableIterator<Checked> {
    for (let row = 0; row < this.length; row++) yield this.get(row) ?? {};
  }
}
