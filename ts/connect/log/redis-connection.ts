/** A connection to Redis that is given up where the server does not answer on it, and made anew: of one that has gone without a word nothing else tells. */
import type { createClient } from 'redis';

export type Client = ReturnType<typeof createClient>;

/** Milliseconds that the server may be silent while it owes an answer. */
export const ANSWER = 4000;

/** The most that a timer takes. */
const MOST = 2 ** 31 - 1;

export class Connection {
  readonly #made: () => Client;
  readonly #patience: number;
  #client: Client;
  #isClosed = false;
  /** When the last answer came: commands on one connection are answered one after the other, so each waits for those before it. */
  #answered = Number.NEGATIVE_INFINITY;
  /** Told how the first attempt to connect ends. */
  #begun: () => void = () => {};
  #failed: (error: unknown) => void = () => {};
  /** Settles when it is connected for the first time, or when the client makes no further attempt. */
  readonly begun: Promise<void>;

  /** `made` makes a client that was not connected yet; `patience`: milliseconds in which the server answers one command, {@link ANSWER} or more. */
  constructor(made: () => Client, patience = ANSWER) {
    this.#made = made;
    this.#patience = patience;
    this.begun = new Promise<void>((done, failed) => {
      [this.#begun, this.#failed] = [done, failed];
    });
    this.begun.catch(() => {});
    this.#client = this.#connecting();
  }

  /**
   * Asks the server. `wait`: milliseconds that it was told to wait.
   *
   * @throws Error where there is no connection, or no answer within some milliseconds of this question and of the last answer: what was sent may have been
   *   done
   */
  ask<T>(work: (client: Client) => Promise<T>, wait = 0): Promise<T> {
    // One whose own strategy has ended it makes no further attempt.
    if (!this.#client.isOpen) this.#renew(this.#client);
    const client = this.#client;
    const [asked, most] = [performance.now(), this.#patience + wait];
    return new Promise<T>((done, failed) => {
      let timer: NodeJS.Timeout;
      const look = () => {
        const left = Math.max(asked, this.#answered) + most - performance.now();
        if (left > 0) {
          timer = setTimeout(look, Math.min(left, MOST));
          return;
        }
        this.#renew(client);
        failed(new Error(`the server has not answered within ${most} ms`));
      };
      look();
      const answered = (answer: T) => {
        this.#answered = performance.now();
        done(answer);
      };
      work(client)
        .finally(() => clearTimeout(timer))
        .then(answered, failed);
    });
  }

  /**
   * @throws Error where there is no connection. One is being made then: of two that were lost together, one may be there again seconds before the
   *   other
   */
  mustBeReady(): void {
    if (!this.#client.isOpen) this.#renew(this.#client);
    if (!this.#client.isReady) throw new Error('The client is offline');
  }

  close(): void {
    this.#isClosed = true;
    ended(this.#client);
  }

  /** What is under way on the old one fails. */
  #renew(client: Client): void {
    if (this.#isClosed || client !== this.#client) return;
    ended(client);
    this.#client = this.#connecting();
  }

  #connecting(): Client {
    const client = this.#made();
    // Each call says what failed; without a listener the process would end.
    client.on('error', () => {});
    // Who takes the connection need not answer what is said first on it.
    let silence: NodeJS.Timeout | undefined;
    client.on('connect', () => {
      silence = setTimeout(() => this.#renew(client), ANSWER);
    });
    for (const event of ['ready', 'error', 'end']) client.on(event, () => clearTimeout(silence));
    // A client that is destroyed while it connects may never settle.
    client.connect().then(
      () => this.#begun(),
      (error) => client === this.#client && this.#failed(error),
    );
    return client;
  }
}

/** Lets go of a client. Version 5 throws where it is closed already. */
function ended(client: Client): void {
  try {
    client.destroy();
  } catch {
    // It is what was asked for.
  }
}
