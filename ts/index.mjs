// One build, one identity of each class: the ES module hands on what the CommonJS one exports.
import simhash from './index.js';

export const {
  CheckedItems,
  Clusters,
  Dictionary,
  Fingerprinter,
  Fingerprints,
  Idf,
  Index,
  Matches,
  PairBatch,
  SimHashError,
  containment,
  cosine,
  dedup,
  dedupFiles,
  evaluate,
  explain,
  fromHex,
  hammingDistance,
  jaccard,
  levenshtein,
  sentences,
  toHex,
} = simhash;
