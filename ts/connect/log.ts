/**
 * One window for several services, over an ordered log: Redis Streams, NATS JetStream, or whatever has three functions. The package depends
 * on no driver: who uses `redisLog` installs `redis`, who uses `natsLog` installs `@nats-io/jetstream` and `@nats-io/transport-node`. See
 * docs/shared-window.md.
 */
import type {
  Checked,
  DirectoryOptions,
  Found,
  IndexMethod,
  IndexOptions,
  JobOptions,
  Match,
  Matches,
  SearchOptions,
  Stats,
} from '../index';
import { connected as natsConnected } from './log/nats';
import { connected as redisConnected } from './log/redis';
import { Shared } from './log/shared';
import { folderStore } from './log/snapshots';

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
 * A log that gives every reader the same entries in the same order. Redis Streams (`redisLog`) and NATS JetStream (`natsLog`) are there; one
 * of Kafka needs a topic of one partition.
 */
export interface OrderedLog {
  /** Appends an entry. It resolves when the entry is as safe as was asked for; where it rejects, the entry may be there all the same. */
  append(entry: string): Promise<void>;
  /**
   * Entries from position `from` on, that one included where it is still there; from the first where `from` is 0. Where there is nothing
   * behind `from` it waits, and answers with what it has then. An entry may come twice, but none is left out silently: positions say so, and
   * what `last` names is there for the next read.
   */
  read(from: number, options: ReadOptions): Promise<LogPart>;
  /** Lets go of the entries before position `before`. */
  trim(before: number): Promise<void>;
  /** Lets go of the connection. */
  close?(): Promise<void>;
}

/** What is known of a snapshot. */
export interface SnapshotAbout {
  /** Position of the last entry that is in it. */
  readonly position: number;
  /** Hash of that entry, and of the one before: they stand for the history of the log. */
  readonly hash: string;
  readonly previous: string;
  /** Names it, in the order of positions. */
  readonly name: string;
  /** Identity of the log. */
  readonly log: string;
  readonly recipe: string;
}

/** A place for snapshots, for example of an object store. */
export interface SnapshotStore {
  /** All that are whole, in any order. */
  list(): Promise<readonly SnapshotAbout[]>;
  /**
   * Keeps the files of a folder under the name of the snapshot, and resolves when a loss of power does not take them away any more: the log is
   * trimmed then. One that has the name already stays as it is. `owner` names the service that publishes, and is the same after a restart.
   */
  publish(about: SnapshotAbout, folder: string, owner?: string): Promise<void>;
  /** Writes the files of a snapshot into a folder, which is not there yet. */
  fetch(name: string, folder: string): Promise<void>;
  /** Removes a snapshot; nothing where there is none. */
  remove(name: string): Promise<void>;
  /** Removes what a service has left that ended while it published; called when that service starts. */
  tidy?(owner: string): Promise<void>;
}

/** What a shared index is doing. */
export type SharedState = 'catching-up' | 'ready' | 'lost' | 'full' | 'broken' | 'closed';

/** What is the service's own, and need not be as that of the others. */
export interface ServiceOptions extends Pick<DirectoryOptions, 'durability' | 'flushInterval'> {
  /** Milliseconds after which a check, or a call of `checkMany`, that has not come back through the log is given up, from when it was asked, from 1. Default 10,000. */
  timeout?: number | undefined;
  /** Documents that may wait for the log, from 1. Default 10,000; beyond them checks fail with `ERR_SIMHASH_BUSY`. */
  maxWaiting?: number | undefined;
  /** Bytes of the largest entry, from 1,024: what the server of the log takes. Default 768 KiB. */
  maxEntry?: number | undefined;
  /** Entries that a service may be behind and still be ready. Default 1,000. */
  maxBehind?: number | undefined;
  /** Where snapshots are: a folder that all services reach, or a store of one's own. Default none. */
  snapshots?: string | SnapshotStore | undefined;
  /** Snapshots that stay, the newest, from 1. Default 2. */
  keepSnapshots?: number | undefined;
  /** Threads of the index. Default one per core. */
  threads?: number | undefined;
  /** Stands for what else decides, for example the version of a dictionary of one's own. Default nothing. */
  recipe?: string | undefined;
  /** Told when the state changes, and why. */
  onState?: ((state: SharedState, error: Error | undefined) => void) | undefined;
}

/** How a shared index is opened: options of an index, the same in all services, and those of the service. */
export type SharedOptions<M extends IndexMethod = IndexMethod> = IndexOptions<M> & ServiceOptions;

/** How a stream is written. */
export interface RedisLogOptions {
  /** Key of the stream. Default `'simhash'`. */
  stream?: string | undefined;
  /** Replicas that must have an entry before it counts (`WAIT`). Default 0. */
  replicas?: number | undefined;
  /** Milliseconds to wait for them, from 1. Default 1,000. */
  replicaTimeout?: number | undefined;
  /** Further options of the client, for example `password` or `socket`. */
  client?: object | undefined;
  /** Ends the attempt to connect: the promise rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
}

/** How a stream of JetStream is made, and what one that is there must be. */
export interface NatsLogOptions {
  /** Name of the stream, and its only subject: letters of ASCII, digits, `-` and `_`. Default `'simhash'`. */
  stream?: string | undefined;
  /** Where the server keeps the entries; a stream in memory is refused where `'file'` is asked for. Default `'file'`. */
  storage?: 'file' | 'memory' | undefined;
  /** Servers that keep the entries, from 1 to 5: an entry counts when most of them have it. A stream of fewer is refused. Default 1. */
  replicas?: number | undefined;
  /** Further options of the client, for example `tls`, or `authenticator`; with `reconnect: false` one attempt to connect is made, not one after the other. */
  client?: object | undefined;
  /** Ends the attempt to connect: the promise rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
}

/** An index that several services share through an ordered log. */
export class SharedIndex<M extends IndexMethod = 'minhash'> {
  readonly #shared: Shared<M>;

  private constructor(shared: Shared<M>) {
    this.#shared = shared;
  }

  /**
   * Opens the folder of this service, or makes it, and begins to apply the log. `state` says when it has caught up, and so does the promise of
   * {@link ready}; what is asked before is answered when its entry has come back.
   *
   * @throws SimHashError `ERR_SIMHASH_LOG_RECIPE`: the folder was filled by another recipe; what `Index.open` throws.
   */
  static async open<M extends IndexMethod = 'minhash'>(
    folder: string,
    log: OrderedLog,
    options?: SharedOptions<M>,
  ): Promise<SharedIndex<M>> {
    return new SharedIndex(await Shared.open<M>(folder, log, options));
  }

  /** What it is doing; `error` says why it is `'lost'`, `'full'` or `'broken'`. */
  get state(): SharedState {
    return this.#shared.state;
  }

  /** Why checks are not answered now. */
  get error(): Error | undefined {
    return this.#shared.error;
  }

  /** Position of the last entry that was applied. */
  get position(): number {
    return this.#shared.position;
  }

  /** Entries of the log that were not applied, as far as is known. */
  get behind(): number {
    return this.#shared.behind;
  }

  /** Documents that wait for the log. */
  get waiting(): number {
    return this.#shared.waiting;
  }

  /** Settles when it is ready; rejects where it never will be. */
  ready(): Promise<void> {
    return this.#shared.ready();
  }

  /**
   * Checks a text and adds it where no service has one that matches. A key that was checked before, by whichever service, has its first answer
   * again, with `repeated: true`: who does not know what became of a check asks again with the same key.
   *
   * @throws SimHashError `ERR_SIMHASH_LOG_TIMEOUT`, `ERR_SIMHASH_LOG_LOST`: the outcome is unknown; `ERR_SIMHASH_BUSY`: too many wait, nothing was
   * done; `ERR_SIMHASH_LOG_…`: the log is not what it was. RangeError: the text is longer than an entry may be.
   */
  check(text: string, options?: { readonly key?: string | undefined }): Promise<Checked<M>> {
    return this.#shared.check(text, options);
  }

  /** {@link check} for many texts, in order; other services' may come between. */
  checkMany(
    texts: readonly string[],
    options?: { readonly keys?: readonly (string | undefined)[] | undefined },
  ): Promise<Checked<M>[]> {
    return this.#shared.checkMany(texts, options);
  }

  /** Takes a document away in all services, by its id or by its key; whether it was there when the entry came. */
  delete(named: { readonly id: number } | { readonly key: string }): Promise<boolean> {
    return this.#shared.delete(named);
  }

  /** All live documents near a text, as far as this service has applied the log. */
  search(text: string, options?: SearchOptions<M>): Found<Match<M>> {
    return this.#shared.search(text, options);
  }

  /** {@link search} for many texts, off the JavaScript thread: a long text takes its time. */
  searchManyAsync(
    texts: readonly string[],
    options?: SearchOptions<M> & JobOptions,
  ): Promise<Matches<M>> {
    return this.#shared.searchManyAsync(texts, options);
  }

  /** Id of the latest live document with a key. */
  idOf(key: string): number | undefined {
    return this.#shared.idOf(key);
  }

  /** Live documents. */
  get size(): number {
    return this.#shared.size;
  }

  /** Counts and bytes of the index. */
  stats(): Stats<M> {
    return this.#shared.stats();
  }

  /**
   * Publishes the index as it is between two entries, for services that begin, lets go of the snapshots beyond `keepSnapshots`, and of the
   * entries before the oldest that stays. Several services may do so at once. The log goes on meanwhile.
   *
   * @throws TypeError where no `snapshots` were given
   */
  snapshot(): Promise<SnapshotAbout> {
    return this.#shared.snapshot();
  }

  /**
   * Takes nothing more (`ERR_SIMHASH_CLOSED`), waits for what was asked before and for a snapshot that is being published, and closes index and log. A
   * log or a store that does not answer is waited for as long as for a check.
   */
  close(): Promise<void> {
    return this.#shared.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/**
 * Connects to a server, as `redis://HOST:PORT/DATABASE`. Two connections: one waits for entries while the other appends. How safe an entry is that was
 * appended is the server's setting (`appendonly`, `appendfsync`) and that of `replicas`.
 */
export function redisLog(url: string, options?: RedisLogOptions): Promise<OrderedLog> {
  return redisConnected(url, options);
}

/**
 * Connects to NATS with JetStream (server 2.9 or later), as `nats://HOST:PORT` or `tls://HOST:PORT`, of several servers with commas between. A name and
 * a password, or a token alone, may stand before the first host. The stream is made where it is not there. How safe an entry is that was appended is
 * the setting of `storage` and `replicas`, and that of the server (`sync_interval`).
 *
 * @throws SimHashError `ERR_SIMHASH_LOG_LOST`: the server refuses, has no JetStream, or has a stream of this name that keeps less than is asked for;
 *   `ERR_SIMHASH_NOT_BUILT`: the clients are not installed.
 */
export function natsLog(url: string, options?: NatsLogOptions): Promise<OrderedLog> {
  return natsConnected(url, options);
}

/** Snapshots in a folder that all services reach, each in a folder of its own, which appears whole. */
export function folderSnapshots(folder: string): SnapshotStore {
  return folderStore(folder);
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
