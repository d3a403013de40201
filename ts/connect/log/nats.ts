/**
 * A stream of NATS JetStream (server 2.9 or later) as an ordered log, with the clients `@nats-io/transport-node` and `@nats-io/jetstream` (3).
 *
 * Positions are the sequence numbers of the stream, which begin with 1 and have no gaps. Entries are asked for one by one at the leader of the
 * stream: a consumer would keep a place of its own in a log that may be another one by now, and a replica may be behind.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  JetStreamClient,
  JetStreamManager,
  StreamConfig,
  StreamInfo,
} from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { SimHashError } from '../../errors';
import { given } from '../../given';
import * as check from '../../options';
import type { LogEntry, LogPart, NatsLogOptions, OrderedLog, ReadOptions } from '../log';
import { decoded, redacted, unnamed } from '../url';
import { CLIENT, untrusted } from './client';
import { within } from './reach';

const CHECKS: check.Checks<NatsLogOptions> = {
  stream: (value, name) => {
    const stream = check.string(value, name);
    if (/^[\w-]{1,255}$/.test(stream)) return stream;
    throw check.wrongType(name, 'a name of letters of ASCII, digits, - and _', value);
  },
  storage: check.choice('file', 'memory'),
  replicas: check.integer(1, 5),
  ...CLIENT,
};

/** Milliseconds that the server may take to answer: less than a read may be silent. */
const ANSWER = 4000;
/** Milliseconds between two attempts to connect. */
const AGAIN = 500;
/** Milliseconds between two signs of life on a connection: of one that is gone without a word nothing else tells. */
const PING = 10_000;
/** Entries that are asked for at once, and bytes after which a part is long enough. */
const [AT_ONCE, PART] = [16, 8 << 20] as const;
/** What a retry does not cure. */
const FINAL = ['AuthorizationError', 'InvalidArgumentError', 'UserAuthenticationExpiredError'];
const isFinal = (error: Error) =>
  FINAL.includes(error.name) ||
  untrusted(error) !== undefined ||
  error.message === "server does not support 'tls'";
/** Codes of the server: there is no such stream; there is one of this name that is made in another way. */
const [NO_STREAM, OTHER_STREAM] = [10_059, 10_058] as const;

/** Codes of a cluster that has no leader yet, or does not know all of its servers yet. */
const [LEADERLESS, UNPLACED] = [[10_004, 10_008, 10_009], 10_005] as const;
/** Milliseconds for servers of a cluster to find each other: then those that a stream asks for are not there. */
const FOUND = 10_000;

/** How a stream is to keep what it has taken. */
interface Kept {
  readonly stream: string;
  readonly storage: 'file' | 'memory';
  readonly replicas: number;
}

/** The clients. @throws SimHashError ERR_SIMHASH_NOT_BUILT where they are not installed. */
async function drivers() {
  try {
    const [transport, jetstream] = await Promise.all([
      import('@nats-io/transport-node'),
      import('@nats-io/jetstream'),
    ]);
    return { ...transport, ...jetstream };
  } catch (cause) {
    const how = 'npm install @nats-io/jetstream @nats-io/transport-node';
    const message = `the clients for NATS are not installed: ${how}`;
    throw new SimHashError('ERR_SIMHASH_NOT_BUILT', message, { cause });
  }
}

/** Servers, and who asks: a name and a password, or a token that stands alone. */
export function partsOf(url: string): {
  readonly servers: string[];
  readonly user?: string;
  readonly pass?: string;
  readonly token?: string;
  readonly isSecure: boolean;
} {
  const parts = url.split(',').map((part) => /^(nats|tls):\/\/(?:(.*)@)?([^/@]+)\/?$/.exec(part));
  const servers = parts.map((part) => part?.[3]);
  if (servers.some((server) => server === undefined)) {
    const form = 'nats://HOST:PORT or tls://HOST:PORT, of several servers with commas between';
    // As a whole: of one with commas in the password the parts are not those of servers.
    throw check.wrongType('url', form, unnamed(url));
  }
  const asking = parts.flatMap((part) => part?.[2] ?? []);
  const who = asking.find((one) => one.includes(':')) ?? asking[0];
  const [, name, pass] = /^([^:]*)(?::(.*))?$/.exec(who ?? '') ?? [];
  const named = name ? decoded(name) : undefined;
  return {
    servers: servers as string[],
    isSecure: parts.some((part) => part?.[1] === 'tls'),
    ...(pass === undefined ? given({ token: named }) : given({ user: named, pass: decoded(pass) })),
  };
}

/** See `natsLog`. */
export async function connected(url: string, options?: NatsLogOptions): Promise<OrderedLog> {
  const own = check.checked<NatsLogOptions>(options, CHECKS);
  const { stream = 'simhash', storage = 'file', replicas = 1, client = {}, signal } = own;
  const { isSecure, ...where } = partsOf(check.string(url, 'url'));
  const { connect, jetstream, jetstreamManager } = await drivers();
  const failed = (cause: unknown) => {
    const why = untrusted(cause) ?? redacted(String((cause as Error).message));
    const message = `cannot reach the log at ${url.split(',').map(unnamed).join(',')}: ${why}`;
    return new SimHashError('ERR_SIMHASH_LOG_LOST', message, { cause });
  };
  const how = {
    ...where,
    ...(isSecure ? { tls: {} } : {}),
    ...{ name: 'simhash-native', reconnectTimeWait: AGAIN, pingInterval: PING, timeout: ANSWER },
    ...client,
    // It goes on trying, and what it publishes need not come back to it.
    ...{ maxReconnectAttempts: -1, ignoreAuthErrorAbort: true, noEcho: true, noAsyncTraces: true },
  };
  // The client has no way to end an attempt that goes on for ever: each is made alone.
  const first = { ...how, waitOnFirstConnect: false };
  const isPatient = (client as { reconnect?: boolean }).reconnect !== false;
  let connection: NatsConnection | undefined;
  while (connection === undefined) {
    signal?.throwIfAborted();
    const attempt = connect(first);
    try {
      connection = await untilAborted(attempt, signal);
    } catch (cause) {
      void attempt.then((late) => late.close()).catch(() => {});
      signal?.throwIfAborted();
      if (!isPatient || isFinal(cause as Error)) throw failed(cause);
      await sleep(AGAIN, undefined, signal && { signal }).catch(() => {});
    }
  }
  try {
    const manager = await jetstreamManager(connection, { checkAPI: false, timeout: ANSWER });
    const start = performance.now();
    for (;;) {
      try {
        await untilAborted(begun(manager, { stream, storage, replicas }), signal);
        break;
      } catch (cause) {
        signal?.throwIfAborted();
        if (!isPatient || !isLeaderless(cause, performance.now() - start)) throw cause;
        await sleep(AGAIN, undefined, signal && { signal }).catch(() => {});
      }
    }
    const publisher = jetstream(connection, { timeout: ANSWER });
    return new NatsLog(connection, publisher, manager, { stream, storage, replicas });
  } catch (cause) {
    await connection.close();
    signal?.throwIfAborted();
    throw cause instanceof SimHashError ? cause : failed(cause);
  }
}

/** Whether a cluster may answer otherwise a little later. */
function isLeaderless(error: unknown, waited: number): boolean {
  const code = codeOf(error) as number;
  if (code === UNPLACED) return waited < FOUND;
  // Where nobody leads nobody answers.
  return (
    (LEADERLESS as readonly number[]).includes(code) || (error as Error).name === 'TimeoutError'
  );
}

const untilAborted = <T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> =>
  within(work, { signal, late: () => signal?.reason });

/** Makes the stream where it is not there; the one that is there must keep entries as was asked for. */
async function begun(manager: JetStreamManager, kept: Kept): Promise<void> {
  const { stream, storage, replicas } = kept;
  let info = await infoOf(manager, stream);
  if (info === undefined) {
    // Full, it takes nothing more: what it has is not for it to let go of.
    const how = { retention: 'limits', discard: 'new' } as const;
    const config = { name: stream, subjects: [stream], storage, num_replicas: replicas, ...how };
    try {
      info = await manager.streams.add(config);
    } catch (error) {
      // Of two who make it at once the first has made it.
      if (codeOf(error) !== OTHER_STREAM) throw error;
      info = await infoOf(manager, stream);
    }
  }
  if (info !== undefined) mustKeep(info, kept);
}

/** @throws SimHashError ERR_SIMHASH_LOG_LOST where a stream is no log, or keeps less than was asked for */
function mustKeep({ config }: StreamInfo, { stream, storage, replicas }: Kept): void {
  const subjects = config.subjects ?? [];
  const isOne = subjects.length === 1 && subjects[0] === stream;
  const why = !isOne
    ? `takes the subjects ${subjects.join(', ') || 'of another stream'}, and a log takes ${stream} alone`
    : config.retention !== 'limits'
      ? `has retention ${config.retention}, and a log has limits`
      : config.no_ack
        ? 'acknowledges nothing'
        : letsGo(config) !== undefined
          ? `lets go of entries by ${letsGo(config)}, and a log keeps them until it is trimmed`
          : storage === 'file' && config.storage !== 'file'
            ? `is kept in ${config.storage}, and storage 'file' was asked for`
            : config.num_replicas < replicas
              ? `has ${config.num_replicas} replicas, and ${replicas} were asked for`
              : undefined;
  if (why === undefined) return;
  throw new SimHashError('ERR_SIMHASH_LOG_LOST', `the stream ${stream} of NATS ${why}`);
}

/** The setting by which a stream lets go of entries by itself. */
function letsGo({ max_age: age, max_msgs_per_subject: each, ...limits }: StreamConfig) {
  if (age > 0) return 'max_age';
  if (each > 0) return 'max_msgs_per_subject';
  if (limits.discard === 'new') return undefined;
  return (['max_msgs', 'max_bytes'] as const).find((name) => limits[name] > 0);
}

/** What is known of a stream; `undefined`: there is none. */
async function infoOf(manager: JetStreamManager, stream: string): Promise<StreamInfo | undefined> {
  try {
    return await manager.streams.info(stream);
  } catch (error) {
    if (codeOf(error) === NO_STREAM) return undefined;
    throw error;
  }
}

const codeOf = (error: unknown) => (error as { code?: unknown }).code;

class NatsLog implements OrderedLog {
  readonly #connection: NatsConnection;
  readonly #publisher: JetStreamClient;
  readonly #manager: JetStreamManager;
  readonly #kept: Kept;
  /** Where it is said that an entry was taken: a hint, on which nothing depends but how soon it is read. */
  readonly #news: string;
  /** What is under way, and fails where the connection ends. */
  readonly #asked = new Set<(error: Error) => void>();
  readonly #waiting = new Set<() => void>();
  /** Hints so far. */
  #hints = 0;
  #isConnected = true;

  constructor(
    connection: NatsConnection,
    publisher: JetStreamClient,
    manager: JetStreamManager,
    kept: Kept,
  ) {
    this.#connection = connection;
    this.#publisher = publisher;
    this.#manager = manager;
    this.#kept = kept;
    this.#news = `${kept.stream}.appended`;
    connection.subscribe(this.#news, { callback: () => this.#hint() });
    void this.#watch();
  }

  async append(entry: string): Promise<void> {
    const { stream } = this.#kept;
    const expect = { streamName: stream };
    // Sent once: where no answer comes it may be there all the same.
    await this.#ask(() => this.#publisher.publish(stream, entry, { expect, timeout: ANSWER }));
    this.#hint();
    if (this.#isConnected) this.#connection.publish(this.#news);
  }

  async read(from: number, { limit, wait, signal }: ReadOptions): Promise<LogPart> {
    const hints = this.#hints;
    let { first, last } = await this.#ends();
    if (last === from && wait > 0) {
      await this.#hinted(hints, wait, signal);
      ({ first, last } = await this.#ends());
    }
    return { entries: await this.#entries(Math.max(from, first, 1), from, limit, last), last };
  }

  async trim(before: number): Promise<void> {
    const { last } = await this.#ends();
    // Beyond its end a stream would go on from there.
    const seq = Math.min(before, last + 1);
    if (seq > 1) await this.#ask(() => this.#manager.streams.purge(this.#kept.stream, { seq }));
  }

  async close(): Promise<void> {
    this.#ended(new Error('the log is closed'));
    await this.#connection.close();
  }

  /** The first position that is there, and the last that was given; 0: there is no stream, or nothing was appended to it. */
  async #ends(): Promise<{ first: number; last: number }> {
    const info = await this.#ask(() => infoOf(this.#manager, this.#kept.stream));
    if (info === undefined) return { first: 1, last: 0 };
    // It may be another one by now.
    mustKeep(info, this.#kept);
    return { first: info.state.first_seq, last: info.state.last_seq };
  }

  /** The entries from a position on, as many as are asked for or as are enough. */
  async #entries(at: number, from: number, limit: number, last: number): Promise<LogEntry[]> {
    const entries: LogEntry[] = [];
    const end = Math.min(last, at + limit - 1);
    const isFurther = () => (entries.at(-1)?.position ?? 0) > from;
    let bytes = 0;
    for (let next = at; next <= end && !(bytes > PART && isFurther()); next += AT_ONCE) {
      const count = Math.min(AT_ONCE, end - next + 1);
      const part = await Promise.all(
        Array.from({ length: count }, (_, n) => this.#entry({ seq: next + n })),
      );
      for (const one of part) {
        if (one === undefined) continue;
        entries.push(one);
        bytes += one.entry.length;
      }
    }
    // Entries that were removed one by one: what follows them shows that they are missing.
    if (end < last && !isFurther()) {
      const next = await this.#entry({ seq: end + 1, next_by_subj: this.#kept.stream });
      if (next !== undefined) entries.push(next);
    }
    return entries;
  }

  async #entry(query: { seq: number; next_by_subj?: string }): Promise<LogEntry | undefined> {
    const { stream } = this.#kept;
    const message = await this.#ask(() => this.#manager.streams.getMessage(stream, query));
    if (message === null) return undefined;
    return { position: message.seq, time: message.time.getTime(), entry: message.string() };
  }

  /** Asks the server, as long as there is a connection. */
  #ask<T>(work: () => Promise<T>): Promise<T> {
    if (!this.#isConnected) return Promise.reject(new Error('there is no connection to the log'));
    return new Promise((done, failed) => {
      this.#asked.add(failed);
      work()
        .then(done, failed)
        .finally(() => this.#asked.delete(failed));
    });
  }

  /** Follows the connection: what was sent on one that has ended gets no answer. */
  async #watch(): Promise<void> {
    for await (const { type } of this.#connection.status()) {
      if (type === 'disconnect') this.#ended(new Error('the connection to the log has ended'));
      if (type === 'reconnect') this.#isConnected = true;
    }
  }

  #ended(error: Error): void {
    this.#isConnected = false;
    for (const failed of this.#asked) failed(error);
    this.#asked.clear();
    this.#hint();
  }

  /** Something was appended, or it is time to look. */
  #hint(): void {
    this.#hints += 1;
    for (const wake of this.#waiting) wake();
  }

  /** Waits until there are more hints than before, for a time. */
  #hinted(before: number, wait: number, signal: AbortSignal): Promise<void> {
    if (this.#hints !== before || signal.aborted) return Promise.resolve();
    return new Promise((done) => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        this.#waiting.delete(end);
        done();
      };
      const timer = setTimeout(end, wait);
      signal.addEventListener('abort', end, { once: true });
      this.#waiting.add(end);
    });
  }
}
