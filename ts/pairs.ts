/** All pairs of near documents, in batches of columns. */
import { abortable } from './abort';
import type { NativePairBatch, NativePairs } from './native';
import { Rows } from './rows';

/** Two live documents near each other. */
export interface Pair {
  /** The lower id. */
  a: number;
  /** The higher id. */
  b: number;
  /** Bits that differ, 0 to 16. */
  distance: number;
}

/** Some pairs, in columns; rows become objects when they are read. */
export class PairBatch extends Rows<Pair> {
  /** The lower id of each pair. */
  readonly a: Float64Array;
  /** The higher id of each pair. */
  readonly b: Float64Array;
  /** Bits in which they differ. */
  readonly distances: Uint8Array;
  /** Share of the work that was done when the batch was ready, 0 to 1. */
  readonly progress: number;

  /** @internal */
  constructor({ a, b, distances, progress }: NativePairBatch) {
    super();
    this.a = a;
    this.b = b;
    this.distances = distances;
    this.progress = progress;
  }

  /** Number of pairs. */
  get length(): number {
    return this.distances.length;
  }

  /** Pair `row`; `undefined` where there is no such row. */
  get(row: number): Pair | undefined {
    const [a, b, distance] = [this.a[row], this.b[row], this.distances[row]];
    if (a === undefined || b === undefined || distance === undefined) return undefined;
    return { a, b, distance };
  }

  *[Symbol.iterator](): IterableIterator<Pair> {
    for (let row = 0; row < this.length; row++) {
      const pair = this.get(row);
      if (pair !== undefined) yield pair;
    }
  }
}

/** Batches of a join as they are asked for; nothing is computed ahead, and an iteration that is left computes no more. */
export async function* batches(
  pairs: NativePairs,
  rows: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<PairBatch, void, undefined> {
  for (;;) {
    const batch = await abortable(signal, (cancel) => pairs.next(rows, cancel));
    if (batch === null) return;
    yield new PairBatch(batch);
  }
}
