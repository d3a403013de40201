/** The options of the command `serve` as one of several services that share a window. */
import type { OrderedLog } from '../connect/log';
import { partsOf } from '../connect/log/nats';
import { unnamed } from '../connect/url';
import { given } from '../given';
import type { Values } from './command';
import { timerOf } from './duration';
import { codeOf, UsageError } from './exit';
import { sizeOf } from './options';
import type { keeping } from './serving';

/** One of several services that share a window. */
export const sharing = {
  log: {
    kind: 'text',
    value: 'URL',
    help: 'share the window with other services through a Redis stream, as redis://HOST:6379, or NATS JetStream, as nats://HOST:4222; a password, or a token of NATS, comes from SIMHASH_LOG_PASSWORD',
  },
  'log-stream': { kind: 'text', value: 'NAME', help: 'name of the stream; without it simhash' },
  'log-replicas': {
    kind: 'integer',
    value: 'N',
    min: 1,
    max: 1000,
    help: 'how many replicas must have an entry before a check is answered: for Redis without the server itself, for NATS all replicas of the stream, at most 5',
  },
  'log-max-entry': {
    kind: 'text',
    value: 'SIZE',
    help: 'longest entry of the log, without it 768K: longer documents get status 413; NATS takes it only below its max_payload, 1M without a setting of its own',
  },
  snapshots: {
    kind: 'text',
    value: 'FOLDER',
    help: 'a folder that all services can reach, for snapshots from which new services start',
  },
  'snapshot-every': {
    kind: 'text',
    value: 'TIME',
    help: 'time between snapshots written there, after which older entries of the log are trimmed; without it none is written',
  },
  recipe: {
    kind: 'text',
    value: 'WORD',
    help: 'stands for the content of a dictionary, stop words or idf, the same in all services',
  },
} as const;

/** Redis takes values of half a gibibyte. */
const MAX_ENTRY = {
  flag: '--log-max-entry',
  least: 1024,
  most: 512 << 20,
  must: 'a size from 1K to 512M, as 768K or 4M',
};

/** How the log is reached, and the service opened; `undefined`: the index is of this process alone. */
export function sharingOf(values: Values<typeof sharing & typeof keeping>) {
  const { log: url, snapshots, 'snapshot-every': every, recipe } = values;
  const { 'log-max-entry': longest } = values;
  if (url === undefined) {
    const own = Object.keys(sharing).find((name) => values[name as keyof typeof sharing]);
    if (own !== undefined) throw new UsageError(`--${own} is for a shared window: see --log`);
    return undefined;
  }
  const connect = logOf(url, values);
  for (const name of ['no-keys', 'on-same-key', 'memory'] as const) {
    if (values[name]) throw new UsageError(`--${name} must be left out beside --log`);
  }
  if (every !== undefined && snapshots === undefined) {
    throw new UsageError('--snapshot-every needs --snapshots FOLDER');
  }
  return {
    connect,
    service: given({
      snapshots,
      recipe,
      maxEntry: longest === undefined ? undefined : sizeOf(longest, MAX_ENTRY),
    }),
    every: every === undefined ? undefined : timerOf(every, '--snapshot-every'),
  };
}

/** How the log of an address is reached. */
function logOf(
  url: string,
  { 'log-stream': stream, 'log-replicas': replicas }: Values<typeof sharing>,
): (signal: AbortSignal) => Promise<OrderedLog> {
  const scheme = /^(rediss?|nats|tls):\/\//.exec(url)?.[1];
  if (scheme === undefined || (scheme.startsWith('redis') && !URL.canParse(url))) {
    throw new UsageError(
      '--log must be redis://HOST:PORT or rediss://HOST:PORT, or nats://HOST:PORT or tls://HOST:PORT',
    );
  }
  const isNats = !scheme.startsWith('redis');
  if (isNats && (replicas ?? 1) > 5) {
    throw new UsageError(`--log-replicas must be from 1 to 5 for NATS, got ${replicas}`);
  }
  const { SIMHASH_LOG_PASSWORD: password } = process.env;
  const secret = () =>
    new UsageError(
      '--log must not have the password in it, which everybody on this machine can read',
      'set SIMHASH_LOG_PASSWORD',
    );
  const named = given({ stream, replicas });
  if (!isNats) {
    // As the client reads it, with the last @.
    if (/^[^/]*:\/\/.*:.*@/s.test(url)) throw secret();
    const client = password === undefined ? {} : { client: { password } };
    return async (signal) => {
      const { redisLog } = await import('../connect/log.js');
      return redisLog(url, { ...named, ...client, signal });
    };
  }
  const { servers, user, pass, token, isSecure } = natsParts(url);
  // What stands alone before a host is the token of NATS, where no password comes from elsewhere: then it is a name.
  if (pass !== undefined || (token !== undefined && password === undefined)) throw secret();
  const name = user ?? token;
  const who = name === undefined ? { token: password } : { user: name, pass: password };
  const client = password === undefined ? {} : { client: who };
  const where = servers.map((server) => `${isSecure ? 'tls' : 'nats'}://${server}`).join(',');
  return async (signal) => {
    const { natsLog } = await import('../connect/log.js');
    return natsLog(where, { ...named, ...client, signal });
  };
}

/** The parts of an address of NATS. */
function natsParts(url: string): ReturnType<typeof partsOf> {
  try {
    return partsOf(url);
  } catch (error) {
    if (codeOf(error) !== 'ERR_INVALID_ARG_TYPE') throw error;
    const form = 'nats://HOST:PORT or tls://HOST:PORT, of several servers with commas between';
    throw new UsageError(`--log must be ${form}, got '${unnamed(url)}'`);
  }
}
