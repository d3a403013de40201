/** Counts and bytes of an index. */
import type { DurableStats } from './directory';
import type { IndexMethod } from './method';

/** What every method counts. */
interface CommonStats {
  /** Live ids. */
  live: number;
  /** All bytes of the index, those below together. */
  bytes: number;
  /** Bytes by which neighbours are found: tables, bands, sentences. Of `'sentences'` those of the ids too; 0 of `'exact'`, where ids find. */
  tableBytes: number;
  /** Bytes of ids: records, maps and id lists. 0 of `'sentences'`, whose ids are counted in `tableBytes`. */
  idBytes: number;
  /** Bytes of the times of documents, in an index with a window. */
  windowBytes: number;
  /** Bytes of keys, and of what was answered to those of duplicates (`onSameKey: 'repeat'`). */
  keyBytes: number;
  /** Bytes of stored texts. */
  textBytes: number;
  /** Answers so far that a limit cut. */
  truncated: number;
  /** What there is on the disk, of an index that writes to a folder. */
  durable?: DurableStats;
}

/** What each method counts beside that. */
interface OwnStats {
  simhash: {
    /** Distinct fingerprints in the tables. */
    fingerprints: number;
    /** Those of them without a live id, waiting to be purged. */
    dead: number;
    /** Fingerprints in memtables, not merged yet. */
    memtable: number;
    /** Fingerprints in each segment: one, if there is any. */
    segments: number[];
    /** Name of the plan. */
    plan: string;
    /** Tables of the plan. */
    tables: number;
    /** Whether tables lie in memory for which huge pages were asked. */
    hugePages: boolean;
    /** Whether a merge is running. */
    merging: boolean;
    /**
     * Whether a merge has failed, which is a defect of this package. Answers stay right and additions go on, in memtables that
     * grow from then on; `compact` and `save` end with `ERR_SIMHASH_MERGE`.
     */
    mergeFailed: boolean;
  };
  minhash: {
    /** Documents that have left and are still in buckets, waiting to be purged. */
    dead: number;
    /** Entries of all buckets. */
    entries: number;
    /** Buckets with more entries than are read. */
    crowded: number;
    /** Bands of the plan. */
    bands: number;
    /** Positions per band. */
    rows: number;
    /** Bytes of the signatures, where they are kept. */
    signatureBytes: number;
  };
  sentences: {
    /** Groups of live documents. */
    groups: number;
    /** Distinct lists of longest sentences. */
    sketches: number;
  };
  exact: unknown;
}

/** Counts and bytes of an index, by method. */
export type Stats<M extends IndexMethod = IndexMethod> = CommonStats & OwnStats[M];
