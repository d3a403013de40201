import { abortable } from './abort';
import { binding } from './binding';
import { type Checked, CheckedItems } from './checked';
import type { Text } from './documents';
import { native } from './errors';
import {
  FINGERPRINTER,
  Fingerprinter,
  type FingerprinterOptions,
  fingerprinterOf,
  JOB,
  type JobOptions,
} from './fingerprinter';
import { type Match, Matches } from './matches';
import type { NativeIndex } from './native';
import { NATIVE } from './native-part';
import * as check from './options';

/** What an index takes: a text, or a fingerprint made elsewhere. */
export type Item = Text | bigint;
/** Many of them; fingerprints alone may be a typed array. */
export type Items = readonly Item[] | BigUint64Array;

/** How an index is made. */
export interface IndexOptions {
  /** Largest Hamming distance of near-duplicates, inclusive, 0 to 16. Default 3. */
  maxDistance?: number | undefined;
  /** Makes the fingerprints of texts: a fingerprinter or its options. Default `new Fingerprinter()`. */
  fingerprinter?: Fingerprinter | FingerprinterOptions | undefined;
  /** Expected number of documents, 0 to 2^53 - 1; a hint for `plan: 'auto'`. */
  capacity?: number | undefined;
  /** Which tables to keep: `'auto'` (default), `'classic'` (k + 1 blocks), or a plan's name such as `'k3-t6'`. */
  plan?: 'auto' | 'classic' | (string & {}) | undefined;
  /** Most threads of one call, 0 to 1024; 0 (default) is one per core. Changes no result. */
  threads?: number | undefined;
}

/** How to search. */
export interface SearchOptions {
  /** Largest distance, inclusive, 0 to 16. Default: that of the index. */
  maxDistance?: number | undefined;
  /** At most so many matches per item, the nearest first; 0 to 2^53 - 1. Default all. */
  limit?: number | undefined;
}

/** Ids of a batch: `first`, `first + 1`, … `first + count - 1`. */
export interface Added {
  first: number;
  count: number;
}

/** Counts and bytes of an index. */
export interface Stats {
  /** Live ids. */
  live: number;
  /** Distinct fingerprints in the tables. */
  fingerprints: number;
  /** Those of them without a live id, waiting to be purged. */
  dead: number;
  /** Fingerprints in the scanned front. */
  front: number;
  /** Fingerprints in each sealed run, oldest first. */
  runs: number[];
  /** Name of the plan. */
  plan: string;
  /** Tables of the plan. */
  tables: number;
  /** Bytes of front, tables and directories. */
  tableBytes: number;
  /** Bytes of records, maps and id lists. */
  idBytes: number;
  /** Searches whose answer a limit cut, so far. */
  truncated: number;
}

const INDEX: check.Checks<IndexOptions> = {
  maxDistance: check.integer(0, 16),
  fingerprinter: (value, name) =>
    value instanceof Fingerprinter ? value : check.checked(value, FINGERPRINTER, name),
  capacity: check.id,
  plan: check.string,
  threads: check.integer(0, 1024),
};
const SEARCH: check.Checks<SearchOptions> = { maxDistance: check.integer(0, 16), limit: check.id };

/**
 * An exact index of 64-bit fingerprints by Hamming distance, live and in memory.
 *
 * Ids grow by one from 0 and are never reused. Texts with too few features for a fingerprint match equal texts only (after
 * normalisation); empty texts get an id and match nothing. Single calls cost microseconds and are synchronous; `…Many`
 * works on all cores while the JavaScript thread waits; `…ManyAsync` copies its input before it returns and leaves the
 * JavaScript thread free. An aborted job has changed nothing.
 */
export class Index {
  readonly #native: NativeIndex;

  /** @throws TypeError, RangeError for options that are unknown, of the wrong type or out of range. */
  constructor(options?: IndexOptions) {
    const {
      fingerprinter,
      maxDistance = 3,
      plan = 'auto',
      capacity,
      threads = 0,
    } = check.checked(options, INDEX);
    const by = fingerprinterOf(fingerprinter)[NATIVE];
    this.#native = native(() => new binding.NativeIndex(by, maxDistance, plan, capacity, threads));
  }

  /** Adds an item without looking for near ones; the result is its id. */
  add(item: Item): number {
    return native(() => this.#native.add(item));
  }

  /** Adds many items, all or none; their ids are consecutive. */
  addMany(items: Items): Added {
    checkItems(items);
    return native(() => this.#native.addMany(items));
  }

  /** {@link addMany} off the JavaScript thread. */
  async addManyAsync(items: Items, options?: JobOptions): Promise<Added> {
    const { signal } = check.checked(options, JOB);
    checkItems(items);
    return abortable(signal, (cancel) => this.#native.addManyAsync(items, cancel));
  }

  /** All live documents near an item, by distance, then id. */
  search(item: Item, options?: SearchOptions): Match[] {
    const { maxDistance, limit } = check.checked(options, SEARCH);
    return new Matches(native(() => this.#native.search(item, maxDistance, limit))).get(0);
  }

  /** {@link search} for many items, in columns. */
  searchMany(items: Items, options?: SearchOptions): Matches {
    const { maxDistance, limit } = check.checked(options, SEARCH);
    checkItems(items);
    return new Matches(native(() => this.#native.searchMany(items, maxDistance, limit)));
  }

  /** {@link searchMany} off the JavaScript thread. */
  async searchManyAsync(items: Items, options?: SearchOptions & JobOptions): Promise<Matches> {
    const { maxDistance, limit, signal } = check.checked(options, { ...SEARCH, ...JOB });
    checkItems(items);
    return new Matches(
      await abortable(signal, (cancel) =>
        this.#native.searchManyAsync(items, maxDistance, limit, cancel),
      ),
    );
  }

  /** Adds an item unless a live document lies within `maxDistance`; looking and adding are one step. */
  checkAndAdd(item: Item): Checked {
    return new CheckedItems(native(() => this.#native.checkAndAdd(item))).get(0) ?? {};
  }

  /** As if {@link checkAndAdd} were called for every item in order, as one step. */
  checkAndAddMany(items: Items): CheckedItems {
    checkItems(items);
    return new CheckedItems(native(() => this.#native.checkAndAddMany(items)));
  }

  /** {@link checkAndAddMany} off the JavaScript thread. */
  async checkAndAddManyAsync(items: Items, options?: JobOptions): Promise<CheckedItems> {
    const { signal } = check.checked(options, JOB);
    checkItems(items);
    return new CheckedItems(
      await abortable(signal, (cancel) => this.#native.checkAndAddManyAsync(items, cancel)),
    );
  }

  /** Whether an id is alive. */
  has(id: number): boolean {
    return native(() => this.#native.has(check.id(id, 'id')));
  }

  /** Takes an id away; false if it was not alive. */
  delete(id: number): boolean {
    return native(() => this.#native.delete(check.id(id, 'id')));
  }

  /** Number of live ids. */
  get size(): number {
    return native(() => this.#native.size());
  }

  /** Counts and bytes. */
  stats(): Stats {
    return native(() => this.#native.stats());
  }

  /** Frees the memory; jobs that run finish, later calls throw `ERR_SIMHASH_CLOSED`. Closing twice is fine. */
  close(): void {
    this.#native.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

function checkItems(items: Items): void {
  if (!(items instanceof BigUint64Array)) check.array(items, 'items');
}
