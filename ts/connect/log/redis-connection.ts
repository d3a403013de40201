/** A connection to Redis that is given up where the server does not answer on it, and made anew: of one that has gone without a word nothing else tells. */
import type { createClient } from 'redis';
import { within } from './reach';

export type Client = ReturnType<typeof createClient>;

/** Milliseconds that the server may take to answer: less than a read may be silent. */
export const ANSWER = 4000;

export class Connection {
  readonly #made: () => Client;
  #client: Client;
  #isClosed = false;
  /** Told how the first attempt to connect ends. */
  #begun: () => void = () => {};
  #failed: (error: unknown) => void = () => {};
  /** Settles when it is connected for the first time, or when the client makes no further attempt. */
  readonly begun: Promise<void>;

  /** `made` makes a client that was not connected yet. */
  constructor(made: () => Client) {
    this.#made = made;
    this.begun = new Promise<void>((done, failed) => {
      [this.#begun, this.#failed] = [done, failed];
    });
    this.begun.catch(() => {});
    this.#client = this.#connecting();
  }

  /**
   * Asks the server.
   *
   * @throws Error where there is no connection, or no answer within some milliseconds: what was sent may have been done
   */
  ask<T>(work: (client: Client) => Promise<T>, milliseconds = ANSWER): Promise<T> {
    const client = this.#client;
    const late = () => {
      this.#renew(client);
      return new Error(`the server has not answered within ${milliseconds} ms`);
    };
    return within(work(client), { milliseconds, late });
  }

  close(): void {
    this.#isClosed = true;
    this.#client.destroy();
  }

  /** What is under way on the old one fails. */
  #renew(client: Client): void {
    if (this.#isClosed || client !== this.#client) return;
    client.destroy();
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
