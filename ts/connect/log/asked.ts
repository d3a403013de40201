/** What a service was asked and has not answered: so much at most, for so long at most, and waited for at the end. */
import { SimHashError } from '../../errors';
import { late, within } from './reach';

/** Characters of documents that are being made ready for the log, the most. */
const MOST = 64 << 20;

export class Asked {
  readonly #timeout: number;
  readonly #all = new Set<Promise<unknown>>();
  /** Of documents that are being made ready: how many, and their characters. */
  #items = 0;
  #units = 0;

  /** `timeout`: milliseconds until a question is given up. */
  constructor(timeout: number) {
    this.#timeout = timeout;
  }

  /** Who asks waits no longer than `timeout`. Of what has not had its turn when nobody waits any more, or when a part has failed, nothing is appended. */
  inTime<T>(work: (over: () => Error | undefined) => Promise<T>): Promise<T> {
    let error: Error | undefined;
    const asked = work(() => error);
    asked.catch((failed: Error) => {
      error ??= failed;
    });
    const giveUp = () => {
      error = late();
      return error;
    };
    const answer = within(asked, { milliseconds: this.#timeout, late: giveUp });
    this.#all.add(answer);
    const over = () => this.#all.delete(answer);
    answer.then(over, over);
    return answer;
  }

  /**
   * Counts texts as long as work on them is under way: they are in memory, and wait as those do that the log is given.
   *
   * @throws SimHashError ERR_SIMHASH_BUSY where there is no room for them: `room` is for all that are counted here
   */
  async whileHeld<T>(texts: readonly string[], room: number, work: () => Promise<T>): Promise<T> {
    const units = texts.reduce((sum, { length }) => sum + length, 0);
    const left = room - this.#items;
    if (texts.length > left || (this.#items > 0 && this.#units + units > MOST)) {
      const why = `of ${texts.length} documents ${Math.max(0, left)} may wait; ask again a little later`;
      throw new SimHashError('ERR_SIMHASH_BUSY', why);
    }
    this.#items += texts.length;
    this.#units += units;
    try {
      return await work();
    } finally {
      this.#items -= texts.length;
      this.#units -= units;
    }
  }

  /** Settles when all that was asked by now is answered, or given up. */
  async answered(): Promise<void> {
    await Promise.allSettled(this.#all);
  }
}
