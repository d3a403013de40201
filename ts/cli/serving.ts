/** The options of the command `serve` as the library and the server take them. */

import { existsSync, readdirSync, statSync } from 'node:fs';
import { given } from '../given';
import { INDEX_METHODS } from '../method';
import { OPTIONS } from '../option-table';
import { LIMITS, type Limits } from '../server/limits';
import type { Values } from './command';
import { durationOf, timerOf } from './duration';
import { UsageError } from './exit';
import { fingerprinterOptions, judging, sizeOf } from './options';

/** Where it listens, and who may ask. */
export const listening = {
  host: {
    kind: 'text',
    value: 'HOST',
    default: '127.0.0.1',
    help: 'address to listen on; any except a loopback address needs a token of your own',
  },
  port: {
    kind: 'integer',
    value: 'N',
    min: 0,
    max: 65_535,
    default: 8765,
    help: 'port to listen on; 0: any that is free',
  },
  'allow-host': {
    kind: 'texts',
    value: 'NAME',
    help: 'a name by which clients call this server, beside localhost and its addresses',
  },
  'token-file': {
    kind: 'text',
    value: 'FILE',
    help: 'file whose first line is the token of the clients; without it SIMHASH_TOKEN, SIMHASH_TOKEN_FILE, or one that is generated and printed',
  },
} as const;

/** How the folder is opened. */
export const keeping = {
  durability: {
    kind: 'choice',
    value: 'WHEN',
    choices: ['commit', 'interval', 'none'],
    default: 'interval',
    help: 'when a check is answered: commit: when it is on the disk; interval: when the system has it, which writes it to the disk within --flush-interval; none: when the system has it',
  },
  'flush-interval': {
    kind: 'text',
    value: 'TIME',
    help: 'time between two flushes, with --durability interval; without it 1s',
  },
  'max-age': {
    kind: 'text',
    value: 'TIME',
    help: 'documents are removed at this age, as 2d or 36h; without it they stay',
  },
  'max-count': {
    kind: 'integer',
    value: 'N',
    min: 1,
    max: 2 ** 32 - 2,
    help: 'how many documents the index holds at most; the oldest are removed first',
  },
  'no-keys': { kind: 'flag', help: 'a new index stores no keys' },
  'on-same-key': {
    ...OPTIONS.onSameKey,
    help: 'what happens to a document whose key is already known; a new index has repeat without it',
  },
  'no-texts': {
    kind: 'flag',
    help: 'a new index stores no texts: it is smaller, and answers are not verified',
  },
  memory: {
    kind: 'text',
    value: 'SIZE',
    help: 'memory limit of the index, as 2G; documents beyond it are refused',
  },
} as const;

/** What is taken at most. */
export const limiting = {
  'max-body': {
    kind: 'text',
    value: 'SIZE',
    default: '16M',
    help: 'longest request of many documents',
  },
  'max-line': { kind: 'text', value: 'SIZE', default: '1M', help: 'longest document, as JSON' },
  'max-queue': {
    kind: 'integer',
    value: 'N',
    min: 1,
    max: 10_000_000,
    default: LIMITS.queue,
    help: 'how many documents may wait; beyond it requests get status 429',
  },
  'max-connections': {
    kind: 'integer',
    value: 'N',
    min: 1,
    max: 65_535,
    default: LIMITS.connections,
    help: 'connections at a time',
  },
  'max-results': {
    kind: 'integer',
    value: 'N',
    min: 1,
    max: 100_000,
    default: LIMITS.results,
    help: 'how many matches a search returns at most',
  },
  'request-time': {
    kind: 'text',
    value: 'TIME',
    default: '60s',
    help: 'time in which a request must arrive whole, its header in a sixth of that; then in which its answer must be taken',
  },
  'drain-time': {
    kind: 'text',
    value: 'TIME',
    default: '30s',
    help: 'time for requests in progress when the server is asked to stop',
  },
} as const;

/** How documents are compared; what is not given is that of the index. */
export const judged = {
  ...judging,
  method: { ...judging.method, choices: INDEX_METHODS },
  verify: { ...OPTIONS.verify, choices: [...OPTIONS.verify.choices, 'off'] },
} as const;

/** The limits as the server takes them. */
export function limitsOf(values: Values<typeof limiting>): Limits {
  const size = (name: 'max-body' | 'max-line') =>
    sizeOf(values[name], {
      flag: `--${name}`,
      least: 1024,
      most: 1024 ** 3,
      must: 'a size from 1K to 1G, as 64K or 16M',
    });
  const [body, line] = [size('max-body'), size('max-line')];
  if (line > body) throw new UsageError('--max-line must be at most --max-body');
  const requestTime = timerOf(values['request-time'], '--request-time');
  return {
    ...LIMITS,
    ...{ body, line, bodies: Math.max(LIMITS.bodies, body), requestTime },
    headerTime: Math.max(1, Math.round(requestTime / 6)),
    queue: values['max-queue'],
    connections: values['max-connections'],
    results: values['max-results'],
    drainTime: timerOf(values['drain-time'], '--drain-time'),
  };
}

type Served = Values<typeof judged & typeof keeping & { threads: typeof OPTIONS.threads }>;

/** The options of `Index.open`. A new index has keys that are told again as they were told first: a client may have to ask twice. */
export function indexOptionsOf(path: string, values: Served): object {
  const { method, bands, rows, sentences, verify, durability, threads } = values;
  const { 'max-age': maxAge, 'max-count': maxCount, 'on-same-key': onSameKey } = values;
  const { 'flush-interval': interval, memory } = values;
  if (existsSync(path) && !statSync(path).isDirectory()) {
    throw new UsageError(
      `serve needs the folder of an index, and ${path} is a file`,
      'make a folder of what Index.save has written: simhash-native index snapshot',
    );
  }
  if (onSameKey !== undefined && values['no-keys']) {
    throw new UsageError('--on-same-key must be left out beside --no-keys');
  }
  const isNew = !existsSync(path) || readdirSync(path).length === 0;
  const hasKeys = isNew && !values['no-keys'];
  const window = given({
    maxAge: maxAge === undefined ? undefined : durationOf(maxAge, '--max-age'),
    maxCount,
  });
  return {
    ...fingerprinterOptions(values),
    ...given({ method, bands, rows, sentences, durability, threads }),
    ...given({
      maxDistance: values['max-distance'],
      verify: verify === 'off' ? (false as const) : verify,
      minSimilarity: values['min-similarity'],
      maxVerifications: values['max-verifications'],
      flushInterval: interval === undefined ? undefined : timerOf(interval, '--flush-interval'),
      keys: hasKeys || undefined,
      onSameKey: onSameKey ?? (hasKeys ? ('repeat' as const) : undefined),
      texts: values['no-texts'] ? false : undefined,
      window: Object.keys(window).length === 0 ? undefined : window,
      memory:
        memory === undefined
          ? undefined
          : sizeOf(memory, {
              flag: '--memory',
              least: 1 << 20,
              most: Number.MAX_SAFE_INTEGER,
              must: 'a size of at least 1M, as 512M or 2G',
            }),
    }),
  };
}
