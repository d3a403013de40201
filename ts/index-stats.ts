/** Counts and bytes of an index. */
export interface Stats {
  /** Live ids. */
  live: number;
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
  /** Bytes of memtables, tables and directories. */
  tableBytes: number;
  /** Bytes of records, maps and id lists. */
  idBytes: number;
  /** Bytes of the times of documents, in an index with a window. */
  windowBytes: number;
  /** Bytes of keys. */
  keyBytes: number;
  /** Bytes of stored texts, and of the lists by which short ones are found. */
  textBytes: number;
  /** Whether tables lie in memory for which huge pages were asked. */
  hugePages: boolean;
  /** Whether a merge is running. */
  merging: boolean;
  /** Searches whose answer a limit cut, and checks that ended after comparing 1,000 texts, so far. */
  truncated: number;
}
