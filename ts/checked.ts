import type { NativeChecked } from './native';

/**
 * The outcome of one check-and-add: `id`, or `duplicateOf` and `distance`, or with `onDuplicate: 'add'` all three; with
 * `verify` also `similarity`.
 */
export interface Checked {
  /** Id under which the item was added. */
  id?: number;
  /**
   * Id of the nearest live match, ties to the lowest id; with `verify`, of the nearest that is similar enough, and among
   * texts too short for a fingerprint of the most similar.
   */
  duplicateOf?: number;
  /** Bits in which the two differ; 0 between texts too short for a fingerprint. */
  distance?: number;
  /** Similarity of the two texts by the measure of `verify`; absent where they were not compared. */
  similarity?: number;
}

/** Outcomes of a batch, in columns; rows become objects when they are read. */
export class CheckedItems implements Iterable<Checked> {
  /** Id under which each item was added; NaN where it was not. */
  readonly ids: Float64Array;
  /** Id of each item's nearest match, ties to the lowest id; NaN where there was none. */
  readonly duplicateOf: Float64Array;
  /** Distance to the match; 0 where there was none. */
  readonly distances: Uint8Array;
  /** Similarity to the match; NaN where texts were not compared. */
  readonly similarities: Float64Array;

  /** @internal */
  constructor({ ids, duplicateOf, distances, similarities }: NativeChecked) {
    this.ids = ids;
    this.duplicateOf = duplicateOf;
    this.distances = distances;
    this.similarities = similarities;
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
    const similarity = this.similarities[row] ?? Number.NaN;
    return {
      ...(Number.isNaN(id) ? {} : { id }),
      duplicateOf,
      distance,
      ...(Number.isNaN(similarity) ? {} : { similarity }),
    };
  }

  *[Symbol.iterator](): IterableIterator<Checked> {
    for (let row = 0; row < this.length; row++) yield this.get(row) ?? {};
  }
}
