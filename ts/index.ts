/** Near-duplicate texts: fingerprints, an exact index over them, deduplication of streams and files. */
export type { Added } from './added';
export { type Checked, CheckedItems } from './checked';
export { type Cluster, Clusters } from './clusters';
export type { ComparisonOptions, Keep, Rejected, Summary } from './comparison';
export { type Level, LevelSentenceIndex, type LevelSentencesOptions } from './connect/level';
export { type Decision, type DedupOptions, dedup } from './dedup';
export { type DedupFilesOptions, dedupFiles, type Progress } from './dedup-files';
export { Dictionary } from './dictionary';
export type { Doc, Text } from './documents';
export {
  type EdgeProgress,
  type MatchFilesOptions,
  type MatchSummary,
  matchFiles,
  type PairsFilesOptions,
  type PairsSummary,
  pairsFiles,
} from './edge-files';
export { SimHashError } from './errors';
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
export type { Found } from './found';
export { Idf, type TrainOptions } from './idf';
export type {
  AddManyOptions,
  AddOptions,
  DuplicateOptions,
  IndexOptions,
  JoinOptions,
  OpenOptions,
  SearchOptions,
  TimeOptions,
  TimesOptions,
  Window,
} from './index-options';
export type { Stats } from './index-stats';
export type { Words } from './lexicon';
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
export type { Method } from './method';
export {
  MinHasher,
  type MinHasherOptions,
  type MinHashOptions,
  minHash,
  Signatures,
  type SimilarityEstimate,
} from './min-hasher';
export {
  type BandPlan,
  MinHashIndex,
  type MinHashItem,
  type MinHashStats,
} from './minhash-index';
export {
  type MinHashChecked,
  MinHashCheckedItems,
  type MinHashMatch,
  MinHashMatches,
} from './minhash-matches';
export type {
  BandOptions,
  BandWeights,
  MinHashIndexOptions,
  MinHashSearchOptions,
} from './minhash-options';
export type { Normalize, NormalizeOptions } from './normalize';
export { type Pair, PairBatch } from './pairs';
export type { PlanEstimate, PlanOptions } from './plan';
export type { Corpus, SampledDoc } from './sample';
export { SentenceIndex, type SentenceStats } from './sentence-index';
export type {
  CommonOptions,
  OpenSentencesOptions,
  SentenceIndexOptions,
  SentenceSearchOptions,
} from './sentence-index-options';
export {
  type SentenceChecked,
  type SentenceMatch,
  SentenceMatches,
  SentencesChecked,
} from './sentence-matches';
export { type Sentence, type SentenceOptions, sentences } from './sentences';
export {
  type ClustersOptions,
  Index,
  type Item,
  type Items,
  type PairsOptions,
  type SharedIndex,
} from './simhash-index';
export type {
  ClusterStatement,
  DecisionStatement,
  DocId,
  PairStatement,
  Statement,
} from './statements';
export type { Time, Times } from './time';
export { sweep, type Trial, type TuneOptions, type Tuning, tune } from './tune';
export type {
  ConfirmOptions,
  Measure,
  StoreShortTexts,
  TextOfOptions,
  VerifyOptions,
} from './verify';
