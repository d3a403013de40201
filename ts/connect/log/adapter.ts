/** An ordered log, as three functions; and one in memory. */

/** What is read from a log. */
export interface LogEntry {
  /** The first entry has 1, and each the next number, whatever was trimmed. */
  readonly position: number;
  /** When the log took it, by the clock of the log: milliseconds since 1970. */
  readonly time: number;
  /** What was appended. */
  readonly entry: string;
}

/** Entries that follow each other. */
export interface LogPart {
  readonly entries: readonly LogEntry[];
  /** Position of the last entry that the log has ever given; 0: none. */
  readonly last: number;
}

export interface ReadOptions {
  /** Most entries, at least 2. */
  readonly limit: number;
  /** Milliseconds to wait where there is nothing behind `from`. */
  readonly wait: number;
  readonly signal: AbortSignal;
}

/**
 * A log that gives every reader the same entries in the same order. Redis Streams and NATS JetStream are there (`redisLog`, `natsLog`); Kafka
 * needs a topic of one partition.
 */
export interface OrderedLog {
  /** Appends an entry. It resolves when the entry is as safe as was asked for; where it rejects, the entry may be there all the same. */
  append(entry: string): Promise<void>;
  /**
   * Entries from position `from` on, that one included where it is still there; from the first where `from` is 0. Where there is nothing
   * behind `from` it waits, and answers with what it has then. An entry may come twice, but none is left out silently: positions say so.
   */
  read(from: number, options: ReadOptions): Promise<LogPart>;
  /** Lets go of the entries before position `before`. */
  trim(before: number): Promise<void>;
  /** Lets go of the connection. */
  close?(): Promise<void>;
}

/** A log in the memory of this process, for tests and models. */
export class MemoryLog implements OrderedLog {
  readonly #entries: LogEntry[] = [];
  readonly #clock: () => number;
  #last = 0;
  #waiting: (() => void)[] = [];

  /** `clock` gives the times of entries; default that of the system. */
  constructor(clock: () => number = Date.now) {
    this.#clock = clock;
  }

  /** The entries that are there, which a test may change. */
  get entries(): LogEntry[] {
    return this.#entries;
  }

  async append(entry: string): Promise<void> {
    this.#last += 1;
    this.#entries.push({ position: this.#last, time: this.#clock(), entry });
    for (const wake of this.#waiting.splice(0)) wake();
  }

  async read(from: number, { limit, wait, signal }: ReadOptions): Promise<LogPart> {
    if (this.#last <= from) await this.#more(wait, signal);
    const entries = this.#entries.filter(({ position }) => position >= from).slice(0, limit);
    return { entries, last: this.#last };
  }

  async trim(before: number): Promise<void> {
    while ((this.#entries[0]?.position ?? before) < before) this.#entries.shift();
  }

  /** As if an older copy had been restored: entries behind `position` have never been. */
  rewind(position: number): void {
    while ((this.#entries.at(-1)?.position ?? 0) > position) this.#entries.pop();
    this.#last = position;
  }

  #more(wait: number, signal: AbortSignal): Promise<void> {
    return new Promise((done) => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        done();
      };
      const timer = setTimeout(end, wait);
      signal.addEventListener('abort', end, { once: true });
      this.#waiting.push(end);
    });
  }
}
