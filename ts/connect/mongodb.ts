/**
 * A MongoDB collection without its near-duplicates, in another collection, or with marks in place.
 *
 * ```text
 * source ─► read, in the order of _id ─► a file of the run ─► dedupFiles ─► a file of decisions ─► write ─► target, target.duplicates
 *                                                                                          └─► checkpoint in target.runs, after each batch
 * ```
 * The decisions are those of `dedupFiles` on the same documents. With `texts: false` it is one pass instead, from the source by fingerprints to the target. Killed at any moment and started again, a run goes on, and what is in the
 * collections in the end is what an uninterrupted one leaves. The package does not depend on the driver `mongodb` (version 6 or later): who uses this
 * entry installs it.
 */
import type { Collection, Document } from 'mongodb';
import type { DedupFilesOptions, Summary } from '../index';
import { takeBack } from './mongodb/back';
import { run } from './mongodb/pipeline';
import { planOf } from './mongodb/plan';
import { settingsOf } from './mongodb/settings';

/** How far a run is. */
export interface CollectionProgress {
  /** `'read'`: documents come from the source; `'decide'`; `'write'`: decisions go to the target. With `texts: false` all is `'write'`. */
  stage: 'read' | 'decide' | 'write';
  /** Documents read, decided or written in this stage, those of an earlier process included. */
  documents: number;
  /** All of them, as far as it is known: how many a `filter` leaves is not, before all are read. */
  total?: number;
}

/** The figures of a run: `read = kept + duplicates + rejected`. */
export interface CollectionSummary extends Summary {
  /** Wall time, reading and writing included: of the process that has ended the run, with `texts: false` of those before it too. */
  seconds: number;
  /** The id that every document written carries in its field `run`. */
  run: string;
  /** The run was done already; nothing was written. */
  repeated: boolean;
  /** The `_id` that was read last, as extended JSON; documents that came behind the cursor are not among those read. */
  lastId?: string;
  /** Documents that the source had when it was read to the end: where there are more than were read, some came meanwhile. */
  countAtEnd: number;
  /** Of `mark`: duplicates that have no mark, because they are gone since they were read, or the server has no room for it in the document. */
  unmarked?: number;
  /** The first ten of them, and why. */
  firstUnmarked?: string[];
}

/** A run over a collection. */
export interface DedupCollectionOptions
  extends Omit<
    DedupFilesOptions,
    | 'clusters'
    | 'mark'
    | 'list'
    | 'outputEncoding'
    | 'rejects'
    | 'report'
    | 'known'
    | 'index'
    | 'resume'
    | 'copy'
    | 'dryRun'
    | 'acrossFilesOnly'
    | 'onProgress'
    | 'idField'
    | 'format'
    | 'encoding'
    | 'header'
    | 'delimiter'
    | 'maxRecord'
  > {
  /** Which documents. Default all. */
  filter?: Document | undefined;
  /** Most documents that are read, 1 to 2^31 - 1. Default all. */
  limit?: number | undefined;
  /** A collection of documents that are there already, as an address or from the driver; they are read with the same `textField`. Default none. */
  known?: string | Collection | undefined;
  /** Write into collections that hold documents of others, too. Those stay as they are. Default false: such a target is refused. */
  append?: boolean | undefined;
  /**
   * `false`: documents are compared by their fingerprints alone (method `'simhash'`, nothing is verified, `maxDistance` 3 by default), and all is done in one pass, without
   * files: the fingerprint and the `_id` of each kept document are held in memory, some 150 bytes. For `keep: 'first'` and clusters around a representative, and not beside `mark`. Default true.
   */
  texts?: boolean | undefined;
  /** Instead of writing into a target: mark the duplicates in the source. Default false. */
  mark?: boolean | undefined;
  /** The field of a mark: `{ of, similarity, run }`. Default `'dedup'`. */
  markField?: string | undefined;
  /** Whether kept documents get their SimHash, as 16 hexadecimal digits, as a 64-bit integer, or not. Default `'string'`. */
  fingerprint?: 'string' | 'long' | false | undefined;
  /** Documents per command, 1 to 100,000. Default 2048. */
  batch?: number | undefined;
  /** Milliseconds that a process which is silent still holds the run for itself, from 1,000. Default 30,000. */
  lease?: number | undefined;
  /** A folder for the documents and the decisions until the run is done: twice the bytes of the texts, and some 300 to 500 for each document; {@link planCollection} says how much. Default in that of the system. */
  tmp?: DedupFilesOptions['tmp'];
  /**
   * File for one page of HTML about what the run found, as `dedupFiles` writes it; documents are named by their `_id` as extended JSON. It is made when everything is in the target, and
   * before the run counts as done: a run that was stopped goes on with it. Not beside `texts: false`, and not for a run that was done before.
   */
  report?: DedupFilesOptions['report'];
  /** Called at most 20 times a second. */
  onProgress?: ((progress: CollectionProgress) => void) | undefined;
}

/** The options of {@link dedupCollection} that say what a run has to do. */
export interface PlanCollectionOptions
  extends Omit<
    DedupCollectionOptions,
    | 'append'
    | 'texts'
    | 'mark'
    | 'markField'
    | 'fingerprint'
    | 'lease'
    | 'report'
    | 'reportTexts'
    | 'dateField'
    | 'onProgress'
  > {}

/** What one way takes. */
export interface WayPlan {
  /** Most bytes of memory of the process; `memory` bounds those of the verified way. */
  memoryBytes: number;
  /** Bytes in the folder of temporary files, `tmp`. */
  diskBytes: number;
  /** Seconds of processor time, of all threads together: a range. */
  cpuSeconds: { least: number; most: number };
}

/** What a run over a collection will take. Bytes are upper estimates for documents like those of the sample: of disk less than twice what a run takes. */
export interface CollectionPlan {
  /** Documents of the collection, or those that `filter` and `limit` leave. */
  documents: number;
  /** Those that were read for it, from both ends of the collection. */
  sampled: number;
  /** Whether these are all. */
  exact: boolean;
  /** Documents of `known`; they are taken for as large as those of the source. */
  known: number;
  /** Bytes of the texts of all. */
  textBytes: number;
  /** Seconds in which the server gives all documents, at the rate of the sample. What is kept has to be written, too. */
  readSeconds: number;
  /** The default: `dedupFiles` decides, by way of temporary files. */
  verified: WayPlan;
  /** `texts: false`: fingerprints alone. All documents are taken for different, which is the most that it holds. */
  fingerprints: WayPlan;
  /** What there is here now: memory, and disk where temporary files go. */
  free: { memoryBytes: number; diskBytes: number };
  /** The way to take: verified where it fits in what is free. Absent: neither does. */
  advised?: 'verified' | 'fingerprints';
}

/** Which marks {@link unmark} takes out. */
export interface UnmarkOptions {
  /** The field of the marks. Default `'dedup'`. */
  markField?: string | undefined;
  /** Those of this run alone. Default those of all that have marked. */
  run?: string | undefined;
  /** Stops it; which marks are gone then is not known, and the same call takes out the rest. */
  signal?: AbortSignal | undefined;
}

/** What {@link unmark} has done. */
export interface Unmarked {
  /** Documents whose marks were taken out. */
  documents: number;
}

/**
 * Writes the documents of a collection without their near-duplicates into another one, each as `{ _id, old_id, text, fingerprint, run }`,
 * and `{ _id, duplicateOf, similarity, run }` of each duplicate into `TARGET.duplicates`; or marks the duplicates where they are (`mark`).
 *
 * Collections are given as the driver gives them, or as `'mongodb://HOST/DATABASE.COLLECTION'` (see the documentation for `MONGODB_URI`). Ids may
 * be of any types, also of several in a collection. A document without a text is rejected and counted.
 *
 * Nobody else's documents are changed: a target that holds documents and is not that of this very run (source, options, version) is refused,
 * unless `append` is given. A run that was done is not done again; where fewer of its documents are in the target than it wrote, that is an error.
 *
 * @throws SimHashError ERR_SIMHASH_TARGET: the target holds what is not of this run, or no longer what it wrote, or a document to be marked has the field;
 *   ERR_SIMHASH_INPUT: a server cannot be reached, or an `_id` has no place in an order; ERR_SIMHASH_RUN_LOCKED: another process is at work on it, or has
 *   taken it over. What the driver throws passes through, without user and password.
 */
export async function dedupCollection(
  source: string | Collection,
  target: string | Collection | undefined,
  options?: DedupCollectionOptions,
): Promise<CollectionSummary> {
  return run(source, target, settingsOf(options));
}

/**
 * Says what {@link dedupCollection} will take by each of its two ways: memory, disk, processor time, and which of them fits here. Reads some 24 MB of texts, at most 100,000 documents, and
 * writes nothing but a temporary file.
 *
 * @throws TypeError, RangeError for options; SimHashError ERR_SIMHASH_INPUT: a server cannot be reached. What the driver throws passes through, without user and password.
 */
export async function planCollection(
  source: string | Collection,
  options?: PlanCollectionOptions,
): Promise<CollectionPlan> {
  return planOf(source, options);
}

/** Takes the marks of {@link dedupCollection} out of a collection: those of its runs alone, or of the one that is named. */
export async function unmark(
  source: string | Collection,
  options?: UnmarkOptions,
): Promise<Unmarked> {
  return takeBack(source, options);
}
