/** All pairs of near documents, in batches of columns, and how documents are linked. */
import { abortable } from './abort';
import type { JobOptions } from './fingerprinter';
import { SEARCH_JOB, type SearchOptions } from './index-calls';
import { type How, Matched } from './matches';
import type { IndexMethod } from './method';
import type { NativePairBatch, NativePairs } from './native';
import * as check from './options';

/** How to compare all documents with each other: as a search of each of them. */
export type JoinOptions<M extends IndexMethod = IndexMethod> = Omit<SearchOptions<M>, 'limit'> &
  JobOptions;

/** How to compare all documents in batches. */
export type PairsOptions<M extends IndexMethod = IndexMethod> = JoinOptions<M> & {
  /** Pairs per batch, 1 to 2^24; the last batch may have fewer. Default 65,536, about 1.6 MB. */
  batch?: number | undefined;
};

/** How to link all documents. */
export type ClustersOptions<M extends IndexMethod = IndexMethod> = JoinOptions<M> & {
  /** Told the share that is done, 0 to 1, at most once per hundredth; what it throws ends the work and is the rejection. */
  onProgress?: ((done: number) => void) | undefined;
};

const { limit: _, ...JOIN }: check.Checks<SearchOptions<'simhash'> & JobOptions> = SEARCH_JOB;
export const PAIRS: check.Checks<PairsOptions<'simhash'>> = {
  ...JOIN,
  batch: check.integer(1, 2 ** 24),
};
export const CLUSTERS: check.Checks<ClustersOptions<'simhash'>> = {
  ...JOIN,
  onProgress: check.callback,
};

/** Two live documents that match. */
export type Pair<M extends IndexMethod = IndexMethod> = {
  /** The lower id. */
  a: number;
  /** The higher id. */
  b: number;
  /** A limit left candidates of `b` out: it may have further pairs. Absent otherwise. */
  truncated?: true;
} & How<M>;

/** Some pairs, in columns; rows become objects when they are read. */
export class PairBatch<M extends IndexMethod = IndexMethod> extends Matched<M, Pair<M>> {
  /** The lower id of each pair. */
  readonly a: Float64Array;
  /** The higher id of each pair. */
  readonly b: Float64Array;
  /** Share of the work that was done when the batch was ready, 0 to 1. */
  readonly progress: number;

  private constructor(method: M, batch: NativePairBatch) {
    super(method, batch);
    this.a = batch.a;
    this.b = batch.b;
    this.progress = batch.progress;
  }

  /** @internal */
  static of<M extends IndexMethod>(method: M, columns: NativePairBatch): PairBatch<M> {
    return new PairBatch(method, columns);
  }

  /** Number of pairs. */
  get length(): number {
    return this.a.length;
  }

  /** Pair `row`; `undefined` where there is no such row. */
  get(row: number): Pair<M> | undefined {
    const [a, b] = [this.a[row], this.b[row]];
    if (a === undefined || b === undefined) return undefined;
    const pair = this.how({ a, b }, row);
    return this.isTruncated(row) ? { ...pair, truncated: true } : pair;
  }
}

/** Batches of a join as they are asked for; nothing is computed ahead, and an iteration that is left computes no more. */
export async function* batches<M extends IndexMethod>(
  method: M,
  pairs: NativePairs,
  rows: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<PairBatch<M>, void, undefined> {
  for (;;) {
    const batch = await abortable(signal, (cancel) => pairs.next(rows, cancel));
    if (batch === null) return;
    yield PairBatch.of(method, batch);
  }
}
