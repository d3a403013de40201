import { abortable } from './abort';
import { binding } from './binding';
import { type Dictionary, dictionary, nativeDictionary } from './dictionary';
import type { Text } from './documents';
import { native } from './errors';
import { Fingerprints } from './fingerprints';
import { given } from './given';
import { type Idf, idf, nativeIdf } from './idf';
import { nativeStopWords, stopWords, type Words } from './lexicon';
import type { NativeFingerprinter, NativeFingerprinterOptions } from './native';
import { NATIVE } from './native-part';
import { type Normalize, nativeNormalizer, normalize } from './normalize';
import { checksOf } from './option-table';
import * as check from './options';
import { parts } from './staging';

/** A fingerprinter by name; each of its options can be changed beside it. */
export type Preset =
  /** Counted characters, two ideographs or five letters at a time, normalised: the defaults. */
  | 'auto'
  /** Counted pairs of characters, in every script, normalised. */
  | 'chars'
  /** The 30 heaviest keywords of Python jieba's `extract_tags`, not normalised. */
  | 'jieba-tfidf';

/** How a text becomes a fingerprint. */
export interface FingerprinterOptions {
  /** Options to start from. Default `'auto'`, whose values are the defaults below. */
  preset?: Preset | undefined;
  /**
   * What features are made of: characters, as many as the script needs (`'auto'`, default: two ideographs or digits, five
   * letters, or of both what comes to that together), or always as many (`'chars'`), Unicode words, Chinese words cut by jieba, or what white space separates
   * (`'tokens'`): texts whose words somebody else has cut, of which white space stays then. Chosen by script, the similarity of two texts of 400 or more ideographs, a digit counting as two, is also that
   * of their runs of five characters: the lower of both.
   */
  features?: 'auto' | 'chars' | 'words' | 'jieba' | 'tokens' | undefined;
  /**
   * Characters or words per feature, 1 to 8; characters unless `features` says words. Default by script, 2 for `'chars'`,
   * `'words'` and `'tokens'`, 1 for `'jieba'`, where `'tfidf'` allows nothing else.
   */
  ngram?: number | undefined;
  /**
   * How repeated features count: as often as they occur (`'count'`), once (`'binary'`), or by term frequency times inverse
   * document frequency (`'tfidf'`, for jieba). Default `'tfidf'` for jieba, `'count'` for the others.
   */
  weighting?: 'count' | 'binary' | 'tfidf' | undefined;
  /**
   * Keep only so many of the heaviest features, 1 to 2^32 - 1; `'auto'`: half of those that a text has, at least 30. Default
   * all; 30 in the preset `'jieba-tfidf'`. Needs `weighting: 'tfidf'`.
   */
  topK?: number | 'auto' | undefined;
  /**
   * Who cuts Chinese words: `'own'` (default), whose tokens are those of Python jieba, or the Rust crate `'jieba-rs'`, several
   * times slower and different in some texts; not for `'tfidf'`.
   */
  segmenter?: 'own' | 'jieba-rs' | undefined;
  /**
   * Whether words that are in no dictionary are found by jieba's hidden Markov model; without it their characters stand
   * alone. Default `true`. For `'jieba'`.
   */
  hmm?: boolean | undefined;
  /** Words beside jieba's own: a {@link Dictionary}, or a file of words. Default none. Needs `segmenter: 'own'`. */
  dictionary?: Dictionary | Words | undefined;
  /** Words that never become keywords, a line each, beside jieba's 31 English ones; `false`: none at all. For `'tfidf'`. */
  stopWords?: Words | false | undefined;
  /** How rare words are: an {@link Idf}, or a file of one. Default jieba's own table. For `'tfidf'`. */
  idf?: Idf | Words | undefined;
  /** Normalisation: steps, `'web'`, `'microblog'`, or `false` for none. Default `nfkc`, `case` and `whitespace: 'auto'`. */
  normalize?: Normalize | undefined;
  /**
   * Fewest distinct features for a fingerprint, 0 to 2^32 - 1; a text with fewer is compared by equality. Default 8, or
   * 4 * `ngram` where that is more.
   */
  minFeatures?: number | undefined;
  /** Most threads of one call, 0 to 1024; 0 (default) is one per core. Changes no result. */
  threads?: number | undefined;
}

/** Ends a job early. */
export interface JobOptions {
  /** Rejects with `signal.reason` when aborted; the work stops within about 10 ms. */
  signal?: AbortSignal | undefined;
}

/** No options: what waits for its work cannot be ended by a signal. */
export interface NoOptions {
  readonly [option: string]: never;
}

/** A token of a text: what a feature was made of. */
export interface Token {
  /** The n-gram or word. */
  token: string;
  /** Its weight in the text. */
  weight: number;
  /** Its 64-bit hash. */
  hash: bigint;
}

const UINT32 = 2 ** 32 - 1;
const count = check.integer(1, UINT32);
/** Also the options that `dedup` and others take beside their own. */
export const FINGERPRINTER: check.Checks<FingerprinterOptions> = {
  ...checksOf('preset', 'features', 'ngram', 'weighting'),
  topK: (value, name) => (value === 'auto' ? value : count(value, name)),
  ...checksOf('segmenter'),
  hmm: check.boolean,
  dictionary,
  stopWords,
  idf,
  normalize,
  ...checksOf('minFeatures', 'threads'),
};

export const NONE: check.Checks<NoOptions> = {};
export const JOB: check.Checks<JobOptions> = { signal: check.signal };

/** Checked options as the addon takes them; files of words are read. */
export function nativeOptions(options: FingerprinterOptions): NativeFingerprinterOptions {
  const { preset, features, ngram, weighting, topK, segmenter, hmm, minFeatures } = options;
  const { normalize, dictionary, stopWords, idf } = options;
  return given({
    ...{ preset, features, ngram, weighting, topK, segmenter, hmm, minFeatures },
    normalize: normalize === undefined ? undefined : nativeNormalizer(normalize),
    dictionary: dictionary === undefined ? undefined : nativeDictionary(dictionary),
    stopWords: stopWords === undefined ? undefined : nativeStopWords(stopWords),
    idf: idf === undefined ? undefined : nativeIdf(idf),
  });
}

/** Text to 64-bit SimHash. Holds no state but its options; share it freely. */
export class Fingerprinter {
  readonly #threads: number;
  /** @internal */
  readonly [NATIVE]: NativeFingerprinter;

  /** @throws TypeError, RangeError for options that are unknown, of the wrong type or out of range. */
  constructor(options?: FingerprinterOptions) {
    const checked = check.checked(options, FINGERPRINTER);
    this.#threads = checked.threads ?? 0;
    const all = nativeOptions(checked);
    this[NATIVE] = native(() => new binding.NativeFingerprinter(all));
  }

  /** A fingerprinter by name; the same as `new Fingerprinter({ preset: name })`. */
  static preset(name: Preset): Fingerprinter {
    return new Fingerprinter({ preset: FINGERPRINTER.preset(name, 'preset') });
  }

  /** The fingerprint of one text; `undefined` where it has too few features to be compared by Hamming distance. */
  fingerprint(text: Text): bigint | undefined {
    return native(() => this[NATIVE].fingerprint(text)) ?? undefined;
  }

  /**
   * Fingerprints of many texts on all cores, while the JavaScript thread waits. Right for up to a few hundred texts, and in
   * scripts and workers; for more beside a running server see {@link fingerprintManyAsync}.
   */
  fingerprintMany(texts: readonly Text[], options?: NoOptions): Fingerprints {
    check.checked(options, NONE);
    check.array(texts, 'texts');
    const { values, valid } = native(() => this[NATIVE].fingerprintMany(texts, this.#threads));
    return new Fingerprints(values, valid);
  }

  /**
   * The same off the JavaScript thread. Up to 4,096 texts of together a million characters are copied before the call returns
   * (about 0.2 µs per 500 characters on the JavaScript thread); of more, the array is copied before it returns, and the
   * texts slice by slice with turns of the event loop in between: the bytes of a `Uint8Array` must not change until the
   * promise settles. One promise costs about 10 µs: pass hundreds of texts per call.
   */
  async fingerprintManyAsync(texts: readonly Text[], options?: JobOptions): Promise<Fingerprints> {
    const { signal } = check.checked(options, JOB);
    check.array(texts, 'texts');
    const found = await abortable(signal, (cancel) =>
      parts(texts, signal, cancel, (batch) =>
        this[NATIVE].fingerprintManyAsync(batch, this.#threads, cancel),
      ),
    );
    return Fingerprints.joined(found);
  }

  /** A text after normalisation: what its features are taken from, and what short texts are compared by. */
  normalize(text: Text): string {
    return native(() => this[NATIVE].normalize(text));
  }

  /** What the fingerprint of a text is made of: each distinct feature once, after normalisation, heaviest first. */
  features(text: Text): Token[] {
    return native(() => this[NATIVE].features(text));
  }
}

/** `by` as a fingerprinter. */
export function fingerprinterOf(
  by: Fingerprinter | FingerprinterOptions | undefined,
): Fingerprinter {
  return by instanceof Fingerprinter ? by : new Fingerprinter(by);
}
