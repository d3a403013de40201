import { resolve } from 'node:path';
import { abortable } from './abort';
import { type Added, added } from './added';
import { binding } from './binding';
import { calling, telling } from './callback';
import { type Checked, CheckedItems, outcome } from './checked';
import { Clusters } from './clusters';
import type { Documents, Text } from './documents';
import { about, fromNative, native, typeError } from './errors';
import { JOB, type JobOptions } from './fingerprinter';
import { type Found, found } from './found';
import { Handle } from './handle';
import { type AllOptions, type Arrival, checkAll } from './index-all';
import {
  ADD,
  ADD_JOB,
  ADD_MANY,
  type AddManyOptions,
  type AddOptions,
  CHECK,
  CHECK_JOB,
  CHECK_MANY,
  type DuplicateOptions,
  nativeSearch,
  SEARCH,
  SEARCH_JOB,
  type SearchOptions,
} from './index-calls';
import { MemoryWatch } from './index-memory';
import { type CheckedOptions, INDEX, nativeIndexOptions } from './index-options';
import type { Stats } from './index-stats';
import { printedBy } from './inspect';
import { batchOf, checkedItems, elementsOf, type Item, type Items } from './items';
import { type Match, Matches, match } from './matches';
import type { IndexMethod } from './method';
import type { NativeAbout, NativeIndex } from './native';
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
import { type Time, time } from './time';
import type { TextOfOptions } from './verify';

export type { Item, Items } from './items';

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

/** Numbers of one match in the buffer between the two sides: id, similarity, measure, and whether it is verified. */
const STRIDE = 4;
/** Matches that a search has room for before it has to ask twice. */
const ROOM = 32;

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
 * items, so that none of them waits for a batch. An aborted job has changed nothing if its first item was not yet added; after that
 * it ends with the item that it is at, what came before stays, and `size` says how much that is.
 *
 * With a `window` documents leave by themselves: an addition first takes away what its time makes too old, then what is
 * more than `maxCount`. A search takes nothing away. Additions come one at a time: one that meets a running batch waits
 * for some of its items, milliseconds to tens of them, and the first after a `save()` while ids are copied. Searches do not wait.
 *
 * An index belongs to the thread that made it; other workers of the process use it through {@link Index.share}.
 *
 * `M` is the method; `T` is `false` where no texts are stored, and fingerprints or signatures may come in their place.
 */
export class Index<M extends IndexMethod = IndexMethod, T extends boolean = boolean> {
  readonly #handle: Handle<NativeIndex>;
  readonly #about: NativeAbout & { readonly method: M };
  readonly #elements: ReturnType<typeof elementsOf>;
  /** Where the addon writes what a single call has found. */
  #out = new Float64Array(1 + STRIDE * ROOM);
  readonly #watch: MemoryWatch | undefined;

  /** @throws TypeError, RangeError for options that are unknown, of the wrong type, out of range or of another method. */
  constructor(options?: object) {
    const index = options instanceof binding.NativeIndex ? options : made(options);
    this.#handle = new Handle(index, 'Index');
    this.#about = index.about() as NativeAbout & { readonly method: M };
    this.#elements = elementsOf(this.#about.method, this.#about.texts);
    const { memory } = this.#about;
    this.#watch = memory === undefined ? undefined : new MemoryWatch(memory);
  }

  get #native(): NativeIndex {
    return this.#handle.native;
  }

  /** @internal */
  static async open(path: Path, options?: object): Promise<Index> {
    const { signal, ...given } = check.checked<CheckedOptions & JobOptions>(options, {
      ...INDEX,
      ...JOB,
    });
    const [file, how] = [resolve(pathOf(path, 'path')), nativeIndexOptions(given)];
    return new Index(
      await abortable(signal, (cancel) => binding.NativeIndex.open(file, how, cancel)),
    );
  }

  /** @internal */
  static openSync(path: Path, options?: object): Index {
    const how = nativeIndexOptions(check.checked(options, INDEX));
    const file = resolve(pathOf(path, 'path'));
    return new Index(native(() => binding.NativeIndex.openSync(file, how)));
  }

  /** How near-duplicates are looked for. */
  get method(): M {
    return this.#about.method;
  }

  /** Adds an item without looking for near ones; the result is its id. */
  add(item: Item<M, T>, options?: AddOptions): number {
    const { at, key } = check.checked(options, ADD);
    return this.#grown(native(() => this.#native.add(item, at, key)));
  }

  /**
   * Adds many items in order; see {@link Added} for their ids. All or none, but where `memory` ends
   * (`ERR_SIMHASH_MEMORY`): then those that came before are added.
   */
  addMany(items: Items<M, T>, options?: AddManyOptions): Added {
    const { at, keys } = check.checked(options, ADD_MANY);
    const batch = batchOf(items, this.#elements);
    return this.#grown(added(native(() => this.#native.addMany(batch, at, keys))));
  }

  /** {@link addMany} off the JavaScript thread. */
  async addManyAsync(items: Items<M, T>, options?: AddManyOptions & JobOptions): Promise<Added> {
    const { at, keys, signal } = check.checked(options, ADD_JOB);
    const batch = await this.#batch(items, signal, (index, batch, cancel) =>
      index.addManyAsync(batch, at, keys, cancel),
    );
    return this.#grown(added(batch));
  }

  /** All live documents near an item: verified ones by similarity, then the others; ties by id. `truncated` where a limit left some out. */
  search(item: Item<M, T>, options?: SearchOptions<M>): Found<Match<M>> {
    const how = options === undefined ? undefined : this.#search(options);
    const index = this.#native;
    try {
      let count = index.search(item, this.#out, how);
      while (1 + STRIDE * count > this.#out.length) {
        this.#out = new Float64Array(1 + STRIDE * 2 * count);
        count = index.search(item, this.#out, how);
      }
      return this.#found(index, count);
    } catch (error) {
      throw fromNative(error);
    }
  }

  /** {@link search} for many items, in columns. */
  searchMany(items: Items<M, T>, options?: SearchOptions<M>): Matches<M> {
    const how = this.#search(options);
    const batch = batchOf(items, this.#elements);
    return new Matches(
      this.method,
      native(() => this.#native.searchMany(batch, how)),
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
    const how = nativeSearch(given, this.method);
    const matches = await this.#batch(items, signal, (index, batch, cancel) =>
      index.searchManyAsync(batch, how, cancel),
    );
    return new Matches(this.method, matches);
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
    // Written when everything is done: code of the caller's that runs meanwhile may use it too.
    const out = this.#out;
    const index = this.#native;
    calling(textOf, (textOf) => index.checkAndAdd(item, out, at, onDuplicate, key, textOf));
    const [id, duplicateOf, similarity] = [out[0], out[1], out[2]] as Triple;
    const [measure, verified, truncated] = [out[3], out[4], out[5]] as Triple;
    const isNamed = this.#about.keys && !Number.isNaN(duplicateOf);
    const named = isNamed ? (native(() => index.keyOf(duplicateOf)) ?? undefined) : undefined;
    const numbers = [id, duplicateOf, similarity, measure] as const;
    return this.#grown(outcome(this.method, numbers, [verified === 1, truncated === 1], named));
  }

  /** As if {@link checkAndAdd} were called for every item in order; what every item needs is made on all cores. */
  checkAndAddMany(
    items: Items<M, T>,
    options?: AddManyOptions & DuplicateOptions,
  ): CheckedItems<M> {
    const { at, onDuplicate, keys } = check.checked(options, CHECK_MANY);
    const batch = batchOf(items, this.#elements);
    const checked = native(() => this.#native.checkAndAddMany(batch, at, onDuplicate, keys));
    return this.#grown(new CheckedItems(this.method, checked));
  }

  /** {@link checkAndAddMany} off the JavaScript thread. */
  async checkAndAddManyAsync(
    items: Items<M, T>,
    options?: AddManyOptions & DuplicateOptions & JobOptions,
  ): Promise<CheckedItems<M>> {
    const { at, onDuplicate, keys, signal } = check.checked(options, CHECK_JOB);
    const checked = await this.#batch(items, signal, (index, batch, cancel) =>
      index.checkAndAddManyAsync(batch, at, onDuplicate, keys, cancel),
    );
    return this.#grown(new CheckedItems(this.method, checked));
  }

  /**
   * {@link checkAndAdd} for everything that a source gives, in order, in batches off the JavaScript thread. At most two
   * batches are in flight, one collected while the other is decided; nothing is read ahead of that. A source that falls silent
   * holds nothing up: what it gave is decided after one turn of the event loop. Leaving the loop closes the source, and what
   * was added stays; an abort rejects with `signal.reason`. What the source throws passes through.
   */
  checkAndAddAll(
    source: Documents<Arrival<M, T>>,
    options?: AllOptions,
  ): AsyncGenerator<Checked<M>, void, undefined> {
    return checkAll(source, options, (items, how) =>
      this.checkAndAddManyAsync(items as Items<M, T>, how),
    );
  }

  /**
   * Adds a text; the result is the name of its group: its own id if it is alone, the lowest of the group otherwise. A text joins the groups of
   * the oldest holder of each of its sentences, which become one. For `'sentences'` with `groups: true`.
   */
  similarId(this: Index<'sentences', T>, text: Text, options?: AddOptions): number {
    const { at, key } = check.checked(options, ADD);
    return this.#grown(native(() => this.#grouped.similarId(text, at, key)));
  }

  /** As if {@link similarId} were called for every text in order; each answer is what it was then. */
  similarIdMany(
    this: Index<'sentences', T>,
    texts: readonly Text[],
    options?: AddManyOptions,
  ): Float64Array {
    const { at, keys } = check.checked(options, ADD_MANY);
    check.array(texts, 'texts');
    return this.#grown(native(() => this.#grouped.similarIdMany(texts, at, keys)));
  }

  /** {@link similarIdMany} off the JavaScript thread. */
  async similarIdManyAsync(
    this: Index<'sentences', T>,
    texts: readonly Text[],
    options?: AddManyOptions & JobOptions,
  ): Promise<Float64Array> {
    const { at, keys, signal } = check.checked(options, ADD_JOB);
    check.array(texts, 'texts');
    void this.#grouped;
    const groups = await this.#handle.batch(texts, 'texts', signal, (index, batch, cancel) =>
      index.similarIdManyAsync(batch, at, keys, cancel),
    );
    return this.#grown(groups);
  }

  /**
   * The name of a text's group now: an earlier answer of {@link similarId} leads to the group that it has become part of.
   * `undefined` for a text that has left, unless its id is the name of a group that lives on. Groups are not split: neither by
   * deleting the text that joined them nor when a sentence becomes too common later.
   */
  group(this: Index<'sentences', T>, id: number): number | undefined {
    return native(() => this.#grouped.group(check.id(id, 'id'))) ?? undefined;
  }

  /**
   * All pairs of live documents that match, each once, in batches; each batch is computed off the JavaScript thread
   * when it is asked for. Documents added meanwhile are not in it, documents deleted meanwhile are left out. Leaving the loop ends the work.
   */
  pairs(options?: PairsOptions<M>): AsyncGenerator<PairBatch<M>, void, undefined> {
    const { batch = 65_536, signal, ...given } = check.checked(options, PAIRS);
    const how = nativeSearch(given, this.method);
    const join = native(() => this.#native.pairs(how));
    return batches(this.method, join, batch, signal);
  }

  /** All clusters of live documents: those linked by chains of {@link pairs}. Works off the JavaScript thread, on all cores. */
  async clusters(options?: ClustersOptions<M>): Promise<Clusters> {
    const { onProgress, signal, ...given } = check.checked(options, CLUSTERS);
    const how = nativeSearch(given, this.method);
    return new Clusters(
      await telling(onProgress, signal, (report, cancel) =>
        this.#native.clusters(how, report, cancel),
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
   * Takes every document away whose time is before `before`; the result is how many they were. Up
   * to some microseconds for each of them: call it often rather than seldom.
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
  stats(): Stats<M> {
    return native(() => this.#native.stats()) as unknown as Stats<M>;
  }

  /**
   * Gives the memory back that deleted documents, their keys and texts still hold, merges the tables of method `'simhash'` into the
   * fastest form to search, and writes a file of changes anew. Works off the JavaScript thread; additions and searches go on, and what is added meanwhile need not be in it. Aborted, it stops waiting: what
   * has begun goes on behind.
   */
  async compact(options?: JobOptions): Promise<void> {
    const { signal } = check.checked(options, JOB);
    await abortable(signal, (cancel) => this.#native.compact(cancel));
  }

  /**
   * Writes the whole index as it is at this call to a file, off the JavaScript thread, for {@link Index.open}. What is added,
   * deleted or renewed after the call is not in it; of a batch under way it has the items that came before. Additions go on, but for the
   * time in which ids, keys and texts are copied: the first addition after the call may be the one to do so. The file is written beside its
   * name and then takes it: it appears whole or not at all, and what had the name before stays until then.
   *
   * @throws SimHashError `ERR_SIMHASH_OUTPUT`, `ERR_SIMHASH_DISK_FULL`: the file cannot be written.
   */
  async save(path: Path, options?: JobOptions): Promise<void> {
    const { signal } = check.checked(options, JOB);
    const file = resolve(pathOf(path, 'path'));
    await abortable(signal, (cancel) => this.#native.save(file, cancel));
  }

  /**
   * A handle by which other workers of this process use this very index: post it, and open it there with
   * {@link Index.fromShared}. All laws hold across workers: of two near-duplicates that two of them add at once exactly one
   * is kept. A handle keeps nothing alive; the index lives until every object that uses it is closed or collected, so keep
   * this one until the worker has opened it.
   */
  share(): SharedIndex<M, T> {
    const { method, texts } = this.#about;
    return { simhashIndex: native(() => this.#native.share()), method, texts: texts as T };
  }

  /** @internal */
  static fromShared(handle: SharedIndex): Index {
    const { simhashIndex } = check.checked(handle, SHARED, 'handle');
    const token = check.string(simhashIndex, 'handle.simhashIndex');
    return new Index(native(() => binding.NativeIndex.fromShared(token)));
  }

  /**
   * Later calls of this object throw `ERR_SIMHASH_CLOSED`; what was called before finishes. When the last of it has, or at
   * once, the memory is free, unless other workers use the index, and a file of changes can be opened again; a loop over
   * {@link pairs} then fails with the same code. Closing twice is fine.
   */
  close(): void {
    this.#handle.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** What it is and how many documents it has. */
  toJSON(): object {
    const { method, texts, keys, verify, minSimilarity, memory } = this.#about;
    const size = this.#handle.isClosed ? 'closed' : this.size;
    const least = verify === undefined ? {} : { minSimilarity };
    const most = memory === undefined ? {} : { memory };
    return { method, size, verify: verify ?? false, ...least, texts, keys, ...most };
  }

  /** The addon's index, where it keeps groups. */
  get #grouped(): NativeIndex {
    if (this.#about.groups) return this.#native;
    const how = "make the index with method: 'sentences' and groups: true";
    throw typeError(`similarId and group need groups; ${how}`, 'ERR_INVALID_ARG_VALUE');
  }

  #search(options: SearchOptions<M> | undefined) {
    const given = check.checked<SearchOptions<'simhash'>>(options, SEARCH);
    return nativeSearch(given, this.method);
  }

  /** What the addon has written of `count` matches. */
  #found(index: NativeIndex, count: number): Found<Match<M>> {
    const out = this.#out;
    const keys = this.#about.keys && count > 0 ? index.keysOf(out, count) : undefined;
    const matches: Match<M>[] = [];
    for (let row = 0, at = 1; row < count; row++, at += STRIDE) {
      const [id, similarity, measure] = [out[at], out[at + 1], out[at + 2]] as Triple;
      const key = keys?.[row] ?? undefined;
      matches.push(match(this.method, id, key, similarity, measure, out[at + 3] === 1));
    }
    return found(matches, out[0] === 1);
  }

  #batch<R>(
    items: unknown,
    signal: AbortSignal | undefined,
    start: Parameters<Handle<NativeIndex>['batch']>[3] extends infer S
      ? S extends (index: NativeIndex, batch: unknown, cancel: infer C) => unknown
        ? (index: NativeIndex, batch: unknown, cancel: C) => Promise<R>
        : never
      : never,
  ): Promise<R> {
    const elements = this.#elements;
    return this.#handle.batch(checkedItems(items, elements), elements, signal, start);
  }

  /** After an addition: warns where the memory that was allowed is nearly used. */
  #grown<R>(result: R): R {
    this.#watch?.look(this.#handle);
    return result;
  }
}

printedBy<Index>(Index, (index, depth, options, show) =>
  depth < 0 ? '[Index]' : `Index ${show(index.toJSON(), { ...options, depth })}`,
);

type Triple = readonly [number, number, number];

function made(options: object | undefined): NativeIndex {
  const given = check.checked(options, INDEX);
  if (given.durability !== undefined) {
    const why = 'is for Index.open: an index that is made in memory has no file to keep changes in';
    throw about(typeError(`durability ${why}`, 'ERR_INVALID_ARG_VALUE'), 'durability');
  }
  const how = nativeIndexOptions(given);
  return native(() => new binding.NativeIndex(how));
}
