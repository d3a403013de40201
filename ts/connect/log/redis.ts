/** A stream of Redis (5 or later) or Valkey as an ordered log, with the client `redis` (5 or later). */
import type { RedisClientOptions } from 'redis';
import { SimHashError } from '../../errors';
import * as check from '../../options';
import type { LogEntry, LogPart, OrderedLog, ReadOptions, RedisLogOptions } from '../log';
import { redacted, unnamed } from '../url';
import { answersPlainly, CLIENT, untrusted } from './client';
import { within } from './reach';
import { ANSWER, type Client, Connection } from './redis-connection';

const CHECKS: check.Checks<RedisLogOptions> = {
  stream: check.string,
  replicas: check.integer(0, 1000),
  replicaTimeout: check.integer(1, 2 ** 31 - 1),
  ...CLIENT,
};

/**
 * Ids of entries are N-0, one after the other, so that a gap can be seen; a script makes them, for it runs alone. The time is that of the
 * server: clocks of services decide nothing.
 */
const APPEND = `
local last = 0
if redis.call('EXISTS', KEYS[1]) == 1 then
  local about = redis.call('XINFO', 'STREAM', KEYS[1])
  for at = 1, #about, 2 do
    if about[at] == 'last-generated-id' then last = tonumber(string.match(about[at + 1], '^%d+')) end
  end
end
local now = redis.call('TIME')
local time = string.format('%d', now[1] * 1000 + math.floor(now[2] / 1000))
return redis.call('XADD', KEYS[1], string.format('%d-0', last + 1), 't', time, 'e', ARGV[1])`;

/**
 * Bytes after which a part is long enough: at first, the least, and the most, as over NATS. A part is one answer, and has to come in time: over a slow
 * connection it becomes shorter, and longer where it comes fast.
 */
const [FIRST, LEAST, MOST] = [1 << 20, 1 << 16, 8 << 20] as const;
/** Milliseconds in which a part has come fast: one of twice the bytes will be in time. */
const FAST = ANSWER / 4;

/**
 * Entries from an id on, at most so many, until they have so many bytes. At least two are read: the first one may be known. How many are asked for at once
 * depends on their sizes so far, so that the server does not hold many more bytes for it either.
 */
const READ = `
local start, limit, most = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local entries, bytes = {}, 0
while #entries < limit and (bytes < most or #entries < 2) do
  local count = 2
  if #entries > 0 then count = math.max(1, math.min(16, math.floor((most - bytes) * #entries / (bytes + 1)))) end
  local part = redis.call('XRANGE', KEYS[1], start, '+', 'COUNT', math.min(count, limit - #entries))
  if #part == 0 then break end
  for _, one in ipairs(part) do
    entries[#entries + 1] = one
    for _, field in ipairs(one[2]) do bytes = bytes + #field end
  end
  start = string.format('%d-0', tonumber(string.match(entries[#entries][1], '^%d+')) + 1)
end
return entries`;

/** Answers of the server that a further attempt does not change. */
const FINAL = /^(WRONGPASS|NOAUTH|NOPERM|WRONGTYPE)\b|\bAUTH\b|invalid password/;

const isFinal = (error: unknown) =>
  untrusted(error) !== undefined || FINAL.test(String((error as Error | undefined)?.message));

/** Commands that wait for an answer on one connection, the most: those of entries that were given up are among them. */
const COMMANDS = 1000;

/** Milliseconds until the next attempt to connect, as the client has it where nothing else is said. */
const again = (retries: number) => Math.min(50 * 2 ** retries, 2000) + Math.random() * 200;

/** How the client goes on trying. Until it was connected once it ends where a further attempt changes nothing; later a password may be changed back. */
function socketOf({ socket = {} }: { socket?: Socket }, isBegun: () => boolean): Socket {
  const { reconnectStrategy: own = again } = socket;
  const reconnectStrategy: Strategy = (retries, cause) => {
    if (!isBegun() && isFinal(cause)) return false;
    return typeof own === 'function' ? own(retries, cause) : own;
  };
  return { ...socket, reconnectStrategy };
}
type Strategy = (retries: number, cause: Error) => false | Error | number;
type Socket = { readonly reconnectStrategy?: Strategy | false | number };

/** The client. @throws SimHashError ERR_SIMHASH_NOT_BUILT where it is not installed. */
async function driver(): Promise<typeof import('redis')> {
  try {
    return await import('redis');
  } catch (cause) {
    const message = 'the client for Redis is not installed: npm install redis';
    throw new SimHashError('ERR_SIMHASH_NOT_BUILT', message, { cause });
  }
}

/** An address of IPv6 without its brackets. */
const bare = (hostname: string) => hostname.replace(/^\[|\]$/g, '');

/** See `redisLog`. */
export async function connected(url: string, options?: RedisLogOptions): Promise<OrderedLog> {
  const own = check.checked<RedisLogOptions>(options, CHECKS);
  const { stream = 'simhash', replicas = 0, replicaTimeout = 1000, client = {}, signal } = own;
  if (!/^rediss?:/i.test(check.string(url, 'url')) || !URL.canParse(url)) {
    // The error of the client has it whole.
    throw check.wrongType('url', 'redis://HOST:PORT or rediss://HOST:PORT', unnamed(url));
  }
  const { protocol, hostname, port } = new URL(url);
  const isSecure = protocol === 'rediss:';
  const { createClient, ConnectionTimeoutError } = await driver();
  // What was sent when a connection ended is not sent again: it may have arrived.
  const fixed = { url, disableOfflineQueue: true };
  // How long a command may wait the connection knows. The client would make a signal for each, which lives for seconds: garbage that stops the
  // process for a tenth of a second.
  const commandOptions = { timeout: 0, ...(client as RedisClientOptions).commandOptions };
  const how = { commandsQueueMaxLength: COMMANDS, ...client, ...fixed, commandOptions };
  let isBegun = false;
  let withoutTls = (_: Error) => {};
  const plain = new Promise<never>((_, failed) => {
    withoutTls = failed;
  });
  const made = () => {
    const socket = socketOf(client, () => isBegun);
    const one = createClient({ ...how, socket } as RedisClientOptions) as Client;
    one.on('error', async (error) => {
      // Redis waits for the end of a line, which TLS does not send.
      if (isBegun || !isSecure || !(error instanceof ConnectionTimeoutError)) return;
      if (await answersPlainly(bare(hostname), Number(port) || 6379, 'PING\r\n')) {
        withoutTls(new Error('the server answers without TLS there: its address is redis://'));
      }
    });
    return one;
  };
  signal?.throwIfAborted();
  const both = [
    new Connection(made, ANSWER + (replicas > 0 ? replicaTimeout : 0)),
    new Connection(made),
  ] as const;
  const log = new RedisLog(both, { stream, replicas, replicaTimeout });
  try {
    const answered = Promise.all(both.map(({ begun }) => begun)).then(() => log.begin());
    await within(Promise.race([answered, plain]), { signal, late: () => signal?.reason });
    isBegun = true;
    return log;
  } catch (cause) {
    await log.close();
    signal?.throwIfAborted();
    const why = untrusted(cause) ?? redacted((cause as Error).message);
    const message = `cannot reach the log at ${unnamed(url)}: ${why}`;
    throw new SimHashError('ERR_SIMHASH_LOG_LOST', message, { cause });
  }
}

class RedisLog implements OrderedLog {
  readonly #writer: Connection;
  readonly #reader: Connection;
  readonly #how: { stream: string; replicas: number; replicaTimeout: number };
  /** Bytes of the next part. */
  #bytes: number = FIRST;

  constructor(
    [writer, reader]: readonly [Connection, Connection],
    how: { stream: string; replicas: number; replicaTimeout: number },
  ) {
    this.#writer = writer;
    this.#reader = reader;
    this.#how = how;
  }

  /** @throws Error where the server refuses for good: without a password it answers only what is asked first */
  async begin(): Promise<void> {
    try {
      await this.#reader.ask((client) => this.#last(client));
    } catch (error) {
      if (isFinal(error)) throw error;
    }
  }

  async append(entry: string): Promise<void> {
    const { stream, replicas, replicaTimeout } = this.#how;
    const add = (client: Client) => client.eval(APPEND, { keys: [stream], arguments: [entry] });
    if (replicas === 0) {
      await this.#writer.ask(add);
      return;
    }
    // On one connection, so that it waits for what was added before it.
    const wait = ['WAIT', String(replicas), String(replicaTimeout)];
    const both = (client: Client) => Promise.all([add(client), client.sendCommand(wait)]);
    const [, reached] = await this.#writer.ask(both);
    if (Number(reached) < replicas) {
      throw new Error(`${reached} of ${replicas} replicas have the entry`);
    }
  }

  async read(from: number, { limit, wait, signal }: ReadOptions): Promise<LogPart> {
    // Who reads takes the log for one that can be appended to.
    this.#writer.mustBeReady();
    const part = await this.#part(from, limit);
    if (part.last !== from || wait === 0 || signal.aborted) return part;
    // 0 would wait for ever.
    const block = ['XREAD', 'COUNT', '1', 'BLOCK', String(wait), 'STREAMS', this.#how.stream];
    await this.#reader.ask((client) => client.sendCommand([...block, `${from}-0`]), wait);
    return this.#part(from, limit);
  }

  async trim(before: number): Promise<void> {
    const how = ['XTRIM', this.#how.stream, 'MINID', '=', `${before}-0`];
    await this.#writer.ask((client) => client.sendCommand(how));
  }

  async close(): Promise<void> {
    for (const one of [this.#writer, this.#reader]) one.close();
  }

  /** What is there from a position on. */
  async #part(from: number, limit: number): Promise<LogPart> {
    const start = from === 0 ? '-' : `${from}-0`;
    // What is known is asked for again, to see that it is what it was.
    const how = [start, String(limit), String(this.#bytes)];
    const what = { keys: [this.#how.stream], arguments: how };
    const begun = performance.now();
    try {
      const [range, last] = await this.#reader.ask((client) =>
        Promise.all([client.eval(READ, what), this.#last(client)]),
      );
      const entries = (range as unknown as Row[]).map(entryOf);
      const bytes = entries.reduce((sum, { entry }) => sum + Buffer.byteLength(entry), 0);
      const isFast = performance.now() - begun < FAST;
      if (isFast && bytes >= this.#bytes) this.#bytes = Math.min(MOST, this.#bytes * 2);
      return { entries, last };
    } catch (error) {
      this.#bytes = Math.max(LEAST, this.#bytes / 2);
      throw error;
    }
  }

  /** The last position that was given, also where its entry is gone. */
  async #last(client: Client): Promise<number> {
    try {
      const about = await client.sendCommand(['XINFO', 'STREAM', this.#how.stream]);
      const id = fieldOf(about, 'last-generated-id');
      return Number(/^\d+/.exec(String(id))?.[0] ?? 0);
    } catch (error) {
      // There is no stream yet.
      if (/no such key/i.test((error as Error).message)) return 0;
      throw error;
    }
  }
}

type Row = readonly [id: string, fields: readonly string[]];

function entryOf([id, fields]: Row): LogEntry {
  const [time, entry] = [fieldOf(fields, 't'), fieldOf(fields, 'e')];
  return { position: Number(id.split('-')[0]), time: Number(time), entry: String(entry) };
}

/** A value in a list of names and values, or in a map, as version 3 of the protocol has it. */
function fieldOf(fields: unknown, name: string): unknown {
  if (!Array.isArray(fields)) return Reflect.get(Object(fields), name);
  return fields[fields.indexOf(name) + 1];
}
