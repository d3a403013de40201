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

  private constructor({ offsets, ids }: NativeClusters) {
    super();
    this.offsets = offsets;
    this.ids = ids;
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

  *[Symbol.iterator](): IterableIterator<Cluster> {
    for (let row = 0; row < this.length; row++) {
      const cluster = this.get(row);
      if (cluster !== undefined) yield cluster;
    }
  }
}
