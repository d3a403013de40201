/** Documents as they come, taken without waiting for the next one longer than one turn of the event loop. */
import type { Docs } from './documents';

/** Wakes the loop: the source has answered, a batch is decided, the signal fired, or the event loop went round once. */
export class Bell {
  #wake: (() => void) | undefined;
  #rung = false;
  /** Nothing came during one turn of the event loop. */
  idle = false;

  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }

  /** Until the bell rings; with `turn`, at most until the event loop has gone round. */
  async wait(turn: boolean): Promise<void> {
    this.idle = false;
    if (!this.#rung) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        if (turn) {
          setImmediate(() => {
            this.idle = !this.#rung;
            resolve();
          });
        }
      });
    }
    this.#wake = undefined;
    this.#rung = false;
  }
}

/** Documents as they come, one question to the iterator at a time. */
export class Source<D> {
  readonly #iterator: Docs<D>;
  /** Gives the iterator's answer, or throws what it threw. */
  #answer: (() => IteratorResult<D, undefined>) | undefined;
  #asked = false;
  done = false;

  constructor(iterator: Docs<D>) {
    this.#iterator = iterator;
  }

  /** Moves the next document to `batch`; false where there is none now, and then the bell rings when there is. */
  take(batch: D[], bell: Bell): boolean {
    if (this.done) return false;
    if (!this.#asked) this.#ask(bell);
    const answer = this.#answer;
    if (answer === undefined) return false;
    this.#answer = undefined;
    this.#asked = false;
    const next = answer();
    if (next.done) this.done = true;
    else batch.push(next.value);
    return true;
  }

  #ask(bell: Bell): void {
    this.#asked = true;
    const next = this.#next();
    if (!(next instanceof Promise)) {
      this.#answer = () => next;
      return;
    }
    const settle = (answer: () => IteratorResult<D, undefined>) => {
      this.#answer = answer;
      bell.ring();
    };
    next.then(
      (result) => settle(() => result),
      (error) =>
        settle(() => {
          this.done = true;
          throw error;
        }),
    );
  }

  #next(): ReturnType<Docs<D>['next']> {
    try {
      return this.#iterator.next();
    } catch (error) {
      this.done = true;
      throw error;
    }
  }

  /** Lets the iterator clean up; one that is silent is told, and not waited for. After a failure what it says does not count. */
  async close(failed: boolean): Promise<void> {
    if (this.done) return;
    this.done = true;
    const silent = this.#asked && this.#answer === undefined;
    const closed = this.#iterator.return();
    if (silent || failed) closed.catch(() => {});
    if (!silent) await closed.catch((error) => failed || Promise.reject(error));
  }
}
