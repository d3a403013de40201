/** The servers over which a shared window is tested: the same tests for each. */
import { natsLog, type OrderedLog, redisLog } from '../dist/connect/log.js';
import { NatsServer, missing as noNats } from './nats-server';
import { missing as noRedis, RedisServer } from './redis-server';
import type { ServerProcess } from './server-process';

/** A server on loopback. */
export type LogServer = ServerProcess & { readonly url: string };

export interface LogKind {
  readonly name: 'Redis' | 'NATS';
  /** Why there is none here. */
  readonly missing: string | undefined;
  open(): Promise<LogServer>;
  connect(url: string, options?: { stream?: string }): Promise<OrderedLog>;
  /** An address that nothing answers at, with a password. */
  readonly nowhere: string;
  /** Options with which one attempt is made. */
  readonly once: object;
  /** Takes entries away, one by one. */
  remove(url: string, stream: string, positions: readonly number[]): Promise<void>;
  /** Takes all entries away; the stream stays, and goes on from where it was. */
  empty(url: string, stream: string): Promise<void>;
  /** Takes the whole stream away. */
  drop(url: string, stream: string): Promise<void>;
}

async function redisCommand(url: string, command: string[]): Promise<void> {
  const { createClient } = await import('redis');
  const client = await createClient({ url }).connect();
  await client.sendCommand(command);
  client.destroy();
}

async function natsStreams<T>(url: string, work: (streams: Streams) => Promise<T>): Promise<T> {
  const { connect } = await import('@nats-io/transport-node');
  const { jetstreamManager } = await import('@nats-io/jetstream');
  const connection = await connect({ servers: url.replace('nats://', '') });
  try {
    return await work((await jetstreamManager(connection)).streams);
  } finally {
    await connection.close();
  }
}
type Streams = import('@nats-io/jetstream').JetStreamManager['streams'];

export const KINDS: readonly LogKind[] = [
  {
    name: 'Redis',
    missing: noRedis,
    open: () => RedisServer.open(),
    connect: redisLog,
    nowhere: 'redis://user:secret@127.0.0.1:1',
    once: { socket: { reconnectStrategy: false } },
    remove: (url, stream, positions) =>
      redisCommand(url, ['XDEL', stream, ...positions.map((position) => `${position}-0`)]),
    empty: (url, stream) => redisCommand(url, ['XTRIM', stream, 'MAXLEN', '0']),
    drop: (url, stream) => redisCommand(url, ['DEL', stream]),
  },
  {
    name: 'NATS',
    missing: noNats,
    open: () => NatsServer.open(),
    connect: natsLog,
    nowhere: 'nats://user:secret@127.0.0.1:1',
    once: { reconnect: false },
    remove: (url, stream, positions) =>
      natsStreams(url, async (streams) => {
        for (const position of positions) await streams.deleteMessage(stream, position);
      }),
    empty: async (url, stream) => {
      await natsStreams(url, (streams) => streams.purge(stream));
    },
    drop: async (url, stream) => {
      await natsStreams(url, (streams) => streams.delete(stream));
    },
  },
];

export { natsStreams };
