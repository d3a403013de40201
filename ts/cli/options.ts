/** Options that several commands share, so that a name means the same thing everywhere. */
import { given } from '../given';
import type { Values } from './command';
import { UsageError } from './exit';
import { LIST_HELP, normalizeOf } from './normalize';

/** How near two documents must be. */
export const comparison = {
  'max-distance': {
    kind: 'integer',
    value: 'K',
    min: 0,
    max: 16,
    default: 8,
    help: 'largest Hamming distance of two fingerprints, inclusive',
  },
  'min-similarity': {
    kind: 'number',
    value: 'S',
    min: 0,
    max: 1,
    default: 0.8,
    help: 'least similarity (Jaccard, and in short texts numbers count), where 0 = do not verify',
  },
} as const;

/** How a text becomes features; without an option, what the preset says. */
export const features = {
  preset: {
    kind: 'choice',
    value: 'NAME',
    choices: ['auto', 'chars', 'jieba-tfidf'],
    default: 'auto',
    help: 'what the options below start from',
  },
  features: {
    kind: 'choice',
    value: 'UNIT',
    choices: ['auto', 'chars', 'words', 'jieba'],
    help: 'what a feature is made of',
  },
  ngram: {
    kind: 'integer',
    value: 'N',
    min: 1,
    max: 8,
    help: 'units per feature; without it by script (two ideographs, five letters), for chars and words 2, for jieba 1',
  },
  weighting: {
    kind: 'choice',
    value: 'HOW',
    choices: ['count', 'binary', 'tfidf'],
    help: 'how repeated features count; tfidf is for jieba',
  },
  'top-k': {
    kind: 'text',
    value: 'K',
    help: 'keep only the K heaviest features; auto: half of them, at least 30; for tfidf',
  },
  segmenter: {
    kind: 'choice',
    value: 'WHO',
    choices: ['own', 'jieba-rs'],
    help: 'who cuts Chinese words',
  },
  'no-hmm': {
    kind: 'flag',
    help: 'cut what is in no dictionary into single characters; for jieba',
  },
  dictionary: {
    kind: 'text',
    value: 'FILE',
    help: "words beside jieba's own, a line each: word, frequency and tag, the latter two if known",
  },
  'stop-words': {
    kind: 'text',
    value: 'FILE',
    help: 'words that never become keywords, a line each; for tfidf',
  },
  idf: {
    kind: 'text',
    value: 'FILE',
    help: "how rare words are, a line each: word and idf, in place of jieba's; for tfidf",
  },
  normalize: { kind: 'text', value: 'LIST', help: LIST_HELP },
} as const;

type FeatureOptions = typeof features;

/** A number or `auto`; the library says what is wrong with anything else. */
function topK(typed: string | undefined): number | 'auto' | undefined {
  if (typed === undefined || typed === 'auto') return typed;
  if (!/^\d+$/.test(typed)) {
    throw new UsageError(`--top-k must be a whole number from 1 or auto, got '${typed}'`);
  }
  return Number(typed);
}

/** The options of {@link features} as the library takes them. */
export function fingerprinterOptions(values: Values<FeatureOptions>) {
  const { preset, features, ngram, weighting, segmenter, dictionary, idf, normalize } = values;
  return given({
    ...{ preset, features, ngram, weighting, segmenter, dictionary, idf },
    topK: topK(values['top-k']),
    hmm: values['no-hmm'] ? false : undefined,
    stopWords: values['stop-words'],
    normalize: normalize === undefined ? undefined : normalizeOf(normalize),
  });
}

/** Where text and id are in a record. */
export const fields = {
  'text-field': { kind: 'text', value: 'NAME', default: 'text', help: 'field that holds the text' },
  'id-field': {
    kind: 'text',
    value: 'NAME',
    default: 'id',
    help: 'field that holds the id; without it the line number is the id',
  },
} as const;

/** How a command on an index runs. */
export const execution = {
  threads: {
    kind: 'integer',
    value: 'N',
    min: 0,
    max: 1024,
    default: 0,
    help: 'threads to use; 0 = one per core',
  },
  json: { kind: 'flag', help: 'print the summary as JSON, with options and versions' },
  quiet: { kind: 'flag', short: 'q', help: 'no progress and no summary, only errors' },
} as const;

/** A file for data that goes to standard output otherwise. */
export const output = {
  output: {
    kind: 'text',
    short: 'o',
    value: 'FILE',
    default: '-',
    help: 'file that appears whole or not at all, compressed if its name ends in .gz; - is standard output',
  },
} as const;

/** The saved index that a command works on. */
export const savedIndex = {
  index: { kind: 'text', value: 'INDEX', help: 'the saved index' },
} as const;
