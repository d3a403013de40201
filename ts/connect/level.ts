/**
 * An index of sentences in a LevelDB of the caller's: any database with the interface of `abstract-level`.
 *
 * ```text
 * PREFIX!meta                          JSON: version, generation, options, recipe
 * PREFIX!GENERATION!a!NUMBER           the whole as it once was, in parts
 * PREFIX!GENERATION!b!NUMBER           the changes since, one value per write
 * ```
 * The database keeps what the index writes down and gives it back in order; all questions are answered from memory. A write
 * that several calls wait for is one. Nothing of the package depends on a database: what it must be able to do is spelled
 * out in {@link Level}.
 */
import { abortable } from '../abort';
import { type Added, added } from '../added';
import { binding } from '../binding';
import { type Checked, CheckedItems } from '../checked';
import type { Text } from '../documents';
import { native, SimHashError } from '../errors';
import { JOB, type JobOptions } from '../fingerprinter';
import type { Found } from '../found';
import { given } from '../given';
import { Handle } from '../handle';
import type { DuplicateOptions, SearchOptions } from '../index-calls';
import { nativeIndexOptions, type SentencesIndexOptions, type Window } from '../index-options';
import type { Stats } from '../index-stats';
import { type Match, Matches } from '../matches';
import type { NativeIndex } from '../native';
import * as check from '../options';
import { type Time, time } from '../time';
import {
  AT,
  AT_JOB,
  CHECK_AT,
  CHECK_AT_JOB,
  type KeptOptions,
  LEVEL,
  type LevelSentencesOptions,
  SEARCH_TEXT,
  SEARCH_TEXTS,
  type TimeOptions,
  type TimesOptions,
} from './level-options';
import {
  changesKey,
  contents,
  type Kept,
  type Level,
  put,
  readMeta,
  replaceAll,
} from './level-store';

export type { LevelSentencesOptions, TimeOptions, TimesOptions } from './level-options';
export type { Level } from './level-store';

/** Bytes of changes that are written before the whole takes their place: below, it is not worth it. */
const LEAST = 4 << 20;
/** Bytes of changes per live text that are kept at most: four times what one addition takes. */
const PER_TEXT = 4 * 64;

/**
 * An `Index` of sentences with groups whose changes a LevelDB keeps. The verbs are the same; those that change something are asynchronous and
 * resolve when the database has acknowledged. One index at a time may use a prefix of a database.
 */
export class LevelSentenceIndex {
  readonly #handle: Handle<NativeIndex>;
  readonly #kept: Kept;
  /** Writes come one after the other. */
  #queue: Promise<void> = Promise.resolve();
  #failed: unknown;

  private constructor(index: NativeIndex, kept: Kept) {
    this.#handle = new Handle(index, 'LevelSentenceIndex');
    this.#kept = kept;
  }

  get #native(): NativeIndex {
    return this.#handle.native;
  }

  /**
   * Opens the index that the database has under the prefix, or an empty one. The database has to be open, or to open by
   * itself; it is not closed by the index.
   *
   * @throws SimHashError `ERR_SIMHASH_INDEX_MISMATCH`: it was made with other options than those given;
   * `ERR_SIMHASH_INDEX_DAMAGED`: something is missing or cannot be read.
   */
  static async open(
    db: Level,
    options?: LevelSentencesOptions & JobOptions,
  ): Promise<LevelSentenceIndex> {
    const {
      signal,
      prefix = 'simhash-sentences',
      sync = true,
      sentences,
      ...texts
    } = check.checked<LevelSentencesOptions & JobOptions>(options, { ...LEVEL, ...JOB });
    const { common, window: asked } = texts;
    const wanted: KeptOptions = given({ count: sentences, common, window: asked });
    checkLevel(db);
    const meta = await readMeta(db, prefix);
    const made = meta?.options ?? resolved(wanted);
    agree(prefix, made, wanted);
    const { whole, changes, bytes } = await contents(db, prefix, meta?.generation ?? 0);
    const window = made.window && { ...made.window, maxSkew: asked?.maxSkew };
    const core = nativeIndexOptions({
      ...texts,
      ...given({ sentences: made.count, common: made.common, window }),
      method: 'sentences',
      groups: true,
      texts: 0,
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
    const kept: Kept = {
      db,
      prefix,
      sync,
      options: made,
      recipe,
      generation: 0,
      next: 0,
      bytes: 0,
    };
    Object.assign(kept, { generation: meta?.generation ?? 0, next: changes.length, bytes });
    const opened = new LevelSentenceIndex(index, kept);
    if (meta === undefined) await opened.compact();
    return opened;
  }

  /** Adds a text; the name of its group. */
  async similarId(text: Text, options?: TimeOptions): Promise<number> {
    const { at } = check.checked(options, AT);
    return this.#change((index) => native(() => index.similarId(text, at)));
  }

  /** As if {@link similarId} were called for every text in order, as one step. */
  async similarIdMany(
    texts: readonly Text[],
    options?: TimesOptions & JobOptions,
  ): Promise<Float64Array> {
    const { at, signal } = check.checked(options, AT_JOB);
    check.array(texts, 'texts');
    return this.#change(() =>
      this.#handle.batch(texts, 'texts', signal, (index, batch, cancel) =>
        index.similarIdManyAsync(batch, at, undefined, cancel),
      ),
    );
  }

  /** Adds a text; its id. */
  async add(text: Text, options?: TimeOptions): Promise<number> {
    const { at } = check.checked(options, AT);
    return this.#change((index) => native(() => index.add(text, at)));
  }

  /** Adds many texts in order, all or none; see {@link Added} for their ids. */
  async addMany(texts: readonly Text[], options?: TimesOptions & JobOptions): Promise<Added> {
    const { at, signal } = check.checked(options, AT_JOB);
    check.array(texts, 'texts');
    return added(
      await this.#change(() =>
        this.#handle.batch(texts, 'texts', signal, (index, batch, cancel) =>
          index.addManyAsync(batch, at, undefined, cancel),
        ),
      ),
    );
  }

  /** Adds a text unless a live one is similar; looking and adding are one step. */
  async checkAndAdd(
    text: Text,
    options?: TimeOptions & DuplicateOptions,
  ): Promise<Checked<'sentences'>> {
    const { at, onDuplicate } = check.checked(options, CHECK_AT);
    return this.#change((index) => {
      const batch = native(() =>
        index.checkAndAddMany([text], at === undefined ? at : Float64Array.of(at), onDuplicate),
      );
      return new CheckedItems('sentences', batch).get(0) as Checked<'sentences'>;
    });
  }

  /** As if {@link checkAndAdd} were called for every text in order, as one step. */
  async checkAndAddMany(
    texts: readonly Text[],
    options?: TimesOptions & DuplicateOptions & JobOptions,
  ): Promise<CheckedItems<'sentences'>> {
    const { at, onDuplicate, signal } = check.checked(options, CHECK_AT_JOB);
    check.array(texts, 'texts');
    const checked = await this.#change(() =>
      this.#handle.batch(texts, 'texts', signal, (index, batch, cancel) =>
        index.checkAndAddManyAsync(batch, at, onDuplicate, undefined, cancel),
      ),
    );
    return new CheckedItems('sentences', checked);
  }

  /** Takes an id away; false if it was not alive. */
  async delete(id: number): Promise<boolean> {
    const given = check.id(id, 'id');
    return this.#change((index) => native(() => index.delete(given)));
  }

  /** Takes every text away whose time is before `before`; how many they were. */
  async expire(before: Time): Promise<number> {
    const at = time(before, 'before');
    return this.#change((index) => native(() => index.expire(at)));
  }

  /** All live texts that are similar to this one, those that share most sentences first, then by id. */
  search(text: Text, options?: Pick<SearchOptions, 'limit'>): Found<Match<'sentences'>> {
    const { limit } = check.checked(options, SEARCH_TEXT);
    const how = limit === undefined ? undefined : { limit };
    const matches = native(() => this.#native.searchMany([text], how));
    return new Matches('sentences', matches).get(0);
  }

  /** {@link search} for many texts, off the JavaScript thread. */
  async searchMany(
    texts: readonly Text[],
    options?: Pick<SearchOptions, 'limit'> & JobOptions,
  ): Promise<Matches<'sentences'>> {
    const { limit, signal } = check.checked(options, SEARCH_TEXTS);
    check.array(texts, 'texts');
    const how = limit === undefined ? undefined : { limit };
    const matches = await this.#handle.batch(texts, 'texts', signal, (index, batch, cancel) =>
      index.searchManyAsync(batch, how, cancel),
    );
    return new Matches('sentences', matches);
  }

  /** The name of a text's group now; see `Index.group`. */
  group(id: number): number | undefined {
    return native(() => this.#native.group(check.id(id, 'id'))) ?? undefined;
  }

  /** Whether an id is alive. */
  has(id: number): boolean {
    return native(() => this.#native.has(check.id(id, 'id')));
  }

  /** Number of live ids. */
  get size(): number {
    return native(() => this.#native.size());
  }

  /** Counts and bytes. */
  stats(): Stats<'sentences'> {
    return native(() => this.#native.stats()) as unknown as Stats<'sentences'>;
  }

  /**
   * Writes the whole in place of the changes. Happens by itself when four times more was written than is alive. Once it has
   * begun it is no longer aborted.
   */
  async compact(options?: JobOptions): Promise<void> {
    const { signal } = check.checked(options, JOB);
    signal?.throwIfAborted();
    return this.#handle.lease((index) => this.#write(() => this.#rewrite(index)));
  }

  /**
   * Later calls of this object throw `ERR_SIMHASH_CLOSED`; what was called before finishes. When the last of it has, or at
   * once, the memory is free, and the promise resolves. The database stays open. Closing twice is fine.
   */
  close(): Promise<void> {
    this.#handle.close();
    return this.#handle.ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Changes the index, then has the database keep what was changed. */
  #change<T>(work: (index: NativeIndex) => T | Promise<T>): Promise<T> {
    return this.#handle.lease(async (index) => {
      if (this.#failed !== undefined) throw stopped(this.#kept.prefix, this.#failed);
      const result = await work(index);
      await this.#write(() => this.#append(index));
      return result;
    });
  }

  /** Writes when those before have been written. What fails here fails for good: memory is ahead of the database. */
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
    await put(kept, [[changesKey(kept, kept.next), changes]]);
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

function shown(value: SentencesIndexOptions['common'] | Window | number | undefined): string {
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

function checkLevel(db: unknown): void {
  const can = (name: string) =>
    typeof db === 'object' && db !== null && typeof Reflect.get(db, name) === 'function';
  if (!['batch', 'iterator', 'clear'].every(can)) {
    throw check.wrongType('db', 'a database with the interface of abstract-level', db);
  }
}
