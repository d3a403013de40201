import type { Summary } from './comparison';
import { decide, left } from './decide';
import type { Decision } from './decisions';
import type { DedupOptions } from './dedup-options';
import type { Doc, Documents, TextSelector } from './documents';

/** Decisions as they are made, one after the other, and the figures behind them. */
export interface Deduplication<D = unknown>
  extends AsyncGenerator<Decision<D>, Summary, undefined> {
  /**
   * The figures, when the loop has ended; also what the generator returns. Rejects with what the loop threw, and with an
   * `AbortError` where it was left early. A rejection that nobody waits for is no unhandled one. It does not run the loop: before that has
   * ended, waiting here waits for ever.
   */
  readonly summary: Promise<Summary>;
}

/**
 * Decides documents: kept, a near-duplicate of a kept one, or rejected. The result depends on their order only. Decisions come in
 * order; the generator returns the {@link Summary}, which is also its `summary`.
 *
 * Where the first is kept of clusters around a representative, decisions come as documents do. With `cluster: 'components'` or
 * another `keep` they come when the source has ended, and every document stays in memory until then.
 *
 * At most two batches are in flight, one collected while the other is decided on the pool; texts are copied then. A source
 * that falls silent holds nothing up: what it gave is decided after one turn of the event loop. Leaving the loop cancels
 * what runs and closes the source; an abort rejects with `signal.reason`, also while the source is silent. What the source
 * throws passes through, and so does what a function among the options throws.
 */
export function dedup<D>(
  docs: Documents<D>,
  options: DedupOptions<D> & { readonly text: TextSelector<D> },
): Deduplication<D>;
export function dedup<D extends Doc>(
  docs: Documents<D>,
  options?: DedupOptions<D>,
): Deduplication<D>;
export function dedup<D>(docs: Documents<D>, options?: DedupOptions<D>): Deduplication<D> {
  return new Stream(docs, options);
}

/** The loop, and the promise of its summary. */
class Stream<D> implements Deduplication<D> {
  readonly summary: Promise<Summary>;
  readonly #decisions: AsyncGenerator<Decision<D>, Summary, undefined>;
  readonly #fail: (reason: unknown) => void;

  constructor(docs: Documents<D>, options: DedupOptions<D> | undefined) {
    let settle!: { resolve: (summary: Summary) => void; reject: (reason: unknown) => void };
    this.summary = new Promise((resolve, reject) => {
      settle = { resolve, reject };
    });
    this.summary.catch(() => {});
    this.#fail = settle.reject;
    this.#decisions = decide(docs, options, settle);
  }

  next(): Promise<IteratorResult<Decision<D>, Summary>> {
    return this.#decisions.next();
  }

  /** Ends the loop. */
  async return(
    value: Summary | PromiseLike<Summary>,
  ): Promise<IteratorResult<Decision<D>, Summary>> {
    const result = await this.#decisions.return(value);
    // After the end of the loop this changes nothing.
    this.#fail(left());
    return result;
  }

  /** Ends the loop as if it had thrown this. */
  async throw(error: unknown): Promise<IteratorResult<Decision<D>, Summary>> {
    this.#fail(error);
    return this.#decisions.throw(error);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return(undefined as never);
  }

  get [Symbol.toStringTag](): string {
    return 'AsyncGenerator';
  }
}
