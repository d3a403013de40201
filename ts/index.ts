/** Near-duplicate texts: fingerprints, an exact index over them, deduplication of streams and files. */
export { type Checked, CheckedItems } from './checked';
export type { ComparisonOptions, Rejected, Summary } from './comparison';
export { type Decision, type DedupOptions, type Doc, dedup } from './dedup';
export { type DedupFilesOptions, dedupFiles, type Progress } from './dedup-files';
export { SimHashError } from './errors';
export { type DifferingBit, type Explanation, explain, type SharedToken } from './explain';
export {
  Fingerprinter,
  type FingerprinterOptions,
  type JobOptions,
  type NormalizeOptions,
  type Text,
  type Token,
} from './fingerprinter';
export { Fingerprints } from './fingerprints';
export { type Match, Matches } from './matches';
export { type By, containment, fromHex, hammingDistance, jaccard, toHex } from './measure';
export {
  type Added,
  Index,
  type IndexOptions,
  type Item,
  type Items,
  type SearchOptions,
  type Stats,
} from './simhash-index';
