/**
 * The native part of an index, and who still needs it after `close()`.
 *
 * Memory and files have to go when an index is closed, not when the engine finds the time; but a batch that was called
 * before is still being copied, a slice per turn of the event loop, when `close()` comes in between. So every batch holds a
 * lease from the moment of its call: closing refuses later calls at once, and the native part is closed when the last lease
 * has ended.
 */
import { abortable } from './abort';
import { SimHashError } from './errors';
import type { Cancel } from './native';
import { type Batch, type Elements, type Part, whole } from './staging';

/** A native object until it is closed, and for as long after as a lease of it lasts. */
export class Handle<N extends { close(): void }> {
  readonly #native: N;
  readonly #what: string;
  #leases = 0;
  #last: ((native: N) => Promise<void>) | undefined;
  #closed = false;
  #done = () => {};
  /** Settles when the native object has been closed. */
  readonly ended = new Promise<void>((done) => {
    this.#done = done;
  });

  /** `what` is the name of the class, for messages. */
  constructor(native: N, what: string) {
    this.#native = native;
    this.#what = what;
  }

  /** @throws SimHashError `ERR_SIMHASH_CLOSED`. */
  get native(): N {
    if (!this.#closed) return this.#native;
    throw new SimHashError('ERR_SIMHASH_CLOSED', `this ${this.#what} is closed; make a new one`);
  }

  /** Whether it was closed: later calls are refused. */
  get isClosed(): boolean {
    return this.#closed;
  }

  /** Runs `work` with the native object, which stays open until the promise of it has settled. */
  async lease<T>(work: (native: N) => Promise<T>): Promise<T> {
    const native = this.native;
    // Before `work`, which may read what the caller's code makes up as it goes, and that code may close.
    this.#leases += 1;
    try {
      return await work(native);
    } finally {
      this.#leases -= 1;
      this.#end();
    }
  }

  /** A lease for a batch, which `start` gets as it is or gathered from slices; ends with the signal. */
  batch<T>(
    array: Batch,
    elements: Elements,
    signal: AbortSignal | undefined,
    start: (native: N, batch: unknown, cancel: Cancel) => Promise<T>,
    part?: Part,
  ): Promise<T> {
    return abortable(signal, (cancel) =>
      this.lease((native) =>
        whole(array, elements, signal, (batch) => start(native, batch, cancel), part),
      ),
    );
  }

  /** Refuses calls from now on; `last` gets the native object when those before have ended. Closing twice is fine. */
  close(last?: (native: N) => Promise<void>): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#last = last;
    this.#end();
  }

  #end(): void {
    if (!this.#closed || this.#leases > 0) return;
    const free = () => {
      this.#native.close();
      this.#done();
    };
    if (this.#last === undefined) free();
    else this.#last(this.#native).then(free, free);
  }
}
