import { abortable } from './abort';
import { binding } from './binding';
import { native } from './errors';
import { Fingerprints } from './fingerprints';
import type { NativeFingerprinter, NativeFingerprinterOptions } from './native';
import * as check from './options';

/** A text. `Uint8Array` (and so `Buffer`) holds UTF-8; malformed parts of either become U+FFFD. */
export type Text = string | Uint8Array;

/** Steps before features are taken, in this order. */
export interface NormalizeOptions {
  /** Unicode NFKC: full-width and compatibility forms become plain. Default true. */
  nfkc?: boolean | undefined;
  /** Full case folding. Default true. */
  case?: boolean | undefined;
  /**
   * White space: `'auto'` (default) trims, makes one space of each run and removes it beside a CJK character; `'collapse'`
   * does not look at CJK; `'remove'` removes all; `'keep'` leaves it alone.
   */
  whitespace?: 'auto' | 'collapse' | 'remove' | 'keep' | undefined;
}

/** How a text becomes a fingerprint. */
export interface FingerprinterOptions {
  /** What features are made of: characters (default), Unicode words, or Chinese words cut by jieba. */
  features?: 'chars' | 'words' | 'jieba' | undefined;
  /** Characters or words per feature, 1 to 8. Default 2; 1 for jieba. */
  ngram?: number | undefined;
  /** How repeated features count. Default `'count'`; `'tfidf'` is for jieba. */
  weighting?: 'count' | 'binary' | 'tfidf' | undefined;
  /** Keep only so many of the heaviest features, 1 to 2^32 - 1. Default all. Needs `weighting: 'tfidf'`. */
  topK?: number | undefined;
  /** Normalisation; `false` turns every step off. Default all steps. */
  normalize?: NormalizeOptions | false | undefined;
  /** Fewest distinct features for a fingerprint, 0 to 2^32 - 1; a text with fewer has none. Default by `features`. */
  minFeatures?: number | undefined;
  /** Most threads of one call, 0 to 1024; 0 (default) is one per core. Changes no result. */
  threads?: number | undefined;
}

/** Ends a job early. */
export interface JobOptions {
  /** Rejects with `signal.reason` when aborted; the work stops within about 10 ms. */
  signal?: AbortSignal | undefined;
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
const NORMALIZE: check.Checks<NormalizeOptions> = {
  nfkc: check.boolean,
  case: check.boolean,
  whitespace: check.choice('auto', 'collapse', 'remove', 'keep'),
};

/** Also the options that `dedup` and others take beside their own. */
export const FINGERPRINTER: check.Checks<FingerprinterOptions> = {
  features: check.choice('chars', 'words', 'jieba'),
  ngram: check.integer(1, 8),
  weighting: check.choice('count', 'binary', 'tfidf'),
  topK: check.integer(1, UINT32),
  normalize: (value, name) => (value === false ? false : check.checked(value, NORMALIZE, name)),
  minFeatures: check.integer(0, UINT32),
  threads: check.integer(0, 1024),
};

export const JOB: check.Checks<JobOptions> = { signal: check.signal };

/** Checked options as the addon takes them. */
export function nativeOptions(options: FingerprinterOptions): NativeFingerprinterOptions {
  const { normalize, features, ngram, weighting, topK, minFeatures } = options;
  const steps = normalize === false ? { normalize } : normalize;
  const all = { features, ngram, weighting, topK, minFeatures, ...steps };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** Native part of a fingerprinter, for the other classes of this package. */
export const NATIVE: unique symbol = Symbol('native');

/** Text to 64-bit SimHash. Holds no state but its options; share it freely. */
export class Fingerprinter {
  readonly #threads: number;
  /** @internal */
  readonly [NATIVE]: NativeFingerprinter;

  /** @throws TypeError, RangeError for options that are unknown, of the wrong type or out of range. */
  constructor(options?: FingerprinterOptions) {
    const given = check.checked(options, FINGERPRINTER);
    this.#threads = given.threads ?? 0;
    this[NATIVE] = native(() => new binding.NativeFingerprinter(nativeOptions(given)));
  }

  /** A fingerprinter by name: `'chars'` is the default one. */
  static preset(name: string): Fingerprinter {
    check.string(name, 'name');
    const made = native(() => binding.NativeFingerprinter.preset(name));
    return Object.defineProperty(new Fingerprinter(), NATIVE, { value: made });
  }

  /** The fingerprint of one text; `undefined` where it has too few features to be compared by Hamming distance. */
  fingerprint(text: Text): bigint | undefined {
    return native(() => this[NATIVE].fingerprint(text)) ?? undefined;
  }

  /**
   * Fingerprints of many texts on all cores, while the JavaScript thread waits. Right for up to a few hundred texts, and in
   * scripts and workers; for more beside a running server see {@link fingerprintManyAsync}.
   */
  fingerprintMany(texts: readonly Text[]): Fingerprints {
    check.array(texts, 'texts');
    const { values, valid } = native(() => this[NATIVE].fingerprintMany(texts, this.#threads));
    return new Fingerprints(values, valid);
  }

  /**
   * The same off the JavaScript thread. The texts are copied before the call returns (about 0.2 µs per 500 characters on
   * the JavaScript thread); then the event loop is free. One promise costs about 10 µs: pass hundreds of texts per call.
   */
  async fingerprintManyAsync(texts: readonly Text[], options?: JobOptions): Promise<Fingerprints> {
    const { signal } = check.checked(options, JOB);
    check.array(texts, 'texts');
    const { values, valid } = await abortable(signal, (cancel) =>
      this[NATIVE].fingerprintManyAsync(texts, this.#threads, cancel),
    );
    return new Fingerprints(values, valid);
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
