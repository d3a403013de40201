/**
 * What stands in a log: who wrote it, by which recipe, and how far that writer had come. All of it is JSON.
 *
 * An entry names the position and the hash of the last entry that its writer had applied. The hash of an entry is made of the one before, its
 * position and its bytes, so it stands for the whole history; a reader whose history had another hash at that position knows that one of the
 * two has read another log.
 *
 * Of entries whose history is another, or is longer ago than {@link HISTORY}, every reader makes nothing, so that all go on alike.
 */
import { createHash } from 'node:crypto';
import { SimHashError } from '../../errors';
import { keyString } from '../../index-calls';
import { isSketch, type Sketch } from './sketch';

/** A place in a log, and the history up to it. */
export interface Mark {
  readonly position: number;
  readonly hash: string;
}

/** Entries whose hashes every reader has: how far behind the log a writer may be. A part of the form, for all must have the same. */
export const HISTORY = 4096;

/** A document that is checked: its text, or what stands for a long one. */
export type Checking = readonly [text: string | Sketch, key?: string];

/** What an entry does. */
export type Deed =
  | { readonly begin: true }
  | { readonly items: readonly Checking[] }
  | { readonly delete: { readonly id: number } | { readonly key: string } };

/** An entry. */
export type Entry = {
  /** Version of this form. */
  readonly v: 1;
  /** Identity of the log. */
  readonly log: string;
  readonly recipe: string;
  /** Names the entry, for its writer. */
  readonly id: string;
  /** How far its writer had come. */
  readonly after: Mark;
} & Deed;

/** Before the first entry. */
export const START: Mark = { position: 0, hash: '0'.repeat(32) };

/** The hash of an entry: 128 bits, which is far beyond accidents; against somebody who forges entries a log needs passwords. */
export function hashOf(previous: string, position: number, entry: string): string {
  const hash = createHash('sha256').update(`${previous} ${position} `).update(entry);
  return hash.digest('hex').slice(0, 32);
}

/** @throws SimHashError `ERR_SIMHASH_LOG_ENTRY`: it is no entry that this release knows. */
export function decoded(position: number, text: string): Entry {
  let entry: Partial<Entry> | undefined;
  try {
    entry = JSON.parse(text);
  } catch {
    // Told below.
  }
  if (typeof entry === 'object' && entry !== null && entry.v === 1 && isWhole(entry)) {
    return entry as Entry;
  }
  const isOther = typeof entry?.v === 'number' && entry.v !== 1;
  const version = isOther ? `of version ${entry?.v}` : 'not of this package';
  throw new SimHashError(
    'ERR_SIMHASH_LOG_ENTRY',
    `entry ${position} of the log is ${version}, and this release reads version 1`,
  );
}

function isWhole({ log, recipe, id, after, ...deed }: Partial<Entry>): boolean {
  const named = [log, recipe, id, after?.hash].every((part) => typeof part === 'string');
  if (!named || !Number.isSafeInteger(after?.position)) return false;
  if ('items' in deed) return Array.isArray(deed.items) && deed.items.every(isChecking);
  return 'begin' in deed || ('delete' in deed && isNamed(deed.delete));
}

function isNamed(named: unknown): boolean {
  if (typeof named !== 'object' || named === null) return false;
  const { id, key } = named as { id?: unknown; key?: unknown };
  return key === undefined ? Number.isSafeInteger(id) && (id as number) >= 0 : isKey(key);
}

function isChecking(item: unknown): boolean {
  if (!Array.isArray(item)) return false;
  const [text, key] = item;
  if (typeof text !== 'string' && !isSketch(text)) return false;
  return key === undefined || isKey(key);
}

/** Whether an index takes it: who wrote the entry may not have asked one. */
function isKey(key: unknown): boolean {
  try {
    keyString(key, 'key');
    return true;
  } catch {
    return false;
  }
}
