import type { NativeClusters } from './native';
import { Rows } from './rows';

/** Documents linked by chains of near pairs. */
export interface Cluster {
  /** The lowest id. */
  representative: number;
  /** All ids, ascending, two or more; the representative is the first. */
  members: number[];
}

/** Clusters by representative, in columns; rows become objects when they are read. */
export class Clusters extends Rows<Cluster> {
  /** Members of cluster i are at `offsets[i]` to `offsets[i + 1] - 1` of `ids`. */
  readonly offsets: Uint32Array;
  /** Ids, ascending within a cluster. */
  readonly ids: Float64Array;
  /** Ids of documents of which a limit left candidates out, ascending: what they resemble may be in other clusters, or in none. */
  readonly truncated: Float64Array;

  private constructor({ offsets, ids, truncated }: NativeClusters) {
    super();
    this.offsets = offsets;
    this.ids = ids;
    this.truncated = truncated;
  }

  /** @internal */
  static of(columns: NativeClusters): Clusters {
    return new Clusters(columns);
  }

  /** Number of clusters. */
  get length(): number {
    return this.offsets.length - 1;
  }

  /** Cluster `row`; `undefined` where there is no such row. */
  get(row: number): Cluster | undefined {
    const [from, to] = [this.offsets[row], this.offsets[row + 1]];
    if (from === undefined || to === undefined) return undefined;
    return {
      representative: this.ids[from] ?? Number.NaN,
      members: [...this.ids.subarray(from, to)],
    };
  }
}
