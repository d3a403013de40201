/** Options that several commands share, so that a name means the same thing everywhere. */
import { given } from '../given';
import { methodOf } from '../method';
import { OPTIONS } from '../option-table';
import type { Values } from './command';
import { UsageError } from './exit';
import { LIST_HELP, normalizeOf } from './normalize';

/** Those of an index: the others compare everything. */
export const INDEX_METHODS = ['minhash', 'simhash', 'sentences', 'exact'] as const;

/** Who is compared with whom. */
export const candidates = {
  method: OPTIONS.method,
  'max-distance': OPTIONS.maxDistance,
  bands: OPTIONS.bands,
  rows: OPTIONS.rows,
  sentences: OPTIONS.sentences,
} as const;

/** What they are compared by. */
const verification = {
  verify: { ...OPTIONS.verify, choices: [...OPTIONS.verify.choices, 'off'], default: 'auto' },
  'min-similarity': OPTIONS.minSimilarity,
  'max-verifications': OPTIONS.maxVerifications,
} as const;

/** Files of the words of one's own. */
export const words = {
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
} as const;

/** How a text becomes features; without an option, what the preset says. */
export const features = {
  preset: { ...OPTIONS.preset, default: 'auto' },
  features: OPTIONS.features,
  ngram: OPTIONS.ngram,
  weighting: OPTIONS.weighting,
  'top-k': {
    kind: 'text',
    value: 'K',
    help: 'keep only the K heaviest features; auto: half of them, at least 30; for tfidf',
  },
  segmenter: OPTIONS.segmenter,
  'no-hmm': {
    kind: 'flag',
    help: 'cut what is in no dictionary into single characters; for jieba',
  },
  ...words,
  normalize: { kind: 'text', value: 'LIST', help: LIST_HELP },
  'min-features': OPTIONS.minFeatures,
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
  const { preset, features, ngram, weighting, segmenter, normalize } = values;
  return given({
    ...{ preset, features, ngram, weighting, segmenter },
    topK: topK(values['top-k']),
    hmm: values['no-hmm'] ? false : undefined,
    ...wordsOf(values),
    normalize: normalize === undefined ? undefined : normalizeOf(normalize),
    minFeatures: values['min-features'],
  });
}

/** The options of {@link words} as the library takes them. */
export function wordsOf(values: Values<typeof words>) {
  const { dictionary, 'stop-words': stopWords, idf } = values;
  return given({ dictionary, stopWords, idf });
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

/** How a command runs. */
export const execution = {
  threads: { ...OPTIONS.threads, default: 0 },
  json: { kind: 'flag', help: 'print the summary as JSON, with options and versions' },
  quiet: { kind: 'flag', short: 'q', help: 'no progress and no summary, only errors' },
} as const;

/** How documents are compared. */
export const comparing = {
  ...candidates,
  ...verification,
  ...features,
  ...fields,
  ...execution,
} as const;

/** The values of {@link comparing} as the library takes them. */
export function comparingOptions(values: Values<Omit<typeof comparing, keyof typeof fields>>) {
  const maxVerifications = values['max-verifications'];
  return {
    ...methodOptions(values),
    ...fingerprinterOptions(values),
    ...given({ maxVerifications }),
    threads: values.threads,
  };
}

/** The method that is asked for, with its own options and what it is verified by. */
export function methodOptions(
  values: Values<typeof candidates & Omit<typeof verification, 'max-verifications'>>,
) {
  const { bands, rows, sentences } = values;
  const own = given({ maxDistance: values['max-distance'], bands, rows, sentences });
  const method = methodOf({ ...given({ method: values.method }), ...own });
  const initial = method === 'simhash' ? { maxDistance: 8 } : {};
  return { ...initial, ...own, method, ...verified(values) };
}

function verified({
  verify,
  'min-similarity': least,
}: Values<Pick<typeof verification, 'verify' | 'min-similarity'>>) {
  // The measure that nobody asked for goes with 0; another one beside it is refused.
  if (verify === 'auto' && least === 0) return { verify: false as const };
  if (verify !== 'off') return { verify, minSimilarity: least ?? 0.8 };
  if (least === undefined || least === 0) return { verify: false as const };
  throw new UsageError(
    `--min-similarity ${least} must be left out beside --verify off, which measures nothing`,
  );
}

/** The values of {@link fields} as the library takes them. */
export function fieldsOf(values: Values<typeof fields>) {
  return { textField: values['text-field'], idField: values['id-field'] };
}

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

/** A file for what could not be used. */
export const rejects = {
  rejects: { kind: 'text', value: 'FILE', help: 'also write the rejected records' },
} as const;

/** The saved index that a command works on. */
export const savedIndex = {
  index: { kind: 'text', value: 'INDEX', help: 'the saved index' },
} as const;

/** Files of documents. */
export const DOCUMENTS = {
  usage: 'IN...',
  min: 1,
  max: Number.POSITIVE_INFINITY,
  help: 'files of JSON lines, plain or gzip; - is standard input',
} as const;

/** @throws UsageError where standard input or output would be used twice. */
export function checkStreams(inputs: readonly string[], files: readonly (string | undefined)[]) {
  if (inputs.filter((input) => input === '-').length > 1) {
    throw new UsageError('standard input (-) can be read only once');
  }
  if (files.includes('-')) {
    throw new UsageError('only -o can be standard output (-); name a file for the others');
  }
}
