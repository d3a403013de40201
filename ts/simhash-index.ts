import { resolve } from 'node:path';
import { abortable } from './abort';
import { type Added, added } from './added';
import { binding } from './binding';
import { calling, telling } from './callback';
import { type Checked, CheckedItems } from './checked';
import { Clusters } from './clusters';
import { native } from './errors';
import { fingerprinterOf, JOB, type JobOptions } from './fingerprinter';
import type { Found } from './found';
import { Handle } from './handle';
import {
  ADD,
  ADD_MANY,
  type AddManyOptions,
  type AddOptions,
  CONFIRM,
  CONFIRM_MANY,
  DUPLICATE,
  type DuplicateOptions,
  INDEX,
  type IndexOptions,
  JOIN,
  type JoinOptions,
  nativeIndexOptions,
  OPEN,
  type OpenOptions,
  SEARCH,
  type SearchOptions,
} from './index-options';
import type { Stats } from './index-stats';
import { batchOf, checkedItems, type Item, type Items } from './items';
import { type Match, Matches } from './matches';
import type { NativeIndex } from './native';
import { NATIVE } from './native-part';
import * as check from './options';
import { batches, type PairBatch } from './pairs';
import { type PlanEstimate, type PlanOptions, plan } from './plan';
import { type Time, time } from './time';
import type { ConfirmOptions, TextOfOptions } from './verify';

export type { Item, Items } from './items';

/** An index for other workers: plain data, to be posted or passed as `workerData`. */
export interface SharedIndex {
  /** Says which index of this process it is. */
  readonly simhashIndex: string;
}

/** How to compare all documents in batches. */
export interface PairsOptions extends JoinOptions {
  /** Pairs per batch, 1 to 2^24; the last batch may have fewer. Default 65,536, about 1.1 MB. */
  batch?: number | undefined;
}

/** How to link all documents. */
export interface ClustersOptions extends JoinOptions {
  /** Told the share that is done, 0 to 1, at most once per hundredth; what it throws ends the work and is the rejection. */
  onProgress?: ((done: number) => void) | undefined;
}

const SHARED: check.Checks<SharedIndex> = { simhashIndex: check.string };
const PAIRS: check.Checks<PairsOptions> = { ...JOIN, batch: check.integer(1, 2 ** 24) };
const CLUSTERS: check.Checks<ClustersOptions> = { ...JOIN, onProgress: check.callback };

/**
 * An exact index of 64-bit fingerprints by Hamming distance, live and in memory.
 *
 * Ids grow by one from 0 and are never reused. Texts with too few features for a fingerprint match equal texts only (after
 * normalisation); empty texts get an id and match nothing. Single calls cost microseconds and are synchronous; `…Many`
 * works on all cores while the JavaScript thread waits, and is right for some thousand items; `…ManyAsync` leaves
 * the JavaScript thread free. It copies its array before it returns (about 5 ns an element), and the texts too if they are at
 * most 4,096 of together a million characters; of more, slice by slice with turns of the event loop in between (the bytes of
 * a `Uint8Array` must not change until the promise settles). One text is copied in one go: 100 million characters take about
 * 0.1 s. A batch is its items one by one, in order: batches come one after the other, and single calls may come between two
 * items, so that none of them waits for a batch. An aborted job has changed nothing; an abort that comes when its first item
 * has been added is too late, and the promise is fulfilled.
 *
 * With a `window` documents leave by themselves: an addition first takes away what its time makes too old, then what is
 * more than `maxCount`. A search takes nothing away. Additions come one at a time: one that meets a running batch waits
 * for some of its items, milliseconds to tens of them, and the first after a `save()` while ids are copied. Searches do not wait.
 *
 * An index belongs to the thread that made it; other workers of the process use it through {@link Index.share}.
 */
export class Index {
  readonly #handle: Handle<NativeIndex>;

  /** @throws TypeError, RangeError for options that are unknown, of the wrong type or out of range. */
  constructor(options?: IndexOptions) {
    const index = options instanceof binding.NativeIndex ? options : made(options);
    this.#handle = new Handle(index, 'Index');
  }

  get #native(): NativeIndex {
    return this.#handle.native;
  }

  /**
   * Opens a saved index; the result is as the saved one was, its next id too. The file is read once and not held. About
   * as long as adding the documents takes.
   *
   * @throws SimHashError `ERR_SIMHASH_INPUT`: the file cannot be read; `ERR_SIMHASH_INDEX_DAMAGED`: it is truncated,
   * changed or no index, with the byte where that was noticed; `ERR_SIMHASH_INDEX_FORMAT`: another release saved it, in a
   * format that this one does not read: build it again; `ERR_SIMHASH_INDEX_MISMATCH`: it was saved with another fingerprinter, distance, plan or window than the one given. All name the file.
   */
  static async open(path: string, options?: OpenOptions & JobOptions): Promise<Index> {
    const { signal, ...given } = check.checked(options, { ...OPEN, ...JOB });
    const [file, by] = [resolve(check.string(path, 'path')), fingerprinterOf(given.fingerprinter)];
    const opened = await abortable(signal, (cancel) =>
      binding.NativeIndex.open(file, by[NATIVE], nativeIndexOptions(given), cancel),
    );
    return new Index(opened as IndexOptions);
  }

  /** {@link open} while the JavaScript thread waits: for scripts, and for indexes of some ten thousand documents. */
  static openSync(path: string, options?: OpenOptions): Index {
    const given = check.checked(options, OPEN);
    const [file, by] = [resolve(check.string(path, 'path')), fingerprinterOf(given.fingerprinter)];
    const opened = native(() =>
      binding.NativeIndex.openSync(file, by[NATIVE], nativeIndexOptions(given)),
    );
    return new Index(opened as IndexOptions);
  }

  /** Which tables an index of these options would have, and what they cost. Builds nothing. */
  static plan(options?: PlanOptions): PlanEstimate {
    return plan(options);
  }

  /** Names that `plan` can have beside `'auto'` and `'classic'`. */
  static planNames(): string[] {
    return native(() => binding.planNames());
  }

  /** Adds an item without looking for near ones; the result is its id. */
  add(item: Item, options?: AddOptions): number {
    const { at, key } = check.checked(options, ADD);
    return native(() => this.#native.add(item, at, key));
  }

  /** Adds many items in order, all or none; see {@link Added} for their ids. */
  addMany(items: Items, options?: AddManyOptions): Added {
    const { at, keys } = check.checked(options, ADD_MANY);
    const batch = batchOf(items);
    return added(native(() => this.#native.addMany(batch, at, keys)));
  }

  /** {@link addMany} off the JavaScript thread. */
  async addManyAsync(items: Items, options?: AddManyOptions & JobOptions): Promise<Added> {
    const { at, keys, signal } = check.checked(options, { ...ADD_MANY, ...JOB });
    const given = checkedItems(items);
    return added(
      await this.#handle.batch(given, 'items', signal, (index, batch, cancel) =>
        index.addManyAsync(batch, at, keys, cancel),
      ),
    );
  }

  /** All live documents near an item, by distance, then id. `truncated` where `limit` left some out. */
  search(item: Item, options?: SearchOptions): Found<Match> {
    const { maxDistance, limit } = check.checked(options, SEARCH);
    return new Matches(native(() => this.#native.search(item, maxDistance, limit))).get(0);
  }

  /** {@link search} for many items, in columns. */
  searchMany(items: Items, options?: SearchOptions): Matches {
    const { maxDistance, limit } = check.checked(options, SEARCH);
    const batch = batchOf(items);
    return new Matches(native(() => this.#native.searchMany(batch, maxDistance, limit)));
  }

  /** {@link searchMany} off the JavaScript thread. */
  async searchManyAsync(items: Items, options?: SearchOptions & JobOptions): Promise<Matches> {
    const { maxDistance, limit, signal } = check.checked(options, { ...SEARCH, ...JOB });
    const given = checkedItems(items);
    return new Matches(
      await this.#handle.batch(given, 'items', signal, (index, batch, cancel) =>
        index.searchManyAsync(batch, maxDistance, limit, cancel),
      ),
    );
  }

  /**
   * Adds an item unless a live document lies within `maxDistance`; looking and adding are one step. `onDuplicate` says what
   * happens if one does; `duplicateOf` is the nearest, ties to the lowest id. With `verify` only those count whose texts are
   * similar enough, and looking, comparing and adding are one step. At most 1,000 texts are compared, the nearest first.
   */
  checkAndAdd(item: Item, options?: AddOptions & DuplicateOptions & TextOfOptions): Checked {
    const checks = { ...ADD, ...DUPLICATE, ...CONFIRM };
    const { at, onDuplicate, key, verify, textOf } = check.checked(options, checks);
    return calling(textOf, (textOf) =>
      this.#native.checkAndAdd(item, at, onDuplicate, key, verify, textOf),
    );
  }

  /**
   * As if {@link checkAndAdd} were called for every item in order. In an index without a window, keys and
   * texts, and unless `onDuplicate` is `'add'`, all cores take part. `verify` compares with stored texts.
   */
  checkAndAddMany(
    items: Items,
    options?: AddManyOptions & DuplicateOptions & ConfirmOptions,
  ): CheckedItems {
    const checks = { ...ADD_MANY, ...DUPLICATE, ...CONFIRM_MANY };
    const { at, onDuplicate, keys, verify } = check.checked(options, checks);
    const batch = batchOf(items);
    return new CheckedItems(
      native(() => this.#native.checkAndAddMany(batch, at, onDuplicate, keys, verify)),
    );
  }

  /** {@link checkAndAddMany} off the JavaScript thread. */
  async checkAndAddManyAsync(
    items: Items,
    options?: AddManyOptions & DuplicateOptions & ConfirmOptions & JobOptions,
  ): Promise<CheckedItems> {
    const checks = { ...ADD_MANY, ...DUPLICATE, ...CONFIRM_MANY, ...JOB };
    const { at, onDuplicate, keys, verify, signal } = check.checked(options, checks);
    const given = checkedItems(items);
    return new CheckedItems(
      await this.#handle.batch(given, 'items', signal, (index, batch, cancel) =>
        index.checkAndAddManyAsync(batch, at, onDuplicate, keys, verify, cancel),
      ),
    );
  }

  /**
   * All pairs of live documents within a distance, each once, in batches; each batch is computed off the JavaScript thread
   * when it is asked for. Begins by compacting. Of documents with equal fingerprints only the first is paired with others;
   * each further one comes once, with the first, at distance 0: c copies make c - 1 pairs. Documents added meanwhile are
   * not in it, documents deleted meanwhile are left out. Leaving the loop ends the work.
   */
  pairs(options?: PairsOptions): AsyncGenerator<PairBatch, void, undefined> {
    const { maxDistance, batch = 65_536, signal } = check.checked(options, PAIRS);
    const join = native(() => this.#native.pairs(maxDistance));
    return batches(join, batch, signal);
  }

  /**
   * All clusters of live documents: those linked by chains of pairs within a distance. Begins by compacting; works off the
   * JavaScript thread, on all cores, without listing the pairs.
   */
  async clusters(options?: ClustersOptions): Promise<Clusters> {
    const { maxDistance, onProgress, signal } = check.checked(options, CLUSTERS);
    return new Clusters(
      await telling(onProgress, signal, (report, cancel) =>
        this.#native.clusters(maxDistance, report, cancel),
      ),
    );
  }

  /** The key of a live document; `undefined` where it came without one. */
  keyOf(id: number): string | undefined {
    return native(() => this.#native.keyOf(check.id(id, 'id'))) ?? undefined;
  }

  /**
   * The latest live document with a key.
   *
   * @throws TypeError `ERR_INVALID_ARG_VALUE`: the index keeps no keys.
   */
  idOf(key: string): number | undefined {
    return native(() => this.#native.idOf(check.string(key, 'key'))) ?? undefined;
  }

  /** Whether an id is alive. */
  has(id: number): boolean {
    return native(() => this.#native.has(check.id(id, 'id')));
  }

  /** Takes an id away; false if it was not alive. */
  delete(id: number): boolean {
    return native(() => this.#native.delete(check.id(id, 'id')));
  }

  /**
   * Takes every document away whose time is before `before`; the result is how many they were. Some
   * hundred nanoseconds for each of them: call it often rather than seldom.
   *
   * @throws SimHashError `ERR_SIMHASH_NO_WINDOW`: the index keeps no times.
   */
  expire(before: Time): number {
    const at = time(before, 'before');
    return native(() => this.#native.expire(at));
  }

  /** Number of live ids. */
  get size(): number {
    return native(() => this.#native.size());
  }

  /** Counts and bytes. */
  stats(): Stats {
    return native(() => this.#native.stats());
  }

  /**
   * Merges everything into one segment without deleted fingerprints, the fastest form to search. Works off the JavaScript thread,
   * 15 to 20 ns per fingerprint and table, and takes the memory of one more table for each core. Additions and searches go
   * on; what is added meanwhile need not be in the segment. Aborted, it stops waiting: what has begun goes on behind.
   */
  async compact(options?: JobOptions): Promise<void> {
    const { signal } = check.checked(options, JOB);
    await abortable(signal, (cancel) => this.#native.compact(cancel));
  }

  /**
   * Writes the whole index as it is at this call to a file, off the JavaScript thread; begins by compacting. What is added,
   * deleted or renewed after the call is not in it; of a batch under way it has the items that came before. About 8 bytes
   * per fingerprint and table and 9 per document, 16 more with a window. Additions go on, but for the time in which ids,
   * keys and texts are copied, some 10 ns per document: the first addition after the call may be the one to do so. The file is written beside its name and then takes it: it appears whole or not at all, and
   * what had the name before stays until then.
   *
   * @throws SimHashError `ERR_SIMHASH_OUTPUT`, `ERR_SIMHASH_DISK_FULL`: the file cannot be written.
   */
  async save(path: string, options?: JobOptions): Promise<void> {
    const { signal } = check.checked(options, JOB);
    const file = resolve(check.string(path, 'path'));
    await abortable(signal, (cancel) => this.#native.save(file, cancel));
  }

  /**
   * A handle by which other workers of this process use this very index: post it, and open it there with
   * {@link Index.fromShared}. All laws hold across workers: of two near-duplicates that two of them add at once exactly one
   * is kept. A handle keeps nothing alive; the index lives until every object that uses it is closed or collected, so keep
   * this one until the worker has opened it.
   */
  share(): SharedIndex {
    return { simhashIndex: native(() => this.#native.share()) };
  }

  /**
   * The index of a handle; its documents, options and fingerprinter are those of the index that was shared.
   *
   * @throws SimHashError `ERR_SIMHASH_CLOSED`: the index is closed or collected everywhere, or belongs to another process.
   */
  static fromShared(handle: SharedIndex): Index {
    const { simhashIndex } = check.checked(handle, SHARED, 'handle');
    const token = check.string(simhashIndex, 'handle.simhashIndex');
    const found = native(() => binding.NativeIndex.fromShared(token));
    return new Index(found as IndexOptions);
  }

  /**
   * Later calls of this object throw `ERR_SIMHASH_CLOSED`; what was called before finishes. When the last of it has, or at
   * once, the memory is free, unless other workers use the index; a loop over {@link pairs} then fails with the same code.
   * Closing twice is fine.
   */
  close(): void {
    this.#handle.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

function made(options: IndexOptions | undefined): NativeIndex {
  const given = check.checked(options, INDEX);
  const by = fingerprinterOf(given.fingerprinter);
  return native(() => new binding.NativeIndex(by[NATIVE], nativeIndexOptions(given)));
}
