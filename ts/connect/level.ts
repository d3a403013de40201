/**
 * An index of sentences in a store of the caller's: a LevelDB, or whatever has five methods.
 *
 * ```text
 * PREFIX!meta                          JSON: version, generation, options, recipe
 * PREFIX!GENERATION!a!NUMBER           the whole as it once was, in parts
 * PREFIX!GENERATION!b!NUMBER           the changes since, one value per write
 * ```
 * The store keeps what the index writes down and gives it back in order; all questions are answered from memory. Nothing of the
 * package depends on a database. What is public here has its types from the main entry, so that they are the same.
 */
import { abortable } from '../abort';
import { binding } from '../binding';
import { native, SimHashError } from '../errors';
import { JOB } from '../fingerprinter';
import { given } from '../given';
import type { Index, JobOptions, SentencesOptions } from '../index';
import { Core } from '../index-core';
import { INDEX, nativeIndexOptions } from '../index-options';
import { finished, Index as Live, leased } from '../live-index';
import type { NativeIndex } from '../native';
import * as check from '../options';
import { changesKey, contents, type Kept, type KeptOptions, readMeta, replaceAll } from './store';

/** What a store of one's own must be able to do. Keys are ASCII, and compared byte by byte. */
export interface Store {
  /** The value of a key; `undefined`: it has none. */
  get(key: string): Promise<Uint8Array | undefined>;
  /** The entries from key `first` to key `last`, both inclusive, in the order of their keys. */
  entries(first: string, last: string): AsyncIterable<readonly [key: string, value: Uint8Array]>;
  /** Writes entries, all or none. What it resolves for is kept: it says how safe that is. */
  put(entries: readonly (readonly [key: string, value: Uint8Array])[]): Promise<void>;
  /** Deletes the keys from `first` to `last`, both inclusive. */
  delete(first: string, last: string): Promise<void>;
  /** The index was closed: nothing follows. */
  close(): Promise<void>;
}

/** Encodings that a {@link Level} is told with every call. */
export interface LevelEncodings {
  keyEncoding: 'utf8';
  valueEncoding: 'view';
}

/**
 * A database with the interface of `abstract-level` (version 1 or later), as far as it is used: `level`, `classic-level`, `memory-level`,
 * `browser-level` or a sublevel of one of them.
 */
export interface Level {
  /** Writes all operations or none; `sync` has LevelDB wait for the disk. */
  batch(
    operations: { type: 'put'; key: string; value: Uint8Array }[],
    options: LevelEncodings & { sync: boolean },
  ): Promise<void>;
  /** Entries in the order of their keys. */
  iterator(
    options: { gte: string; lte: string } & LevelEncodings,
  ): AsyncIterable<[string, Uint8Array]>;
  /** Deletes the keys of a range. */
  clear(options: { gte: string; lte: string; keyEncoding: 'utf8' }): Promise<void>;
}

/** How an index in a store is opened; what exists must have been made with what is given. */
export interface KeptIndexOptions
  extends Pick<
      SentencesOptions,
      'sentences' | 'minLength' | 'hash' | 'common' | 'window' | 'threads' | 'normalize'
    >,
    JobOptions {
  /** Begins every key, so that other things can be in the store. Default `'simhash-sentences'`. */
  prefix?: string | undefined;
}

/** How one in a LevelDB is opened. */
export interface LevelIndexOptions extends KeptIndexOptions {
  /** Passed to every write: whether the database has the disk write it before it acknowledges. Default true. */
  sync?: boolean | undefined;
}

const KEPT: check.Checks<LevelIndexOptions> = {
  ...JOB,
  sentences: INDEX.sentences,
  minLength: INDEX.minLength,
  hash: INDEX.hash,
  common: INDEX.common,
  window: INDEX.window,
  threads: INDEX.threads,
  normalize: INDEX.normalize,
  prefix: check.string,
  sync: check.boolean,
};
const OWN: check.Checks<LevelIndexOptions> = {
  ...KEPT,
  sync: check.notHere('is for a LevelDB: a store of your own knows how it writes'),
};

/** Bytes of changes that are written before the whole takes their place: below, it is not worth it. */
const LEAST = 4 << 20;
/** Bytes of changes per live text that are kept at most: four times what one addition takes. */
const PER_TEXT = 4 * 64;

/**
 * An `Index` of sentences with groups, and the store that keeps it. The index is changed and asked as any other; its changes
 * are kept when a {@link flush} that came after them has resolved, and until then they are in memory alone: await one wherever
 * something must not be lost. One index at a time may use a prefix of a store.
 */
export class KeptIndex {
  /** The index. It keeps no keys and no texts. */
  readonly index: Index<'sentences', false>;
  readonly #kept: Kept;
  /** Writes come one after the other. */
  #queue: Promise<void> = Promise.resolve();
  #failed: unknown;
  #closed: Promise<void> | undefined;

  private constructor(index: Index<'sentences', false>, kept: Kept) {
    this.index = index;
    this.#kept = kept;
  }

  /**
   * Opens the index that a store has under the prefix, or an empty one. A database has to be open, or to open by itself; it
   * is not closed by the index.
   *
   * @throws SimHashError `ERR_SIMHASH_INDEX_MISMATCH`: it was made with other options than those given;
   * `ERR_SIMHASH_INDEX_DAMAGED`: something is missing or cannot be read.
   */
  static open(db: Level, options?: LevelIndexOptions): Promise<KeptIndex>;
  static open(store: Store, options?: KeptIndexOptions): Promise<KeptIndex>;
  static async open(where: Level | Store, options?: LevelIndexOptions): Promise<KeptIndex> {
    const level = isLevel(where);
    const {
      signal,
      prefix = 'simhash-sentences',
      sync = true,
      sentences,
      ...texts
    } = check.checked<LevelIndexOptions>(options, level ? KEPT : OWN);
    const store = level ? storeOf(where, sync) : checkedStore(where);
    const { common, window: asked } = texts;
    const wanted: KeptOptions = given({ count: sentences, common, window: asked });
    const meta = await readMeta(store, prefix);
    const made = meta?.options ?? resolved(wanted);
    agree(prefix, made, wanted);
    const { whole, changes, bytes } = await contents(store, prefix, meta?.generation ?? 0);
    const window = made.window && { ...made.window, maxSkew: asked?.maxSkew };
    const core = nativeIndexOptions({
      ...texts,
      ...given({ sentences: made.count, common: made.common, window }),
      method: 'sentences',
      groups: true,
    });
    const index = (await abortable(signal, (cancel) =>
      binding.NativeIndex.kept(core, whole, changes, cancel),
    ).catch((error: unknown) => {
      throw damaged(prefix, error);
    })) as NativeIndex;
    const recipe = native(() => index.recipe());
    if (meta !== undefined && meta.recipe !== recipe) {
      index.close();
      throw mismatch(prefix, 'sentences', meta.recipe, recipe);
    }
    const { generation = 0 } = meta ?? {};
    const kept: Kept = {
      store,
      prefix,
      options: made,
      recipe,
      generation,
      next: changes.length,
      bytes,
    };
    const opened = new KeptIndex(
      new Live(new Core({ native: index })) as Index<'sentences', false>,
      kept,
    );
    if (meta === undefined) await opened.compact();
    return opened;
  }

  /**
   * Writes what was changed since the last write; resolves when the store has it, and what others wrote meanwhile with it. Several calls at
   * once are one write. A write that fails is the last: the store is behind the memory then, and the index must be opened again.
   *
   * @throws SimHashError `ERR_SIMHASH_OUTPUT`: this write failed, or one before it.
   */
  flush(): Promise<void> {
    return this.#lease((index) => this.#write(() => this.#append(index)));
  }

  /**
   * Writes the whole in place of the changes. Happens by itself when four times more was written than is alive. Once it has
   * begun it is no longer aborted.
   */
  async compact(options?: JobOptions): Promise<void> {
    const { signal } = check.checked(options, JOB);
    signal?.throwIfAborted();
    return this.#lease((index) => this.#write(() => this.#rewrite(index)));
  }

  /**
   * Closes the index, waits for what was called before, and flushes it; then the store is told. A database stays open. Closing twice is
   * fine. What was not flushed when the index itself is closed is lost.
   */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(): Promise<void> {
    let failure: { readonly error: unknown } | undefined;
    await finished(this.index as unknown as Live, async (index) => {
      // Behind a write that failed there is nothing to be written.
      if (this.#failed !== undefined) return;
      await this.#write(() => this.#append(index)).catch((error: unknown) => {
        failure = { error };
      });
    });
    await this.#queue;
    await this.#kept.store.close();
    if (failure !== undefined) throw failure.error;
  }

  #lease<R>(work: (index: NativeIndex) => Promise<R>): Promise<R> {
    return leased(this.index as unknown as Live, work);
  }

  /** Writes when those before have been written. What fails here fails for good: memory is ahead of the store. */
  #write(work: () => Promise<void>): Promise<void> {
    const done = this.#queue.then(async () => {
      if (this.#failed !== undefined) throw stopped(this.#kept.prefix, this.#failed);
      try {
        await work();
      } catch (error) {
        this.#failed = error;
        throw stopped(this.#kept.prefix, error);
      }
    });
    this.#queue = done.catch(() => undefined);
    return done;
  }

  async #append(index: NativeIndex): Promise<void> {
    const kept = this.#kept;
    const changes = native(() => index.takeChanges());
    // Another call's write took them along.
    if (changes.length === 0) return;
    await kept.store.put([[changesKey(kept, kept.next), changes]]);
    kept.next += 1;
    kept.bytes += changes.length;
    if (kept.bytes > LEAST + PER_TEXT * index.size()) await this.#rewrite(index);
  }

  async #rewrite(index: NativeIndex): Promise<void> {
    const whole = await abortable(undefined, (cancel) => index.whole(cancel));
    await replaceAll(this.#kept, whole);
  }
}

/** The options that decide what is similar, every default spelled out; not how far times may be ahead of the clock. */
function resolved(given: KeptOptions): KeptOptions {
  const { count = 5, common } = given;
  const { share = 0.001, count: least = 5 } = common === false ? { share: 1 } : (common ?? {});
  const { maxSkew: _, ...window } = given.window ?? {};
  return { count, common: { share, count: least }, ...(given.window && { window }) };
}

function agree(prefix: string, made: KeptOptions, given: KeptOptions): void {
  const { maxSkew, ...limits } = given.window ?? {};
  // A skew alone says nothing about the limits.
  const window =
    maxSkew !== undefined && Object.keys(limits).length === 0 ? made.window : given.window;
  const asked = resolved({ ...made, ...given, ...(window && { window }) });
  for (const option of ['count', 'common', 'window'] as const) {
    const [saved, wanted] = [shown(made[option]), shown(asked[option])];
    if (saved !== wanted)
      throw mismatch(prefix, option === 'count' ? 'sentences' : option, saved, wanted);
  }
}

function shown(value: KeptOptions[keyof KeptOptions]): string {
  if (typeof value !== 'object') return String(value);
  return JSON.stringify(value, Object.keys(value).sort());
}

function mismatch(prefix: string, option: string, saved: string, given: string): SimHashError {
  const message = `the index ${JSON.stringify(prefix)} was made with ${option} (${saved}) and is opened with (${given})`;
  return new SimHashError('ERR_SIMHASH_INDEX_MISMATCH', message);
}

function damaged(prefix: string, error: unknown): unknown {
  if (!(error instanceof SimHashError) || error.code !== 'ERR_SIMHASH_INDEX_DAMAGED') return error;
  // What the addon says of changes that it did not read from a file: `damaged at byte …`.
  const message = `the index ${JSON.stringify(prefix)} is ${error.message}`;
  return new SimHashError(error.code, message, { cause: error });
}

function stopped(prefix: string, cause: unknown): unknown {
  const message = `the changes of the index ${JSON.stringify(prefix)} could not be written; open it again`;
  return new SimHashError('ERR_SIMHASH_OUTPUT', message, { cause });
}

/** Whether something has these methods. */
function can(value: unknown, ...methods: readonly string[]): boolean {
  const has = (name: string) => typeof Reflect.get(Object(value), name) === 'function';
  return typeof value === 'object' && value !== null && methods.every(has);
}

function isLevel(where: unknown): where is Level {
  return can(where, 'batch', 'iterator', 'clear');
}

function checkedStore(where: unknown): Store {
  if (can(where, 'get', 'entries', 'put', 'delete', 'close')) return where as Store;
  const expected =
    'a database with the interface of abstract-level, or a store with get, entries, put, delete and close';
  throw check.wrongType('store', expected, where);
}

const ENCODED: LevelEncodings = { keyEncoding: 'utf8', valueEncoding: 'view' };

/** A LevelDB as a store. */
function storeOf(db: Level, sync: boolean): Store {
  const entries = (gte: string, lte: string) => db.iterator({ gte, lte, ...ENCODED });
  return {
    entries,
    get: async (key) => {
      for await (const [, value] of entries(key, key)) return value;
      return undefined;
    },
    put: (entries) => {
      const operations = entries.map(([key, value]) => ({ type: 'put' as const, key, value }));
      return db.batch(operations, { ...ENCODED, sync });
    },
    delete: (gte, lte) => db.clear({ gte, lte, keyEncoding: 'utf8' }),
    // It is the caller's.
    close: async () => {},
  };
}
