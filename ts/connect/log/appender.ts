/** What a service gives to the log, and waits for until it has come back. */
import { randomUUID } from 'node:crypto';
import { SimHashError } from '../../errors';
import type { OrderedLog } from '../log';
import { type Deed, type Entry, START } from './entry';
import type { Service } from './options';
import { answered, late, lost, reasonOf, within } from './reach';
import type { State } from './state';

interface One {
  readonly done: (outcomes: readonly unknown[]) => void;
  readonly failed: (error: unknown) => void;
}

export class Appender {
  readonly #log: OrderedLog;
  readonly #service: Service;
  readonly #state: State;
  readonly #signal: AbortSignal;
  readonly #noted: (error: Error | undefined) => void;
  /** Entries that have not come back, by their ids. */
  readonly #awaited = new Map<string, One>();

  /** `noted` is told that the log has taken an entry, or why it has not; nothing is waited for beyond `signal`. */
  constructor(
    log: OrderedLog,
    service: Service,
    state: State,
    signal: AbortSignal,
    noted: (error: Error | undefined) => void,
  ) {
    this.#log = log;
    this.#service = service;
    this.#state = state;
    this.#signal = signal;
    this.#noted = noted;
  }

  /** Appends an entry, and waits until it has been applied here. */
  async append(deed: Deed): Promise<readonly unknown[]> {
    const id = randomUUID();
    const outcomes = new Promise<readonly unknown[]>((done, failed) => {
      this.#awaited.set(id, { done, failed });
    });
    // Answered when the log has it as safely as was asked for, and it was applied.
    const both = Promise.all([outcomes, this.put(deed, id)]);
    try {
      const { timeout: milliseconds } = this.#service;
      return (await within(both, { milliseconds, late }))[0];
    } finally {
      this.#awaited.delete(id);
    }
  }

  /** Gives an entry to the log, and says whether it took it. */
  async put(deed: Deed, id: string = randomUUID()): Promise<void> {
    const { position, hash } = this.#state.chain.head;
    const [log, { recipe }] = [this.#state.identity as string, this.#service];
    const entry: Entry = { v: 1, log, recipe, id, after: { position, hash }, ...deed };
    const append = async () => {
      await this.#log.append(JSON.stringify(entry));
      // Also where the log says so too late for who has asked.
      this.#noted(undefined);
    };
    try {
      await answered(append(), this.#service.timeout, this.#signal);
    } catch (cause) {
      const what = 'the log has not taken an entry, or has and could not say so';
      const message = `${what} (${reasonOf(cause)}); ask again with the same key`;
      const error = new SimHashError('ERR_SIMHASH_LOG_LOST', message, { cause });
      // Where it is closed nobody need know.
      if (!this.#signal.aborted) this.#noted(error);
      throw error;
    }
  }

  /** Begins a log. Of several services that do so at once the first counts. */
  async begin(): Promise<void> {
    const own = { v: 1, log: randomUUID(), recipe: this.#service.recipe, id: randomUUID() };
    const entry = JSON.stringify({ ...own, after: START, begin: true });
    await this.#asked(this.#log.append(entry));
  }

  /** Lets go of the entries before a position. */
  async trim(before: number): Promise<void> {
    await this.#asked(this.#log.trim(before));
  }

  /** Tells what became of an entry; whether anybody waited for it. */
  told(id: string, outcomes: readonly unknown[] | Error): boolean {
    const one = this.#awaited.get(id);
    if (outcomes instanceof Error) one?.failed(outcomes);
    else one?.done(outcomes);
    return one !== undefined;
  }

  /** Fails all that is waited for. */
  giveUp(error: unknown): void {
    for (const { failed } of this.#awaited.values()) failed(error);
    this.#awaited.clear();
  }

  /** @throws SimHashError `ERR_SIMHASH_LOG_LOST` where the log fails, or does not answer for as long as a check may take */
  async #asked(work: Promise<void>): Promise<void> {
    try {
      await answered(work, this.#service.timeout, this.#signal);
    } catch (cause) {
      throw lost('the log', cause);
    }
  }
}
