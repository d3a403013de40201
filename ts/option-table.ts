/**
 * Options that are a number or a word: what they may be, said once. The library's checks, the flags of the command line, their checks and
 * their help come from here. Loads nothing of the addon.
 */
import * as check from './options';

/** A switch: present or absent. */
export interface FlagSpec {
  readonly kind: 'flag';
  readonly short?: string;
  readonly help: string;
}

/** A piece of text, for example a file name. */
export interface TextSpec {
  readonly kind: 'text';
  readonly short?: string;
  /** Name of the value in help, in capitals. */
  readonly value: string;
  readonly default?: string;
  readonly help: string;
}

/** Pieces of text: the option may be given several times. */
export interface TextsSpec {
  readonly kind: 'texts';
  readonly short?: string;
  readonly value: string;
  readonly default?: readonly string[];
  readonly help: string;
}

/** A number within a closed range. */
export interface NumberSpec {
  readonly kind: 'integer' | 'number';
  readonly short?: string;
  readonly value: string;
  readonly min: number;
  readonly max: number;
  readonly default?: number;
  readonly help: string;
}

/** One of a few words. */
export interface ChoiceSpec {
  readonly kind: 'choice';
  readonly short?: string;
  readonly value: string;
  readonly choices: readonly string[];
  readonly default?: string;
  readonly help: string;
}

export type OptionSpec = FlagSpec | TextSpec | TextsSpec | NumberSpec | ChoiceSpec;

const UINT32 = 2 ** 32 - 1;

/** By the name that the library has; flags are written with dashes. */
export const OPTIONS = {
  method: {
    kind: 'choice',
    value: 'NAME',
    choices: ['minhash', 'simhash', 'sentences', 'brute-force', 'exact'],
    help: 'how near-duplicates are found; without it the method whose options are given, else minhash',
  },
  maxDistance: {
    kind: 'integer',
    value: 'K',
    min: 0,
    max: 16,
    help: 'for simhash: largest Hamming distance of two fingerprints, inclusive; without it 8, or 3 if nothing is verified',
  },
  bands: {
    kind: 'integer',
    value: 'B',
    min: 1,
    max: 1024,
    help: 'for minhash, with --rows; without it as many as --min-similarity needs',
  },
  rows: { kind: 'integer', value: 'R', min: 1, max: 1024, help: 'for minhash: rows per band' },
  sentences: {
    kind: 'integer',
    value: 'N',
    min: 1,
    max: 64,
    help: 'for sentences: how many of the longest; without it 5',
  },
  plan: {
    kind: 'text',
    value: 'NAME',
    help: 'for simhash: which tables to keep: auto, classic, or a name that the command plan shows; without it auto',
  },
  capacity: {
    kind: 'integer',
    value: 'N',
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    help: 'for simhash: documents expected in the end, a hint for the plan',
  },
  cluster: {
    kind: 'choice',
    value: 'HOW',
    choices: ['representative', 'components'],
    help: 'what forms a cluster: the kept document and what resembles it, or all documents connected by matches',
  },
  verify: {
    kind: 'choice',
    value: 'MEASURE',
    choices: ['auto', 'jaccard', 'containment', 'edit', 'cosine'],
    help: 'how candidates are compared',
  },
  minSimilarity: {
    kind: 'number',
    value: 'S',
    min: 0,
    max: 1,
    help: 'least similarity by that measure, where 0 = do not verify; without it 0.8',
  },
  maxVerifications: {
    kind: 'integer',
    value: 'N',
    min: 1,
    max: UINT32,
    help: 'how many candidates of a document are compared at most, the best first; without it 1000',
  },
  limit: {
    kind: 'integer',
    value: 'N',
    min: 1,
    max: Number.MAX_SAFE_INTEGER,
    help: 'at most N matches for each document, the most similar first',
  },
  onSameKey: {
    kind: 'choice',
    value: 'HOW',
    choices: ['add', 'error', 'replace', 'repeat'],
    help: 'what happens to a document whose key is already known; without it add',
  },
  preset: {
    kind: 'choice',
    value: 'NAME',
    choices: ['auto', 'chars', 'jieba-tfidf'],
    help: 'preset for the options below',
  },
  features: {
    kind: 'choice',
    value: 'UNIT',
    choices: ['auto', 'chars', 'words', 'jieba', 'tokens'],
    help: 'what a feature is made of; tokens: words already separated by spaces',
  },
  ngram: {
    kind: 'integer',
    value: 'N',
    min: 1,
    max: 8,
    help: 'units per feature; without it by script (two ideographs, five letters), for chars, words and tokens 2, for jieba 1',
  },
  weighting: {
    kind: 'choice',
    value: 'HOW',
    choices: ['count', 'binary', 'tfidf'],
    help: 'how repeated features count; tfidf is for jieba',
  },
  segmenter: {
    kind: 'choice',
    value: 'WHO',
    choices: ['own', 'jieba-rs'],
    help: 'which segmenter splits Chinese words',
  },
  minFeatures: {
    kind: 'integer',
    value: 'N',
    min: 0,
    max: UINT32,
    help: 'a text with fewer different features has no fingerprint, and is compared by equality; without it 8, or 4 times --ngram if that is more',
  },
  reportTexts: {
    kind: 'choice',
    value: 'HOW',
    choices: ['all', 'cut', 'none'],
    help: 'how much of each text the report contains: all = 20,000 characters, cut (default) = 1,000, or none',
  },
  threads: {
    kind: 'integer',
    value: 'N',
    min: 0,
    max: 1024,
    help: 'threads to use; 0 = one per core',
  },
  sample: {
    kind: 'integer',
    value: 'N',
    min: 1,
    max: UINT32,
    help: 'documents drawn at random; at most as many near them are added',
  },
  seed: { kind: 'integer', value: 'N', min: 0, max: UINT32, help: 'draws another sample' },
  goal: {
    kind: 'number',
    value: 'S',
    min: 0,
    max: 1,
    help: 'recall and precision that the recommended options reach on the sample',
  },
} as const satisfies Readonly<Record<string, OptionSpec>>;

type Table = typeof OPTIONS;
type Checked<S> = S extends { readonly choices: readonly (infer C)[] }
  ? C
  : S extends TextSpec
    ? string
    : number;

/** The checks of some options. */
export function checksOf<const N extends readonly (keyof Table)[]>(
  ...names: N
): { readonly [K in N[number]]: check.Check<Checked<Table[K]>> } {
  const of = (name: keyof Table) => {
    const spec: OptionSpec = OPTIONS[name];
    switch (spec.kind) {
      case 'integer':
        return check.integer(spec.min, spec.max);
      case 'choice':
        return check.choice(...spec.choices);
      case 'number':
        return check.share;
      default:
        return check.string;
    }
  };
  return Object.fromEntries(names.map((name) => [name, of(name)])) as never;
}
