/** Entries of a service that have not come back through the log. */
import { late } from './reach';

interface One {
  readonly done: (outcomes: readonly unknown[]) => void;
  readonly failed: (error: unknown) => void;
  readonly until: number;
}

export class Awaited {
  readonly #all = new Map<string, One>();
  readonly #timeout: number;
  readonly #sweep: NodeJS.Timeout;

  /** `timeout`: milliseconds after which an entry is given up. */
  constructor(timeout: number) {
    this.#timeout = timeout;
    this.#sweep = setInterval(() => this.#expire(), Math.max(10, Math.min(1000, timeout / 4)));
    this.#sweep.unref();
  }

  /** What becomes of an entry. */
  add(id: string): Promise<readonly unknown[]> {
    const outcomes = new Promise<readonly unknown[]>((done, failed) => {
      this.#all.set(id, { done, failed, until: performance.now() + this.#timeout });
    });
    // It may fail before anybody waits for it.
    outcomes.catch(() => {});
    return outcomes;
  }

  /** Nobody waits for it any more. */
  remove(id: string): void {
    this.#all.delete(id);
  }

  /** Tells what became of an entry; whether anybody waited for it. */
  told(id: string, outcomes: readonly unknown[] | Error): boolean {
    const one = this.#all.get(id);
    if (outcomes instanceof Error) one?.failed(outcomes);
    else one?.done(outcomes);
    return one !== undefined;
  }

  /** Fails all of them. */
  giveUp(error: unknown): void {
    for (const { failed } of this.#all.values()) failed(error);
    this.#all.clear();
  }

  /** No entry is given up for its time any more. */
  end(): void {
    clearInterval(this.#sweep);
  }

  /** Fails what has waited too long. */
  #expire(): void {
    const now = performance.now();
    for (const [id, { until, failed }] of this.#all) {
      // In the order of their beginnings.
      if (until > now) return;
      this.#all.delete(id);
      failed(late());
    }
  }
}
