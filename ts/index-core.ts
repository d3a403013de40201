/**
 * What is behind an {@link Index}: the addon's index for as long as it is open, what a call may ask of it, and what is made of its answers.
 */
import { resolve } from 'node:path';
import { abortable } from './abort';
import { type Added, added } from './added';
import { binding } from './binding';
import { type Checked, CheckedItems, outcome } from './checked';
import { DIRECTORY, type DirectoryOptions, NO_DIRECTORY, nativeDirectory } from './directory';
import { fromNative, native, SimHashError, type SimHashErrorCode, typeError } from './errors';
import { JOB, type JobOptions } from './fingerprinter';
import { type Found, found } from './found';
import { Handle } from './handle';
import { nativeSearch, SEARCH, type SearchOptions } from './index-calls';
import { MemoryWatch } from './index-memory';
import { type CheckedOptions, INDEX, nativeIndexOptions, nativeOpenOptions } from './index-options';
import { batchOf, checkedItems, elementsOf } from './items';
import { type Match, match } from './matches';
import type { IndexMethod } from './method';
import type {
  Cancel,
  NativeAbout,
  NativeAdded,
  NativeChecked,
  NativeIndex,
  NativeSearch,
  NativeStopped,
} from './native';
import * as check from './options';
import { type Path, path as pathOf } from './path';
import type { Part } from './staging';

/** Numbers of one match in the buffer between the two sides: id, similarity, measure, and whether it is verified. */
const STRIDE = 4;
/** Matches that a search has room for before it has to ask twice. */
const ROOM = 32;

type Triple = readonly [number, number, number];
type Opening = (signal: AbortSignal | undefined) => Promise<NativeIndex>;

/** An index of the addon, and how a folder that is only read is opened again. */
interface Opened {
  readonly native: NativeIndex;
  readonly reopen?: Opening;
}

/** An index of these options, in memory. */
export function made(options: object | undefined): Opened {
  const given = check.checked<CheckedOptions>(options, { ...INDEX, ...NO_DIRECTORY });
  const how = nativeIndexOptions(given);
  return { native: native(() => new binding.NativeIndex(how)) };
}

/** The index of a folder or a saved file. */
export async function opened(path: Path, options: object | undefined): Promise<Opened> {
  const { signal, ...given } = check.checked<CheckedOptions & DirectoryOptions & JobOptions>(
    options,
    { ...INDEX, ...DIRECTORY, ...JOB },
  );
  const file = resolve(pathOf(path, 'path'));
  const how = { ...nativeOpenOptions(given), ...nativeDirectory(given) };
  const open: Opening = (signal) =>
    abortable(signal, (cancel) => binding.NativeIndex.open(file, how, cancel));
  const index = await open(signal);
  return given.readOnly ? { native: index, reopen: open } : { native: index };
}

/** {@link opened} while the JavaScript thread waits. */
export function openedSync(path: Path, options: object | undefined): Opened {
  const given = check.checked<CheckedOptions & DirectoryOptions>(options, {
    ...INDEX,
    ...DIRECTORY,
  });
  const how = { ...nativeOpenOptions(given), ...nativeDirectory(given) };
  const file = resolve(pathOf(path, 'path'));
  return { native: native(() => binding.NativeIndex.openSync(file, how)) };
}

/** Calls of one item: functions of the addon with an index of their own, for calls of methods cost 0.4 µs more. */
type Search = ReturnType<NativeIndex['searcher']>;
type CheckAndAdd = ReturnType<NativeIndex['checker']>;

/** The addon's index of an {@link Index} and what is known of it. */
export class Core<M extends IndexMethod> {
  handle: Handle<NativeIndex>;
  #search: Search;
  #checkAndAdd: CheckAndAdd;
  readonly about: NativeAbout & { readonly method: M };
  readonly #reopen: Opening | undefined;
  readonly #elements: ReturnType<typeof elementsOf>;
  /** Where the addon writes what a single call has found. */
  #out = new Float64Array(1 + STRIDE * ROOM);
  readonly #watch: MemoryWatch | undefined;
  #closing: Promise<void> | undefined;

  constructor({ native: index, reopen }: Opened) {
    this.handle = new Handle(index, 'Index');
    this.#search = index.searcher();
    this.#checkAndAdd = index.checker();
    this.about = index.about() as NativeAbout & { readonly method: M };
    this.#reopen = reopen;
    this.#elements = elementsOf(this.about.method, this.about.texts);
    const { memory } = this.about;
    this.#watch = memory === undefined ? undefined : new MemoryWatch(memory);
  }

  get native(): NativeIndex {
    return this.handle.native;
  }

  /** For a change here and now; `form` is what to call where that would have to wait for the disk. */
  now(form: string): NativeIndex {
    if (!this.about.waits) return this.native;
    const why = "with durability: 'commit' a change waits for the disk";
    throw new SimHashError(
      'ERR_SIMHASH_ASYNC_ONLY',
      `${why}; use ${form}, which returns a promise`,
    );
  }

  /** For groups. */
  get grouped(): NativeIndex {
    if (this.about.groups) return this.native;
    const how = "make the index with method: 'sentences' and groups: true";
    throw typeError(`similarId and group need groups; ${how}`, 'ERR_INVALID_ARG_VALUE');
  }

  /** For a change of groups here and now. */
  get groupedNow(): NativeIndex {
    const index = this.grouped;
    void this.now('similarIdManyAsync');
    return index;
  }

  /** Options of a search as the addon takes them. */
  searching(options: SearchOptions<M> | undefined): NativeSearch {
    return nativeSearch(check.checked<SearchOptions<'simhash'>>(options, SEARCH), this.about);
  }

  search(item: unknown, options: SearchOptions<M> | undefined): Found<Match<M>> {
    const how = options === undefined ? undefined : this.searching(options);
    const index = this.native;
    try {
      let count = this.#search(item, this.#out, how);
      while (1 + STRIDE * count > this.#out.length) {
        this.#out = new Float64Array(1 + STRIDE * 2 * count);
        count = this.#search(item, this.#out, how);
      }
      return this.#found(index, count);
    } catch (error) {
      throw fromNative(error);
    }
  }

  /** What the addon has written of `count` matches. */
  #found(index: NativeIndex, count: number): Found<Match<M>> {
    const out = this.#out;
    const { method } = this.about;
    const keys = this.about.keys && count > 0 ? index.keysOf(out, count) : undefined;
    const matches: Match<M>[] = [];
    for (let row = 0, at = 1; row < count; row++, at += STRIDE) {
      const [id, similarity, measure] = [out[at], out[at + 1], out[at + 2]] as Triple;
      const key = keys?.[row] ?? undefined;
      matches.push(match(method, id, key, similarity, measure, out[at + 3] === 1));
    }
    return found(matches, out[0] === 1);
  }

  /** The outcome of one check, which `call` lets the addon write. */
  outcome(call: (checkAndAdd: CheckAndAdd, out: Float64Array) => void): Checked<M> {
    // Written when everything is done: code of the caller's that runs meanwhile may use it too.
    const out = this.#out;
    void this.now('checkAndAddManyAsync');
    call(this.#checkAndAdd, out);
    const { method, keys } = this.about;
    const [id, duplicateOf, similarity] = [out[0], out[1], out[2]] as Triple;
    const [measure, verified, truncated] = [out[3], out[4], out[5]] as Triple;
    const isNamed = keys && !Number.isNaN(duplicateOf);
    const named = isNamed ? (native(() => this.native.keyOf(duplicateOf)) ?? undefined) : undefined;
    const bits = [verified === 1, truncated === 1, out[6] === 1] as const;
    const numbers = [id, duplicateOf, similarity, measure] as const;
    return this.grown(outcome(method, numbers, bits, named));
  }

  /** Items as a call takes them that copies all of them before it returns. */
  items(items: unknown): ReturnType<typeof batchOf> {
    return batchOf(items, this.#elements);
  }

  /** Items gathered off the JavaScript thread, slice by slice. */
  batch<R>(
    items: unknown,
    signal: AbortSignal | undefined,
    start: (index: NativeIndex, batch: unknown, cancel: Cancel) => Promise<R>,
    part?: Part,
  ): Promise<R> {
    const elements = this.#elements;
    return this.handle.batch(checkedItems(items, elements), elements, signal, start, part);
  }

  /** A job, ended with the signal, during which the index stays open. */
  job<R>(
    signal: AbortSignal | undefined,
    start: (index: NativeIndex, cancel: Cancel) => Promise<R>,
  ): Promise<R> {
    return this.handle.lease((index) => abortable(signal, (cancel) => start(index, cancel)));
  }

  added(batch: NativeAdded): Added {
    return this.#whole(added(batch), batch.stopped);
  }

  checked(batch: NativeChecked): CheckedItems<M> {
    return this.#whole(CheckedItems.of(this.about.method, batch), batch.stopped);
  }

  /** What a batch has done; an error that has it, where memory ended or a key was refused. */
  #whole<R extends Added | CheckedItems<M>>(done: R, stopped: NativeStopped | undefined): R {
    this.grown(done);
    if (stopped === undefined) return done;
    const code = stopped.code as SimHashErrorCode;
    throw new SimHashError(code, stopped.message, { done: done as Added | CheckedItems });
  }

  /** After an addition: warns where the memory that was allowed is nearly used. */
  grown<R>(result: R): R {
    this.#watch?.look(this.handle, this.about.texts);
    return result;
  }

  async refresh(signal: AbortSignal | undefined): Promise<void> {
    const follows = await abortable(signal, (cancel) => this.native.refresh(cancel));
    if (follows) return;
    if (this.#reopen === undefined) {
      const why =
        'its writer has removed what this index would have to read; open the folder again';
      throw new SimHashError('ERR_SIMHASH_INPUT', why);
    }
    const before = this.handle;
    const next = new Handle(await this.#reopen(signal), 'Index');
    // Two at once, or a close meanwhile: the later one is not needed.
    if (this.handle !== before || before.isClosed) return next.close();
    this.handle = next;
    this.#search = next.native.searcher();
    this.#checkAndAdd = next.native.checker();
    before.close();
  }

  close(): Promise<void> {
    if (!this.about.durable) {
      this.handle.close();
      return this.handle.ended;
    }
    this.#closing ??= this.#release();
    return this.#closing;
  }

  async #release(): Promise<void> {
    let failure: { error: unknown } | undefined;
    this.handle.close(async (index) => {
      try {
        await abortable(undefined, (cancel) => index.release(cancel));
      } catch (error) {
        failure = { error };
      }
    });
    await this.handle.ended;
    if (failure !== undefined) throw failure.error;
  }
}
