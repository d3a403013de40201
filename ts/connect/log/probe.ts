/** Finds out when a log that took nothing takes entries again, for it may be that nobody asks a service until it is ready. */
import { rested } from './reach';

/** Milliseconds between two attempts, the least and the most. */
const [SOON, LATE] = [2000, 30_000] as const;

export class Probe {
  #now = new AbortController();

  /**
   * Makes attempts until `signal`, less and less often: `attempt` appends an entry that does nothing, where that is needed, and says whether it was.
   */
  async run(attempt: () => Promise<boolean>, signal: AbortSignal): Promise<void> {
    let pause: number = SOON;
    while (!signal.aborted) {
      await rested(pause, AbortSignal.any([signal, this.#now.signal]), false);
      if (this.#now.signal.aborted) {
        this.#now = new AbortController();
        pause = SOON;
      }
      if (signal.aborted) return;
      pause = (await attempt()) ? Math.min(LATE, pause * 2) : SOON;
    }
  }

  /** Makes an attempt at once. */
  now(): void {
    this.#now.abort();
  }
}
