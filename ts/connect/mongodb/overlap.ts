/** Batches that are at different stages at the same time. */
import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds that what was aborted has to end by itself. */
const GRACE = 15;

/** Something that failed; what comes later in time does not replace it. */
interface Failure {
  readonly error: unknown;
}

/**
 * Batches under way, `depth` at most: their work overlaps, and what follows on it comes in their order. One that fails is the last: of those
 * behind it nothing follows.
 */
export class Overlap {
  readonly #depth: number;
  readonly #working = new Set<Promise<unknown>>();
  readonly #open = new Set<Promise<void>>();
  #last: Promise<void> = Promise.resolve();
  #failure: Failure | undefined;

  constructor(depth: number) {
    this.#depth = depth;
  }

  /**
   * Begins with a batch, when fewer than `depth` are under way: `work` at once, and `then` when its work and all before it are done.
   *
   * @throws what an earlier batch has failed by.
   */
  async push<T>(work: () => Promise<T>, then: (done: T) => Promise<void>): Promise<void> {
    while (this.#failure === undefined && this.#open.size >= this.#depth) {
      await Promise.race(this.#open);
    }
    if (this.#failure !== undefined) throw this.#failure.error;
    const working = work();
    this.#working.add(working);
    const [before, done] = [this.#last, () => this.#working.delete(working)];
    working.then(done, done);
    this.#last = Promise.all([working, before]).then(([it]) => then(it));
    const settled = this.#last.then(
      () => {},
      (error) => {
        this.#failure ??= { error };
      },
    );
    this.#open.add(settled);
    settled.finally(() => this.#open.delete(settled));
  }

  /** Resolves when nothing is under way any more, whatever has failed. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#open, ...this.#working]);
  }

  /** Resolves when all batches are done. */
  async end(): Promise<void> {
    await this.settled();
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}

/** The values of a source, of which one is fetched while the one before is worked on. */
export async function* ahead<T>(source: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
  const values = source[Symbol.asyncIterator]();
  let next = values.next();
  try {
    for (;;) {
      const { done, value } = await next;
      if (done) return;
      next = values.next();
      // Who leaves the loop does not look at it.
      next.catch(() => {});
      yield value;
    }
  } finally {
    await next.catch(() => {});
    await values.return?.();
  }
}

/** What comes of some work; on an abort its reason, after a moment in which the work may end by itself: a server need not answer. */
export async function orAborted<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  if (signal === undefined) return work;
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    const abort = () => sleep(GRACE).then(() => reject(signal.reason));
    stop = () => signal.removeEventListener('abort', abort);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
  aborted.catch(() => {});
  try {
    return await Promise.race([work, aborted]);
  } finally {
    stop();
  }
}
