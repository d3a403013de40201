import { resolve } from 'node:path';
import { abortable } from './abort';
import { type Added, added } from './added';
import { binding } from './binding';
import type { Text } from './documents';
import { native } from './errors';
import { JOB, type JobOptions } from './fingerprinter';
import type { Found } from './found';
import { Handle } from './handle';
import {
  AT,
  AT_MANY,
  DUPLICATE,
  type DuplicateOptions,
  type TimeOptions,
  type TimesOptions,
} from './index-options';
import type { NativeSentenceIndex } from './native';
import * as check from './options';
import {
  nativeSentenceIndexOptions,
  OPEN_SENTENCES,
  type OpenSentencesOptions,
  SENTENCE_INDEX,
  SENTENCE_SEARCH,
  type SentenceIndexOptions,
  type SentenceSearchOptions,
} from './sentence-index-options';
import {
  type SentenceChecked,
  type SentenceMatch,
  SentenceMatches,
  SentencesChecked,
} from './sentence-matches';
import { type Time, time } from './time';

/** Counts and bytes of an index of sentences. */
export interface SentenceStats {
  /** Live documents. */
  live: number;
  /** Groups of live documents. */
  groups: number;
  /** Distinct lists of longest sentences. */
  sketches: number;
  /**
   * Bytes of sketches, maps, ids and groups: with n sentences about `8 (n + 2) + 8.2 (n + 1) + 25` for each sketch (131 for
   * five), 12 to 16 for a further document with the same one.
   */
  bytes: number;
  /** Bytes of the times of documents, in an index with a window. */
  windowBytes: number;
  /** Bytes of the file of an index that was opened from one. */
  fileBytes: number;
  /** Bytes of an incomplete last change that opening the file cut off: what a crash had interrupted. */
  tornBytes: number;
  /** Searches whose answer a limit cut, so far. */
  truncated: number;
}

/**
 * An index of texts by their longest sentences: two texts are similar when they have one of them in common, whatever a page
 * has put around it. It finds reposts in frames of other pages, and excerpts; it also finds texts that only quote the same
 * sentence, and misses copies in which each of the sentences was changed.
 *
 * Ids grow by one from 0 and are never reused. Every text is in a group, named by the lowest id that ever was in it; a text
 * joins the groups of the oldest holder of each of its sentences, which become one. Groups are not split: neither by
 * deleting the text that joined them nor when a sentence becomes too common later. A sentence that too many sketches have
 * (`common`) does not count while that is so; whether it is depends on the order of the calls and on nothing else.
 *
 * A text without a sentence of `minLength` is similar to equal texts only (after normalisation); empty texts get an id and
 * match nothing. Single calls cost microseconds and the sentences of the text, and are synchronous; `…Many` makes the
 * sketches on all cores while the JavaScript thread waits; `…ManyAsync` leaves the JavaScript thread free, and copies its
 * input as that of `Index` does. An aborted job has changed nothing; once its sketches are made it is no longer aborted.
 *
 * Opened from a file, an index writes every change to it before the call returns, and answers from memory all the same.
 * An index belongs to the thread that made it.
 */
export class SentenceIndex {
  readonly #handle: Handle<NativeSentenceIndex>;

  /** @throws TypeError, RangeError for options that are unknown, of the wrong type or out of range. */
  constructor(options?: SentenceIndexOptions) {
    const index = options instanceof binding.NativeSentenceIndex ? options : made(options);
    this.#handle = new Handle(index, 'SentenceIndex');
  }

  get #native(): NativeSentenceIndex {
    return this.#handle.native;
  }

  /**
   * Opens the index of a file, and makes both if there is none. What was acknowledged is there again, whatever ended the
   * process; a change that was under way is there as a whole or not at all. The file is read once, which takes about as
   * long as adding the texts without making their sketches, and stays open: no other index can open it meanwhile.
   *
   * @throws SimHashError `ERR_SIMHASH_INDEX_DAMAGED`: the file is truncated, changed or something else, with the byte where
   * that was noticed; `ERR_SIMHASH_INDEX_FORMAT`: another release made it, in a format that this one does not read: build it
   * again; `ERR_SIMHASH_INDEX_MISMATCH`: it was made with other options than those given, or
   * with other sentences; `ERR_SIMHASH_INDEX_LOCKED`: it is open already; `ERR_SIMHASH_INPUT`, `ERR_SIMHASH_OUTPUT`: it cannot
   * be read or made. All name the file.
   */
  static async open(
    path: string,
    options?: OpenSentencesOptions & JobOptions,
  ): Promise<SentenceIndex> {
    const { signal, ...given } = check.checked(options, { ...OPEN_SENTENCES, ...JOB });
    const file = resolve(check.string(path, 'path'));
    const opened = await abortable(signal, (cancel) =>
      binding.NativeSentenceIndex.open(file, nativeSentenceIndexOptions(given), cancel),
    );
    return new SentenceIndex(opened as SentenceIndexOptions);
  }

  /** {@link open} while the JavaScript thread waits: for scripts, and for some ten thousand texts. */
  static openSync(path: string, options?: OpenSentencesOptions): SentenceIndex {
    const given = check.checked(options, OPEN_SENTENCES);
    const file = resolve(check.string(path, 'path'));
    const opened = native(() =>
      binding.NativeSentenceIndex.openSync(file, nativeSentenceIndexOptions(given)),
    );
    return new SentenceIndex(opened as SentenceIndexOptions);
  }

  /** Adds a text; the result is the name of its group: its own id if it is alone, the lowest of the group otherwise. */
  similarId(text: Text, options?: TimeOptions): number {
    const { at } = check.checked(options, AT);
    return native(() => this.#native.similarId(text, at));
  }

  /** As if {@link similarId} were called for every text in order; each answer is what it was then. */
  similarIdMany(texts: readonly Text[], options?: TimesOptions): Float64Array {
    const { at } = check.checked(options, AT_MANY);
    check.array(texts, 'texts');
    return native(() => this.#native.similarIdMany(texts, at));
  }

  /** {@link similarIdMany} off the JavaScript thread. */
  async similarIdManyAsync(
    texts: readonly Text[],
    options?: TimesOptions & JobOptions,
  ): Promise<Float64Array> {
    const { at, signal } = check.checked(options, { ...AT_MANY, ...JOB });
    check.array(texts, 'texts');
    return this.#handle.batch(texts, 'texts', signal, (index, batch, cancel) =>
      index.similarIdManyAsync(batch, at, cancel),
    );
  }

  /**
   * The name of a text's group now: an earlier answer of {@link similarId} leads to the group that it has become part of.
   * `undefined` for a text that has left, unless its id is the name of a group that lives on.
   */
  group(id: number): number | undefined {
    return native(() => this.#native.group(check.id(id, 'id'))) ?? undefined;
  }

  /** Adds a text; the result is its id. */
  add(text: Text, options?: TimeOptions): number {
    const { at } = check.checked(options, AT);
    return native(() => this.#native.add(text, at));
  }

  /** Adds many texts in order, all or none; see {@link Added} for their ids. */
  addMany(texts: readonly Text[], options?: TimesOptions): Added {
    const { at } = check.checked(options, AT_MANY);
    check.array(texts, 'texts');
    return added(native(() => this.#native.addMany(texts, at)));
  }

  /** {@link addMany} off the JavaScript thread. */
  async addManyAsync(texts: readonly Text[], options?: TimesOptions & JobOptions): Promise<Added> {
    const { at, signal } = check.checked(options, { ...AT_MANY, ...JOB });
    check.array(texts, 'texts');
    return added(
      await this.#handle.batch(texts, 'texts', signal, (index, batch, cancel) =>
        index.addManyAsync(batch, at, cancel),
      ),
    );
  }

  /** All live texts that are similar to this one, those that share most sentences first, then by id. `truncated` where some were left out. */
  search(text: Text, options?: SentenceSearchOptions): Found<SentenceMatch> {
    const { limit } = check.checked(options, SENTENCE_SEARCH);
    return new SentenceMatches(native(() => this.#native.search(text, limit))).get(0);
  }

  /** {@link search} for many texts, in columns. */
  searchMany(texts: readonly Text[], options?: SentenceSearchOptions): SentenceMatches {
    const { limit } = check.checked(options, SENTENCE_SEARCH);
    check.array(texts, 'texts');
    return new SentenceMatches(native(() => this.#native.searchMany(texts, limit)));
  }

  /** {@link searchMany} off the JavaScript thread. */
  async searchManyAsync(
    texts: readonly Text[],
    options?: SentenceSearchOptions & JobOptions,
  ): Promise<SentenceMatches> {
    const { limit, signal } = check.checked(options, { ...SENTENCE_SEARCH, ...JOB });
    check.array(texts, 'texts');
    return new SentenceMatches(
      await this.#handle.batch(texts, 'texts', signal, (index, batch, cancel) =>
        index.searchManyAsync(batch, limit, cancel),
      ),
    );
  }

  /**
   * Adds a text unless a live one is similar; looking and adding are one step. `onDuplicate` says what happens if one is;
   * `duplicateOf` is the one that shares most sentences, ties to the lowest id (of each sentence the 256 oldest holders are
   * looked at).
   */
  checkAndAdd(text: Text, options?: TimeOptions & DuplicateOptions): SentenceChecked {
    const { at, onDuplicate } = check.checked(options, { ...AT, ...DUPLICATE });
    return native(() => this.#native.checkAndAdd(text, at, onDuplicate));
  }

  /** As if {@link checkAndAdd} were called for every text in order. */
  checkAndAddMany(
    texts: readonly Text[],
    options?: TimesOptions & DuplicateOptions,
  ): SentencesChecked {
    const { at, onDuplicate } = check.checked(options, { ...AT_MANY, ...DUPLICATE });
    check.array(texts, 'texts');
    return new SentencesChecked(native(() => this.#native.checkAndAddMany(texts, at, onDuplicate)));
  }

  /** {@link checkAndAddMany} off the JavaScript thread. */
  async checkAndAddManyAsync(
    texts: readonly Text[],
    options?: TimesOptions & DuplicateOptions & JobOptions,
  ): Promise<SentencesChecked> {
    const checks = { ...AT_MANY, ...DUPLICATE, ...JOB };
    const { at, onDuplicate, signal } = check.checked(options, checks);
    check.array(texts, 'texts');
    return new SentencesChecked(
      await this.#handle.batch(texts, 'texts', signal, (index, batch, cancel) =>
        index.checkAndAddManyAsync(batch, at, onDuplicate, cancel),
      ),
    );
  }

  /** Whether an id is alive. */
  has(id: number): boolean {
    return native(() => this.#native.has(check.id(id, 'id')));
  }

  /** Takes an id away; false if it was not alive. Its group stays as it is. */
  delete(id: number): boolean {
    return native(() => this.#native.delete(check.id(id, 'id')));
  }

  /**
   * Takes every text away whose time is before `before`; the result is how many they were.
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
  stats(): SentenceStats {
    return native(() => this.#native.stats());
  }

  /**
   * Writes the whole index as it is at the call to a file that {@link open} opens, off the JavaScript thread. The next change
   * waits until a copy has been made in memory, not until it is written. The file appears whole or not at all; one that is
   * replaced keeps its permissions, and a symbolic link stays one. An index that was opened from this very file writes it
   * anew ({@link compact}).
   *
   * @throws SimHashError `ERR_SIMHASH_OUTPUT`, `ERR_SIMHASH_DISK_FULL`: the file cannot be written, or is a pipe or device;
   * `ERR_SIMHASH_INDEX_LOCKED`: another index has it open.
   */
  async save(path: string, options?: JobOptions): Promise<void> {
    const { signal } = check.checked(options, JOB);
    const file = resolve(check.string(path, 'path'));
    await abortable(signal, (cancel) => this.#native.save(file, cancel));
  }

  /**
   * Writes the index's file anew without what has left, off the JavaScript thread. Happens by itself when four times more was
   * written than is alive. Without a file nothing happens. Once it has begun it is no longer aborted.
   */
  async compact(options?: JobOptions): Promise<void> {
    const { signal } = check.checked(options, JOB);
    await abortable(signal, (cancel) => this.#native.compact(cancel));
  }

  /**
   * Later calls of this object throw `ERR_SIMHASH_CLOSED`; what was called before finishes. When the last of it has, or at
   * once, the memory is free and the file can be opened again. Closing twice is fine.
   */
  close(): void {
    this.#handle.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

function made(options: SentenceIndexOptions | undefined): NativeSentenceIndex {
  const given = check.checked(options, SENTENCE_INDEX);
  return native(() => new binding.NativeSentenceIndex(nativeSentenceIndexOptions(given)));
}
