import { resolve } from 'node:path';
import type { Added } from './added';
import { binding } from './binding';
import { calling, telling } from './callback';
import type { Checked, CheckedItems } from './checked';
import { Clusters } from './clusters';
import type { Documents, Text } from './documents';
import { native } from './errors';
import { JOB, type JobOptions } from './fingerprinter';
import type { Found } from './found';
import { type AllOptions, type Arrival, checkAll, SOURCE } from './index-all';
import {
  ADD,
  ADD_JOB,
  ADD_MANY,
  ADD_TO,
  ADD_TO_JOB,
  type AddManyOptions,
  type AddOptions,
  CHECK,
  CHECK_JOB,
  CHECK_MANY,
  type DuplicateOptions,
  nativeSearch,
  type PositionOptions,
  SEARCH_JOB,
  type SearchOptions,
} from './index-calls';
import { Core, made, opened, openedSync } from './index-core';
import { INDEX } from './index-options';
import type { Stats } from './index-stats';
import { printedBy } from './inspect';
import type { Item, Items } from './items';
import { type Match, Matches } from './matches';
import type { IndexMethod } from './method';
import type { NativeIndex } from './native';
import * as check from './options';
import {
  batches,
  CLUSTERS,
  type ClustersOptions,
  PAIRS,
  type PairBatch,
  type PairsOptions,
} from './pairs';
import { type Path, path as pathOf } from './path';
import type { Part } from './staging';
import { type Time, time, timesFor } from './time';
import type { TextOfOptions } from './verify';

export type { Item, Items } from './items';

/** Work with the native part of an index, which stays open until its promise has settled. */
let lease: <R>(index: Index, work: (native: NativeIndex) => Promise<R>) => Promise<R>;

/** Closes an index; `last` has its native part when what was called before has ended. Resolves when all is done. */
let finish: (index: Index, last: (native: NativeIndex) => Promise<void>) => Promise<void>;

/** See {@link lease}. */
export const leased: typeof lease = (index, work) => lease(index, work);

/** See {@link finish}. */
export const finished: typeof finish = (index, last) => finish(index, last);

/** An index for other workers: plain data, to be posted or passed as `workerData`. */
export interface SharedIndex<M extends IndexMethod = IndexMethod, T extends boolean = boolean> {
  /** Says which index of this process it is. */
  readonly simhashIndex: string;
  /** How it looks for near-duplicates. */
  readonly method: M;
  /** Whether it stores texts. */
  readonly texts: T;
}

const SHARED: check.Checks<SharedIndex> = {
  simhashIndex: check.string,
  method: INDEX.method,
  texts: check.boolean,
};

/**
 * A live index of documents: what is near a text, and is a new one near any of those that are there? One class for every method; matches are
 * verified on the texts, which it stores, by the same rule as `dedup`'s, and every result says whether it is.
 *
 * Ids grow by one from 0 and are never reused. Texts too short for the method match equal texts only (after
 * normalisation); empty texts get an id and match nothing. Single calls cost microseconds and are synchronous; `…Many`
 * works on all cores while the JavaScript thread waits, and is right for some thousand items; `…ManyAsync` leaves
 * the JavaScript thread free. It copies its array before it returns (about 5 ns an element), and the texts too if they are at
 * most 4,096 of together a million characters; of more, slice by slice with turns of the event loop in between (the bytes of
 * a `Uint8Array` must not change until the promise settles). One text is copied in one go: 100 million characters take about
 * 0.1 s. A batch is its items one by one, in order: batches come one after the other, and single calls may come between two
 * items, so that none of them waits for a batch. `…Many` waits for none either: while another batch is under way it throws
 * `ERR_SIMHASH_ASYNC_ONLY`, and `…ManyAsync` has its turn after that. No synchronous call waits until tables of fingerprints are merged:
 * that goes on beside it. Of 65,536 fingerprints and more `addManyAsync` makes the tables at once, on all cores, in about a third of
 * the processor time of `addMany`. An aborted job has changed nothing if its first item was not yet added; after that
 * it ends with the item that it is at, what came before stays, and `size` says how much that is.
 *
 * With a `window` documents leave by themselves: an addition first takes away what its time makes too old, then what is
 * more than `maxCount`. A search takes nothing away. Additions come one at a time: one that meets a running batch waits
 * for some of its items, milliseconds to tens of them. Searches do not wait.
 *
 * An index belongs to the thread that made it; other workers of the process use it through {@link Index.share}.
 *
 * `M` is the method; `T` is `false` where no texts are stored, and fingerprints or signatures may come in their place.
 */
export class Index<M extends IndexMethod = IndexMethod, T extends boolean = boolean> {
  readonly #core: Core<M>;

  static {
    lease = (index, work) => index.#core.handle.lease(work);
    finish = (index, last) => {
      const { handle } = index.#core;
      handle.close(last);
      return handle.ended;
    };
  }

  /** @throws TypeError, RangeError for options that are unknown, of the wrong type, out of range or of another method. */
  constructor(options?: object) {
    this.#core = options instanceof Core ? options : new Core(made(options));
  }

  /** @internal */
  static async open(path: Path, options?: object): Promise<Index> {
    return new Index(new Core(await opened(path, options)));
  }

  /** @internal */
  static openSync(path: Path, options?: object): Index {
    return new Index(new Core(openedSync(path, options)));
  }

  /** How near-duplicates are looked for. */
  get method(): M {
    return this.#core.about.method;
  }

  /** Adds an item without looking for near ones; the result is its id. */
  add(item: Item<M, T>, options?: AddOptions): number {
    const { at, key } = check.checked(options, ADD);
    return this.#core.grown(native(() => this.#core.now('addManyAsync').add(item, at, key)));
  }

  /**
   * Adds many items in order; see {@link Added} for their ids. All or none, but where `memory` ends
   * (`ERR_SIMHASH_MEMORY`) or a key is refused (`ERR_SIMHASH_SAME_KEY`): then those that came before are added, and `done` of the error has their ids.
   */
  addMany(items: Items<M, T>, options?: AddManyOptions & PositionOptions): Added {
    const { at, keys, position } = check.checked(options, ADD_TO);
    const batch = this.#core.items(items);
    const each = timesFor(items, at);
    return this.#core.added(
      native(() => this.#core.now('addManyAsync').addMany(batch, each, keys, position)),
    );
  }

  /** {@link addMany} off the JavaScript thread. */
  async addManyAsync(
    items: Items<M, T>,
    options?: AddManyOptions & PositionOptions & JobOptions,
  ): Promise<Added> {
    const { at, keys, position, signal } = check.checked(options, ADD_TO_JOB);
    const each = timesFor(items, at);
    const batch = await this.#core.batch(items, signal, (index, batch, cancel) =>
      index.addManyAsync(batch, each, keys, position, cancel),
    );
    return this.#core.added(batch);
  }

  /** All live documents near an item: verified ones by similarity, then the others; ties by id. `truncated` where a limit left some out. */
  search(item: Item<M, T>, options?: SearchOptions<M>): Found<Match<M>> {
    return this.#core.search(item, options);
  }

  /** {@link search} for many items, in columns. */
  searchMany(items: Items<M, T>, options?: SearchOptions<M>): Matches<M> {
    const how = this.#core.searching(options);
    const batch = this.#core.items(items);
    return Matches.of(
      this.method,
      native(() => this.#core.native.searchMany(batch, how)),
    );
  }

  /** {@link searchMany} off the JavaScript thread. */
  async searchManyAsync(
    items: Items<M, T>,
    options?: SearchOptions<M> & JobOptions,
  ): Promise<Matches<M>> {
    const { signal, ...given } = check.checked<SearchOptions<'simhash'> & JobOptions>(
      options,
      SEARCH_JOB,
    );
    const how = nativeSearch(given, this.#core.about);
    const matches = await this.#core.batch(items, signal, (index, batch, cancel) =>
      index.searchManyAsync(batch, how, cancel),
    );
    return Matches.of(this.method, matches);
  }

  /**
   * Adds an item unless a live document matches; looking, comparing and adding are one step. `onDuplicate` says what happens if one
   * does; `duplicateOf` is the most similar, ties to the lowest id, an unverified one only where no other is.
   */
  checkAndAdd(
    item: Item<M, T>,
    options?: AddOptions & DuplicateOptions & TextOfOptions,
  ): Checked<M> {
    const { at, onDuplicate, key, textOf } = check.checked(options, CHECK);
    return this.#core.outcome((checkAndAdd, out) =>
      calling(textOf, (textOf) => checkAndAdd(item, out, at, onDuplicate, key, textOf)),
    );
  }

  /**
   * As if {@link checkAndAdd} were called for every item in order; what every item needs is made on all cores. Where `memory` ends
   * (`ERR_SIMHASH_MEMORY`) or a key is refused (`ERR_SIMHASH_SAME_KEY`), `done` of the error has the outcomes of the items before.
   */
  checkAndAddMany(
    items: Items<M, T>,
    options?: AddManyOptions & DuplicateOptions & PositionOptions,
  ): CheckedItems<M> {
    const { at, onDuplicate, keys, position } = check.checked(options, CHECK_MANY);
    const batch = this.#core.items(items);
    const each = timesFor(items, at);
    const checked = native(() =>
      this.#core
        .now('checkAndAddManyAsync')
        .checkAndAddMany(batch, each, onDuplicate, keys, position),
    );
    return this.#core.checked(checked);
  }

  /** {@link checkAndAddMany} off the JavaScript thread. */
  async checkAndAddManyAsync(
    items: Items<M, T>,
    options?: AddManyOptions & DuplicateOptions & PositionOptions & JobOptions,
  ): Promise<CheckedItems<M>> {
    return this.#checkMany(items, options);
  }

  /**
   * {@link checkAndAdd} for everything that a source gives, in order, in batches off the JavaScript thread. At most two
   * batches are in flight, one collected while the other is decided; nothing is read ahead of that. A source that falls silent
   * holds nothing up: what it gave is decided after one turn of the event loop. Leaving the loop closes the source, and what
   * was added stays; an abort rejects with `signal.reason`. What the source throws passes through. Where `memory` ends or a key is refused, the outcomes
   * of the items before come first. Errors name items by their place in the source.
   */
  checkAndAddAll<D>(
    source: Documents<D>,
    options: AllOptions<D, Item<M, T>> & {
      readonly text: NonNullable<AllOptions<D, Item<M, T>>['text']>;
    },
  ): AsyncGenerator<Checked<M>, void, undefined>;
  checkAndAddAll<D extends Arrival<M, T>>(
    source: Documents<D>,
    options?: AllOptions<D, Item<M, T>>,
  ): AsyncGenerator<Checked<M>, void, undefined>;
  checkAndAddAll<D>(
    source: Documents<D>,
    options?: AllOptions<D, Item<M, T>>,
  ): AsyncGenerator<Checked<M>, void, undefined> {
    return checkAll(
      source,
      options as AllOptions<never, unknown> | undefined,
      (items, how, first) => this.#checkMany(items, how, { name: SOURCE, first }),
    );
  }

  /**
   * Adds a text; the result is the name of its group: its own id if it is alone, the lowest of the group otherwise. A text joins the groups of
   * the oldest holder of each of its sentences, which become one. For `'sentences'` with `groups: true`.
   */
  similarId(this: Index<'sentences', T>, text: Text, options?: AddOptions): number {
    const { at, key } = check.checked(options, ADD);
    return this.#core.grown(native(() => this.#core.groupedNow.similarId(text, at, key)));
  }

  /** As if {@link similarId} were called for every text in order; each answer is what it was then. */
  similarIdMany(
    this: Index<'sentences', T>,
    texts: readonly Text[],
    options?: AddManyOptions,
  ): Float64Array {
    const { at, keys } = check.checked(options, ADD_MANY);
    check.array(texts, 'texts');
    const each = timesFor(texts, at);
    return this.#core.grown(native(() => this.#core.groupedNow.similarIdMany(texts, each, keys)));
  }

  /** {@link similarIdMany} off the JavaScript thread. */
  async similarIdManyAsync(
    this: Index<'sentences', T>,
    texts: readonly Text[],
    options?: AddManyOptions & JobOptions,
  ): Promise<Float64Array> {
    const { at, keys, signal } = check.checked(options, ADD_JOB);
    check.array(texts, 'texts');
    void this.#core.grouped;
    const each = timesFor(texts, at);
    const groups = await this.#core.handle.batch(texts, 'texts', signal, (index, batch, cancel) =>
      index.similarIdManyAsync(batch, each, keys, cancel),
    );
    return this.#core.grown(groups);
  }

  /**
   * The name of a text's group now: an earlier answer of {@link similarId} leads to the group that it has become part of.
   * `undefined` for a text that has left, unless its id is the name of a group that lives on. Groups are not split: neither by
   * deleting the text that joined them nor when a sentence becomes too common later.
   */
  group(this: Index<'sentences', T>, id: number): number | undefined {
    return native(() => this.#core.grouped.group(check.id(id, 'id'))) ?? undefined;
  }

  /**
   * All pairs of live documents that match, each once, in batches; each batch is computed off the JavaScript thread
   * when it is asked for. Documents added meanwhile are not in it, documents deleted meanwhile are left out. Leaving the loop ends the work.
   */
  pairs(options?: PairsOptions<M>): AsyncGenerator<PairBatch<M>, void, undefined> {
    const { batch = 65_536, signal, ...given } = check.checked(options, PAIRS);
    const how = nativeSearch(given, this.#core.about);
    const join = native(() => this.#core.native.pairs(how));
    return batches(this.method, join, batch, signal);
  }

  /** All clusters of live documents: those linked by chains of {@link pairs}. Works off the JavaScript thread, on all cores. */
  async clusters(options?: ClustersOptions<M>): Promise<Clusters> {
    const { onProgress, signal, ...given } = check.checked(options, CLUSTERS);
    const how = nativeSearch(given, this.#core.about);
    return Clusters.of(
      await telling(onProgress, signal, (report, cancel) =>
        this.#core.native.clusters(how, report, cancel),
      ),
    );
  }

  /** The key of a live document; `undefined` where it came without one. */
  keyOf(id: number): string | undefined {
    return native(() => this.#core.native.keyOf(check.id(id, 'id'))) ?? undefined;
  }

  /**
   * The latest live document with a key.
   *
   * @throws TypeError `ERR_INVALID_ARG_VALUE`: the index keeps no keys, or no document can have this one, which is not well-formed Unicode.
   */
  idOf(key: string): number | undefined {
    return native(() => this.#core.native.idOf(check.wellFormed(key, 'key'))) ?? undefined;
  }

  /** Whether an id is alive. */
  has(id: number): boolean {
    return native(() => this.#core.native.has(check.id(id, 'id')));
  }

  /** Takes an id away; false if it was not alive. */
  delete(id: number): boolean {
    return native(() => this.#core.now('deleteAsync').delete(check.id(id, 'id')));
  }

  /** {@link delete} off the JavaScript thread: for `durability: 'commit'`. */
  async deleteAsync(id: number, options?: JobOptions): Promise<boolean> {
    const { signal } = check.checked(options, JOB);
    const own = check.id(id, 'id');
    return await this.#core.job(signal, (index, cancel) => index.deleteAsync(own, cancel));
  }

  /**
   * Takes every document away whose time is before `before`; the result is how many they were. Up
   * to some microseconds for each of them: call it often rather than seldom.
   *
   * @throws SimHashError `ERR_SIMHASH_NO_WINDOW`: the index keeps no times.
   */
  expire(before: Time): number {
    const at = time(before, 'before');
    return native(() => this.#core.now('expireAsync').expire(at));
  }

  /** {@link expire} off the JavaScript thread: for `durability: 'commit'`, and where very many leave. */
  async expireAsync(before: Time, options?: JobOptions): Promise<number> {
    const { signal } = check.checked(options, JOB);
    const at = time(before, 'before');
    return await this.#core.job(signal, (index, cancel) => index.expireAsync(at, cancel));
  }

  /** How far the caller has come, by the `position` of its batches; `undefined` where none had one. */
  get position(): number | undefined {
    return native(() => this.#core.native.position()) ?? undefined;
  }

  /** Number of live ids. */
  get size(): number {
    return native(() => this.#core.native.size());
  }

  /** Counts and bytes. */
  stats(): Stats<M> {
    return native(() => this.#core.native.stats()) as unknown as Stats<M>;
  }

  /**
   * Gives the memory back that deleted documents, their keys and texts still hold, and merges the tables of method `'simhash'` into the
   * fastest form to search; in a folder, writes a checkpoint, after which what has left takes no space there. Works off the JavaScript thread; additions and
   * searches go on, and what is added meanwhile need not be in it. Aborted, it stops waiting: what has begun goes on behind.
   */
  async compact(options?: JobOptions): Promise<void> {
    const { signal } = check.checked(options, JOB);
    await this.#core.job(signal, (index, cancel) => index.compact(cancel));
  }

  /**
   * Writes the whole index as it is at this call to a file, off the JavaScript thread, for {@link Index.open}. What is added,
   * deleted or renewed after the call is not in it; of a batch under way it has the items that came before, but of one with `position` all, for which it waits. Additions go on: what is
   * written is shared with the index until it changes, piece by piece, so a changed piece is there twice until the file is written. The file is written beside its
   * name and then takes it: it appears whole or not at all, and what had the name before stays until then.
   *
   * @throws SimHashError `ERR_SIMHASH_OUTPUT`, `ERR_SIMHASH_DISK_FULL`: the file cannot be written.
   */
  async save(path: Path, options?: JobOptions): Promise<void> {
    const { signal } = check.checked(options, JOB);
    const file = resolve(pathOf(path, 'path'));
    await this.#core.job(signal, (index, cancel) => index.save(file, cancel));
  }

  /**
   * Writes the whole index as it is at this call to a folder of its own, off the JavaScript thread: an index that {@link Index.open} opens, for a
   * backup or another machine. The folder must not exist, or be empty. If a batch with `position` is being added at this call, it is the index of
   * the moment when that ends: the batch and its position are in it. As {@link save} otherwise.
   */
  async snapshot(folder: Path, options?: JobOptions): Promise<void> {
    const { signal } = check.checked(options, JOB);
    const path = resolve(pathOf(folder, 'folder'));
    await this.#core.job(signal, (index, cancel) => index.snapshot(path, cancel));
  }

  /** Settles when the disk has all that was changed before the call. Without a folder there is nothing to wait for. */
  async flush(options?: JobOptions): Promise<void> {
    const { signal } = check.checked(options, JOB);
    await this.#core.job(signal, (index, cancel) => index.flush(cancel));
  }

  /**
   * Of an index that was opened with `readOnly`: shows what the writer has changed since. Takes about as long as the changes took; where the
   * writer has gone on to a later checkpoint meanwhile and has removed what was between, as long as opening.
   */
  async refresh(options?: JobOptions): Promise<void> {
    const { signal } = check.checked(options, JOB);
    await this.#core.refresh(signal);
  }

  /**
   * A handle by which other workers of this process use this very index: post it, and open it there with
   * {@link Index.fromShared}. All laws hold across workers: of two near-duplicates that two of them add at once exactly one
   * is kept. A handle keeps nothing alive; the index lives until every object that uses it is closed or collected, so keep
   * this one until the worker has opened it.
   */
  share(): SharedIndex<M, T> {
    const { method, texts } = this.#core.about;
    return { simhashIndex: native(() => this.#core.native.share()), method, texts: texts as T };
  }

  /** @internal */
  static fromShared(handle: SharedIndex): Index {
    const { simhashIndex } = check.checked(handle, SHARED, 'handle');
    const token = check.string(simhashIndex, 'handle.simhashIndex');
    return new Index(new Core({ native: native(() => binding.NativeIndex.fromShared(token)) }));
  }

  /**
   * Later calls of this object throw `ERR_SIMHASH_CLOSED`; what was called before finishes. When the last of it has, or at
   * once, the memory is free, unless other workers use the index; a loop over {@link pairs} then fails with the same code. The promise settles when, in a
   * folder, the disk has everything and the folder can be opened again; it is rejected where the disk refuses. Closing twice is fine.
   */
  close(): Promise<void> {
    return this.#core.close();
  }

  /** Whether it was closed. */
  get isClosed(): boolean {
    return this.#core.handle.isClosed;
  }

  [Symbol.dispose](): void {
    // Who wants to know whether the disk has taken everything awaits `close`.
    this.close().catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** What it is and how many documents it has. */
  toJSON(): object {
    const { method, texts, keys, verify, minSimilarity, memory } = this.#core.about;
    const size = this.#core.handle.isClosed ? 'closed' : this.size;
    const least = verify === undefined ? {} : { minSimilarity };
    const most = memory === undefined ? {} : { memory };
    return { method, size, verify: verify ?? false, ...least, texts, keys, ...most };
  }

  async #checkMany(
    items: unknown,
    options: (AddManyOptions & DuplicateOptions & PositionOptions & JobOptions) | undefined,
    part?: Part,
  ): Promise<CheckedItems<M>> {
    const { at, onDuplicate, keys, position, signal } = check.checked(options, CHECK_JOB);
    const each = timesFor(items, at);
    const checked = await this.#core.batch(
      items,
      signal,
      (index, batch, cancel) =>
        index.checkAndAddManyAsync(batch, each, onDuplicate, keys, position, cancel),
      part,
    );
    return this.#core.checked(checked);
  }
}

printedBy<Index>(Index, (index, depth, options, show) =>
  depth < 0 ? '[Index]' : `Index ${show(index.toJSON(), { ...options, depth })}`,
);
