/** Near-duplicate texts: deduplication of streams and files, a live index by every method, fingerprints. */
export type { Added } from './added';
export { type Checked, CheckedItems, type Duplicate, type Unique } from './checked';
export { type Cluster, Clusters } from './clusters';
export type {
  ComparisonOptions,
  IndexedRun,
  Keep,
  ReadAs,
  Rejected,
  SameIds,
  Settled,
  Summary,
} from './comparison';
export { type Converted, type ConvertOptions, convertIndex } from './convert';
export { type CutManyOptions, type CutOptions, cut, cutMany, cutManyAsync } from './cut';
export type {
  Decision,
  DocKey,
  DuplicateDecision,
  KeptDecision,
  KnownDecision,
  RejectedDecision,
} from './decisions';
export { type Deduplication, dedup } from './dedup';
export { type DedupFilesOptions, dedupFiles, type Progress } from './dedup-files';
export type { DedupOptions, KeySelector, StreamOptions } from './dedup-options';
export { DedupState, openState, type StateOptions } from './dedup-state';
export { Dictionary } from './dictionary';
export type { DirectoryOptions, DurableStats } from './directory';
export type { Doc, Documents, Text, TextSelector, WebStream } from './documents';
export {
  type EdgeProgress,
  type MatchFilesOptions,
  type MatchSummary,
  matchFiles,
  type PairsFilesOptions,
  type PairsSummary,
  pairsFiles,
} from './edge-files';
export { SimHashError, type SimHashErrorCode, type SimHashErrorOptions } from './errors';
export {
  type EvaluatedDocument,
  type EvaluateOptions,
  type Evaluation,
  evaluate,
} from './evaluate';
export { type DifferingBit, type Explanation, explain, type SharedToken } from './explain';
export {
  Fingerprinter,
  type FingerprinterOptions,
  type JobOptions,
  type NoOptions,
  type Preset,
  type Token,
} from './fingerprinter';
export { Fingerprints } from './fingerprints';
export type { Format, FormOptions } from './form';
export type { Found } from './found';
export { Idf, type TrainOptions } from './idf';
export type { AllOptions, Arrival } from './index-all';
export type {
  AddManyOptions,
  AddOptions,
  DuplicateOptions,
  SearchOptions,
} from './index-calls';
export { Index, type IndexConstructor } from './index-constructor';
export type {
  AnyMethodOptions,
  BandWeights,
  CommonOptions,
  ExactIndexOptions,
  GivenBands,
  GroupOptions,
  IndexOptions,
  MinHashIndexOptions,
  MinHashOwnOptions,
  NoGroups,
  OnSameKey,
  RecalledBands,
  SentencesIndexOptions,
  SentencesOptions,
  SimHashIndexOptions,
  SimHashOptions,
  StoreOptions,
  UnverifiedOptions,
  VerifiedOptions,
  WeightedBands,
  Window,
} from './index-options';
export type { Stats } from './index-stats';
export type { Item, Items } from './items';
export type { Words } from './lexicon';
export type { SharedIndex } from './live-index';
export { type Match, Matches } from './matches';
export {
  type By,
  containment,
  cosine,
  fromHex,
  hammingDistance,
  jaccard,
  type LevenshteinOptions,
  levenshtein,
  similarity,
  toHex,
} from './measure';
export type { IndexMethod, Method } from './method';
export {
  MinHasher,
  type MinHasherOptions,
  type MinHashOptions,
  minHash,
  Signatures,
  type SimilarityEstimate,
} from './min-hasher';
export type { Normalize, NormalizeOptions } from './normalize';
export {
  type ClustersOptions,
  type JoinOptions,
  type Pair,
  PairBatch,
  type PairsOptions,
} from './pairs';
export type { Path } from './path';
export type {
  BandPlan,
  CommonPlan,
  IndexPlan,
  PlanBytes,
  PlanEstimate,
  PlanOptions,
  PlanSize,
} from './plan';
export { type FilesPlan, type PlanFilesOptions, planFiles } from './plan-files';
export type { ReportOptions } from './report/options';
export type { ReportProgress, ReportSummary } from './report/write';
export { type ReportFilesOptions, reportFiles } from './report-files';
export type { Corpus, SampledDoc } from './sample';
export { type Sentence, type SentenceOptions, sentences } from './sentences';
export type {
  ClusterStatement,
  DecisionStatement,
  DocId,
  PairStatement,
  Statement,
} from './statements';
export type { Time, Times } from './time';
export { sweep, type Trial, type TuneOptions, type Tuning, tune } from './tune';
export type { Measure, TextLimit, TextOfOptions } from './verify';
