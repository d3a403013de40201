import { resolve } from 'node:path';
import { abortable } from './abort';
import { type Added, added } from './added';
import { binding } from './binding';
import type { Text } from './documents';
import { native } from './errors';
import { fingerprinterOf, JOB, type JobOptions } from './fingerprinter';
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
import {
  type MinHashChecked,
  MinHashCheckedItems,
  type MinHashMatch,
  MinHashMatches,
} from './minhash-matches';
import {
  BANDS,
  type BandOptions,
  MINHASH_INDEX,
  MINHASH_SEARCH,
  type MinHashIndexOptions,
  type MinHashSearchOptions,
  nativeBandOptions,
  nativeMinHashIndexOptions,
} from './minhash-options';
import type { NativeMinHashIndex } from './native';
import { NATIVE } from './native-part';
import * as check from './options';
import { type Time, time } from './time';

/** What an index of signatures takes: a text, or a signature made with the same options. */
export type MinHashItem = Text | Uint32Array;

/** A plan of bands, and what it finds. */
export interface BandPlan {
  /** Bands. */
  bands: number;
  /** Positions per band. */
  rows: number;
  /** Positions of a signature, of which the bands use `bands * rows`. */
  hashes: number;
  /** The threshold that it was made for. */
  threshold: number;
  /** Probability that a pair at the threshold shares a band. */
  recall: number;
  /** Similarity at which half of the pairs share a band. */
  half: number;
  /** The S-curve: the probability of sharing a band at similarities 0, 0.05, … 1. Try `console.table(plan.curve)`. */
  curve: { similarity: number; probability: number }[];
  /** Bytes per document of the bands: 9 each. Signatures, where they are kept, take `4 * hashes` more. */
  bandBytes: number;
}

/** Counts and bytes of an index of signatures. */
export interface MinHashStats {
  /** Live ids. */
  live: number;
  /** Deleted ids whose entries are not all swept out yet, at most. */
  dead: number;
  /** Entries of the table: an id in a bucket. */
  entries: number;
  /** Keys with more than eight ids. */
  crowded: number;
  /** Bands. */
  bands: number;
  /** Positions per band. */
  rows: number;
  /** Bytes of the table: about 9 per document and band, and 96 KB; holes that the allocator keeps are not counted. */
  tableBytes: number;
  /** Bytes of what is known about ids. */
  idBytes: number;
  /** Bytes of the signatures kept. */
  signatureBytes: number;
  /** Bytes of the times of documents, in an index with a window. */
  windowBytes: number;
  /** Answers so far that a limit cut. */
  truncated: number;
}

/**
 * An index of MinHash signatures by bands: finds texts whose sets of features have a high Jaccard similarity.
 *
 * What it promises is its S-curve ({@link MinHashIndex.plan}): a pair of similarity s shares a band with probability
 * `1 - (1 - s^rows)^bands`, and what shares no band is not found. With signatures kept (the default) what shares a band is
 * confirmed by the estimated similarity, whose standard error is 3.5 % with 128 hashes: of pairs exactly at the threshold
 * about half pass. Search with a lower threshold, or keep bands alone, and compare the texts where that matters. Signatures
 * are of the features alone: long Chinese texts that share most pairs of characters and few passages are alike here, and so are
 * EP100 and EP1000, whose features are the same; `similarity()`, `dedup`, and `Index` with `verify` tell them apart.
 *
 * Ids, windows, times, batches and jobs are those of {@link Index}. Empty texts get an id and match nothing.
 */
export class MinHashIndex {
  readonly #handle: Handle<NativeMinHashIndex>;

  /** @throws TypeError, RangeError for options that are unknown, of the wrong type or out of range. */
  constructor(options?: MinHashIndexOptions) {
    const index = options instanceof binding.NativeMinHashIndex ? options : made(options);
    this.#handle = new Handle(index, 'MinHashIndex');
  }

  get #native(): NativeMinHashIndex {
    return this.#handle.native;
  }

  /**
   * Opens a saved index; the result is as the saved one was, its next id too. The file is read once and not held.
   * `fingerprinter`, `scheme`, `hashes` and `seed` must be those of the saved index (their defaults, where they are left
   * out); bands, threshold, limits and window come from the file, and must agree where they are given.
   *
   * @throws SimHashError `ERR_SIMHASH_INPUT`: the file cannot be read; `ERR_SIMHASH_INDEX_DAMAGED`: it is truncated,
   * changed or no index, with the byte where that was noticed; `ERR_SIMHASH_INDEX_FORMAT`: another release saved it, in a
   * format that this one does not read: build it again; `ERR_SIMHASH_INDEX_MISMATCH`: it was saved with other options. All name the file.
   */
  static async open(
    path: string,
    options?: MinHashIndexOptions & JobOptions,
  ): Promise<MinHashIndex> {
    const { signal, ...given } = check.checked(options, { ...MINHASH_INDEX, ...JOB });
    const file = resolve(check.string(path, 'path'));
    const [by, how] = [fingerprinterOf(given.fingerprinter), nativeMinHashIndexOptions(given)];
    const opened = await abortable(signal, (cancel) =>
      binding.NativeMinHashIndex.open(file, by[NATIVE], how, cancel),
    );
    return new MinHashIndex(opened as MinHashIndexOptions);
  }

  /** {@link open} while the JavaScript thread waits: for scripts, and for indexes of some ten thousand documents. */
  static openSync(path: string, options?: MinHashIndexOptions): MinHashIndex {
    const given = check.checked(options, MINHASH_INDEX);
    const file = resolve(check.string(path, 'path'));
    const [by, how] = [fingerprinterOf(given.fingerprinter), nativeMinHashIndexOptions(given)];
    const opened = native(() => binding.NativeMinHashIndex.openSync(file, by[NATIVE], how));
    return new MinHashIndex(opened as MinHashIndexOptions);
  }

  /** Bands and rows that an index of these options would have, and its S-curve. Builds nothing. */
  static plan(options?: BandOptions): BandPlan {
    const given = check.checked(options, BANDS);
    const { curve, ...plan } = native(() =>
      binding.bandPlan(nativeBandOptions(given), given.hashes),
    );
    const steps = curve.length - 1;
    const points = Array.from(curve, (probability, step) => ({
      similarity: step / steps,
      probability,
    }));
    return { ...plan, curve: points, bandBytes: 9 * plan.bands };
  }

  /** Adds an item without looking for similar ones; the result is its id. */
  add(item: MinHashItem, options?: TimeOptions): number {
    const { at } = check.checked(options, AT);
    return native(() => this.#native.add(item, at));
  }

  /** Adds many items in order, all or none; see {@link Added} for their ids. */
  addMany(items: readonly MinHashItem[], options?: TimesOptions): Added {
    const { at } = check.checked(options, AT_MANY);
    check.array(items, 'items');
    return added(native(() => this.#native.addMany(items, at)));
  }

  /** {@link addMany} off the JavaScript thread. */
  async addManyAsync(
    items: readonly MinHashItem[],
    options?: TimesOptions & JobOptions,
  ): Promise<Added> {
    const { at, signal } = check.checked(options, { ...AT_MANY, ...JOB });
    check.array(items, 'items');
    return added(
      await this.#handle.batch(items, 'signatures', signal, (index, batch, cancel) =>
        index.addManyAsync(batch, at, cancel),
      ),
    );
  }

  /** Live documents that share a band with an item: by similarity, or by number of bands where no signatures are kept; then by id. `truncated` where some were left out. */
  search(item: MinHashItem, options?: MinHashSearchOptions): Found<MinHashMatch> {
    const { threshold, limit } = check.checked(options, MINHASH_SEARCH);
    return new MinHashMatches(native(() => this.#native.search(item, threshold, limit))).get(0);
  }

  /** {@link search} for many items, in columns. */
  searchMany(items: readonly MinHashItem[], options?: MinHashSearchOptions): MinHashMatches {
    const { threshold, limit } = check.checked(options, MINHASH_SEARCH);
    check.array(items, 'items');
    return new MinHashMatches(native(() => this.#native.searchMany(items, threshold, limit)));
  }

  /** {@link searchMany} off the JavaScript thread. */
  async searchManyAsync(
    items: readonly MinHashItem[],
    options?: MinHashSearchOptions & JobOptions,
  ): Promise<MinHashMatches> {
    const { threshold, limit, signal } = check.checked(options, { ...MINHASH_SEARCH, ...JOB });
    check.array(items, 'items');
    return new MinHashMatches(
      await this.#handle.batch(items, 'signatures', signal, (index, batch, cancel) =>
        index.searchManyAsync(batch, threshold, limit, cancel),
      ),
    );
  }

  /**
   * Adds an item unless a match is there; looking and adding are one step. `onDuplicate` says what happens if one is;
   * `duplicateOf` is the best, ties to the lowest id.
   */
  checkAndAdd(item: MinHashItem, options?: TimeOptions & DuplicateOptions): MinHashChecked {
    const { at, onDuplicate } = check.checked(options, { ...AT, ...DUPLICATE });
    const { truncated, ...outcome } = native(() => this.#native.checkAndAdd(item, at, onDuplicate));
    return truncated ? { ...outcome, truncated } : outcome;
  }

  /** As if {@link checkAndAdd} were called for every item in order; the signatures are made on all cores. */
  checkAndAddMany(
    items: readonly MinHashItem[],
    options?: TimesOptions & DuplicateOptions,
  ): MinHashCheckedItems {
    const { at, onDuplicate } = check.checked(options, { ...AT_MANY, ...DUPLICATE });
    check.array(items, 'items');
    return new MinHashCheckedItems(
      native(() => this.#native.checkAndAddMany(items, at, onDuplicate)),
    );
  }

  /** {@link checkAndAddMany} off the JavaScript thread. Once the signatures are made it is no longer aborted. */
  async checkAndAddManyAsync(
    items: readonly MinHashItem[],
    options?: TimesOptions & DuplicateOptions & JobOptions,
  ): Promise<MinHashCheckedItems> {
    const checks = { ...AT_MANY, ...DUPLICATE, ...JOB };
    const { at, onDuplicate, signal } = check.checked(options, checks);
    check.array(items, 'items');
    return new MinHashCheckedItems(
      await this.#handle.batch(items, 'signatures', signal, (index, batch, cancel) =>
        index.checkAndAddManyAsync(batch, at, onDuplicate, cancel),
      ),
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

  /**
   * Takes every document away whose time is before `before`; the result is how many they were.
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
  stats(): MinHashStats {
    return native(() => this.#native.stats());
  }

  /**
   * Writes the whole index to a file, off the JavaScript thread: about 8 bytes per document and band, and 4 per position
   * where signatures are kept. Additions wait until it ends. The file appears whole or not at all, and what had the name
   * before stays until then.
   *
   * @throws SimHashError `ERR_SIMHASH_OUTPUT`, `ERR_SIMHASH_DISK_FULL`: the file cannot be written.
   */
  async save(path: string, options?: JobOptions): Promise<void> {
    const { signal } = check.checked(options, JOB);
    const file = resolve(check.string(path, 'path'));
    await abortable(signal, (cancel) => this.#native.save(file, cancel));
  }

  /**
   * Later calls of this object throw `ERR_SIMHASH_CLOSED`; what was called before finishes. When the last of it has, or at
   * once, the memory is free. Closing twice is fine.
   */
  close(): void {
    this.#handle.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

function made(options: MinHashIndexOptions | undefined): NativeMinHashIndex {
  const given = check.checked(options, MINHASH_INDEX);
  const by = fingerprinterOf(given.fingerprinter);
  const how = nativeMinHashIndexOptions(given);
  return native(() => new binding.NativeMinHashIndex(by[NATIVE], how));
}
