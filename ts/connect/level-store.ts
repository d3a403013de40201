/** What an index of sentences writes into a LevelDB, and how it is read. */
import { SimHashError } from '../errors';
import type { KeptOptions } from './level-options';

/** Encodings and limits of one call. */
interface Encoded {
  keyEncoding: 'utf8';
  valueEncoding: 'view';
}

/** A part of the keys. */
interface Range {
  gte: string;
  lte: string;
}

/**
 * What a store of one's own must be able to do: a part of `abstract-level` (version 1 or later), so `level`, `classic-level`,
 * `memory-level`, `browser-level` or a sublevel of one of them.
 */
export interface Level {
  /** Writes all operations or none; `sync` has LevelDB wait for the disk. */
  batch(
    operations: { type: 'put'; key: string; value: Uint8Array }[],
    options: Encoded & { sync: boolean },
  ): Promise<void>;
  /** Entries in the order of their keys. */
  iterator(options: Range & Encoded): AsyncIterable<[string, Uint8Array]>;
  /** Deletes the keys of a range. */
  clear(options: Range & { keyEncoding: 'utf8' }): Promise<void>;
}

/** What is known of what the database has. */
export interface Kept {
  db: Level;
  prefix: string;
  sync: boolean;
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
const ENCODED: Encoded = { keyEncoding: 'utf8', valueEncoding: 'view' };
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

/** Writes entries, all or none. */
export function put({ db, sync }: Kept, entries: [string, Uint8Array][]): Promise<void> {
  const operations = entries.map(([key, value]) => ({ type: 'put' as const, key, value }));
  return db.batch(operations, { ...ENCODED, sync });
}

/** What the database says of the index; `undefined`: it has none. */
export async function readMeta(db: Level, prefix: string): Promise<Meta | undefined> {
  const only = `${prefix}!meta`;
  for await (const [, value] of db.iterator({ gte: only, lte: only, ...ENCODED })) {
    const meta = parsed(value);
    if (meta?.version !== VERSION) {
      throw damaged(prefix, `${only} is not of version ${VERSION}`);
    }
    return meta;
  }
  return undefined;
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
  db: Level,
  prefix: string,
  generation: number,
): Promise<{ whole: Uint8Array | undefined; changes: Uint8Array[]; bytes: number }> {
  const range = { gte: key(prefix, generation, 'a', 0), lte: `${prefix}!${digits(generation)}!c` };
  const [parts, changes]: [Uint8Array[], Uint8Array[]] = [[], []];
  for await (const [found, value] of db.iterator({ ...range, ...ENCODED })) {
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
  const { db, prefix, options, recipe } = kept;
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
  const stale = { gte: key(prefix, generation, 'a', 0), lte: `${prefix}!g` };
  await db.clear({ ...stale, keyEncoding: 'utf8' });
  await put(kept, entries);
  Object.assign(kept, { generation, next: 0, bytes: 0 });
  await db.clear({
    gte: key(prefix, 0, 'a', 0),
    lte: `${prefix}!${digits(generation - 1)}!c`,
    keyEncoding: 'utf8',
  });
}

function damaged(prefix: string, reason: string): SimHashError {
  const message = `the index ${JSON.stringify(prefix)} is damaged: ${reason}`;
  return new SimHashError('ERR_SIMHASH_INDEX_DAMAGED', message);
}
