/** Options of a shared index, and the recipe that all services of a log must agree on. */
import { createHash } from 'node:crypto';
import { typeError } from '../../errors';
import { given } from '../../given';
import * as check from '../../options';
import type { ServiceOptions, SharedState, SnapshotStore } from '../log';
import { type Sketcher, sketcherOf } from './sketch';
import { folderStore } from './snapshots';

/** Checked options of the service. */
export interface Service {
  readonly timeout: number;
  readonly maxWaiting: number;
  readonly maxEntry: number;
  readonly maxBehind: number;
  readonly keepSnapshots: number;
  readonly snapshots: SnapshotStore | undefined;
  readonly onState: (state: SharedState, error: Error | undefined) => void;
  /** Whether a change has to be on this disk before it is answered. */
  readonly sync: boolean;
  readonly recipe: string;
  /** Makes what travels in place of long texts; `undefined`: they travel as they are. */
  readonly sketch: Sketcher | undefined;
  /** Whether the index keeps times. */
  readonly keepsTimes: boolean;
  /** For `Index.open`. */
  readonly index: object;
}

const BIG = Number.MAX_SAFE_INTEGER;
const CHECKS: check.Checks<Omit<ServiceOptions, 'durability' | 'flushInterval' | 'threads'>> = {
  timeout: check.integer(1, 2 ** 31 - 1),
  maxWaiting: check.integer(1, BIG),
  maxEntry: check.integer(1024, BIG),
  maxBehind: check.integer(0, BIG),
  keepSnapshots: check.integer(1, BIG),
  recipe: check.string,
  onState: check.callback,
  snapshots: (value, name) => {
    if (typeof value === 'string') return value;
    const can = (method: string) => typeof Reflect.get(Object(value), method) === 'function';
    if (['list', 'publish', 'fetch', 'remove'].every(can)) return value as SnapshotStore;
    throw check.wrongType(name, 'a folder, or a store with list, publish, fetch, remove', value);
  },
};

/** Options that every service of a log has the same way, or that would have services decide differently. */
const FIXED: Readonly<Record<string, string>> = {
  keys: 'a shared index always keeps keys',
  onSameKey: "a shared index always has onSameKey: 'repeat'",
  memory:
    'a bound of memory would end one service before another, and they would decide differently',
  create: 'a shared index is made where it is not there',
  readOnly: 'a shared index applies the log',
  groups: 'a shared index keeps no groups',
};
/** What is in them is not known by their names. */
const CONTENT = ['dictionary', 'stopWords', 'idf'] as const;
/** Its decisions are those of this version of the specification. */
const SPECIFICATION = 1;

/** Checks the options, and makes the recipe of them. */
export function serviceOf(options: object = {}): Service {
  const own: Record<string, unknown> = {};
  const index: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    if (Object.hasOwn(FIXED, name)) {
      throw typeError(`${name} must be left out: ${FIXED[name]}`, 'ERR_INVALID_ARG_VALUE');
    }
    (Object.hasOwn(CHECKS, name) ? own : index)[name] = value;
  }
  const checked = check.checked<ServiceOptions>(own, CHECKS as check.Checks<ServiceOptions>);
  const { timeout = 10_000, maxWaiting = 10_000, maxEntry = 768 * 1024 } = checked;
  const { maxBehind = 1000, keepSnapshots = 2, snapshots, onState = () => {} } = checked;
  const { durability, flushInterval, threads, window, ...deciding } = index;
  const content = CONTENT.find((name) => deciding[name] !== undefined);
  if (content !== undefined && checked.recipe === undefined) {
    const how = 'needs recipe beside it: a word for its content, the same in all services';
    throw typeError(`${content} ${how}`, 'ERR_INVALID_ARG_VALUE');
  }
  // Times are those of the log: a clock that is wrong here must not decide.
  const times = window && { ...(window as object), maxSkew: Number.POSITIVE_INFINITY };
  const { maxSkew: _, ...limits } = (window ?? {}) as { maxSkew?: number };
  const said = { ...deciding, window: window && limits, recipe: checked.recipe };
  const recipe = createHash('sha256')
    .update(`${SPECIFICATION} ${canonical(said)}`)
    .digest('hex');
  return {
    ...{ timeout, maxWaiting, maxEntry, maxBehind, keepSnapshots, onState },
    snapshots: typeof snapshots === 'string' ? folderStore(snapshots) : snapshots,
    sync: durability === 'commit',
    keepsTimes: window !== undefined,
    sketch: sketcherOf({ ...deciding, threads }),
    recipe: recipe.slice(0, 32),
    index: {
      ...deciding,
      ...given({ durability, flushInterval, threads, window: times }),
      keys: true,
      onSameKey: 'repeat',
    },
  };
}

/** JSON whose fields are in one order; contents of dictionaries are not in it. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (name, part: unknown) => {
    if ((CONTENT as readonly string[]).includes(name)) return true;
    if (typeof part === 'bigint') return `${part}n`;
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
