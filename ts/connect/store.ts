/** What an index of sentences writes into a store, and how it is read. */
import { SimHashError } from '../errors';
import type { CommonOptions, Window } from '../index-options';
import type { Store } from './level';

/** The options that decide what is similar, as the store has them; `count` is `sentences`. */
export interface KeptOptions {
  count?: number | undefined;
  common?: CommonOptions | false | undefined;
  window?: Window | undefined;
}

/** What is known of what the store has. */
export interface Kept {
  store: Store;
  prefix: string;
  options: KeptOptions;
  recipe: string;
  generation: number;
  /** Number of the next changes. */
  next: number;
  /** Bytes of changes since the whole. */
  bytes: number;
}

interface Meta {
  version: number;
  generation: number;
  options: KeptOptions;
  recipe: string;
}

const VERSION = 1;
/** Bytes of a part of the whole: LevelDB rewrites values when it compacts, and holds each in memory. */
const PART = 4 << 20;

/** Numbers in keys sort as numbers: 14 hexadecimal digits hold all below 2^53. */
const digits = (number: number) => number.toString(16).padStart(14, '0');
const key = (prefix: string, generation: number, kind: 'a' | 'b', number: number) =>
  `${prefix}!${digits(generation)}!${kind}!${digits(number)}`;

/** The key of changes. */
export function changesKey({ prefix, generation }: Kept, number: number): string {
  return key(prefix, generation, 'b', number);
}

/** What the store says of the index; `undefined`: it has none. */
export async function readMeta(store: Store, prefix: string): Promise<Meta | undefined> {
  const only = `${prefix}!meta`;
  const value = await store.get(only);
  if (value === undefined) return undefined;
  const meta = parsed(value);
  if (meta?.version === VERSION) return meta;
  throw damaged(prefix, `${only} is not of version ${VERSION}`);
}

function parsed(value: Uint8Array): Meta | undefined {
  try {
    return JSON.parse(Buffer.from(value).toString('utf8')) as Meta;
  } catch {
    return undefined;
  }
}

/** The whole, if there is one, the changes since, and their bytes. */
export async function contents(
  store: Store,
  prefix: string,
  generation: number,
): Promise<{ whole: Uint8Array | undefined; changes: Uint8Array[]; bytes: number }> {
  const [first, last] = [key(prefix, generation, 'a', 0), `${prefix}!${digits(generation)}!c`];
  const [parts, changes]: [Uint8Array[], Uint8Array[]] = [[], []];
  for await (const [found, value] of store.entries(first, last)) {
    const list = found.startsWith(`${prefix}!${digits(generation)}!a!`) ? parts : changes;
    const expected = key(prefix, generation, list === parts ? 'a' : 'b', list.length);
    if (found !== expected) throw damaged(prefix, `${expected} is missing`);
    list.push(value);
  }
  const bytes = changes.reduce((sum, value) => sum + value.length, 0);
  return { whole: parts.length > 0 ? Buffer.concat(parts) : undefined, changes, bytes };
}

/** Puts the whole in place of everything there is, at once; then clears what is no longer needed. */
export async function replaceAll(kept: Kept, whole: Uint8Array): Promise<void> {
  const { store, prefix, options, recipe } = kept;
  const generation = kept.generation + 1;
  const meta: Meta = { version: VERSION, generation, options, recipe };
  const entries: [string, Uint8Array][] = [[`${prefix}!meta`, Buffer.from(JSON.stringify(meta))]];
  for (let part = 0; part * PART < whole.length; part++) {
    entries.push([
      key(prefix, generation, 'a', part),
      whole.subarray(part * PART, (part + 1) * PART),
    ]);
  }
  // What an interrupted run may have left of a generation that nothing refers to.
  await store.delete(key(prefix, generation, 'a', 0), `${prefix}!g`);
  await store.put(entries);
  Object.assign(kept, { generation, next: 0, bytes: 0 });
  await store.delete(key(prefix, 0, 'a', 0), `${prefix}!${digits(generation - 1)}!c`);
}

function damaged(prefix: string, reason: string): SimHashError {
  const message = `the index ${JSON.stringify(prefix)} is damaged: ${reason}`;
  return new SimHashError('ERR_SIMHASH_INDEX_DAMAGED', message);
}
