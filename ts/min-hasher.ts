import { types } from 'node:util';
import { abortable } from './abort';
import { binding } from './binding';
import type { Text } from './documents';
import { native, rangeError } from './errors';
import {
  FINGERPRINTER,
  Fingerprinter,
  type FingerprinterOptions,
  fingerprinterOf,
  JOB,
  type JobOptions,
  NONE,
  type NoOptions,
} from './fingerprinter';
import { given } from './given';
import type { NativeMinHasher, NativeMinHashOptions, NativeSignatures } from './native';
import { NATIVE } from './native-part';
import * as check from './options';
import { Rows } from './rows';
import { whole } from './staging';

/** How a text becomes a MinHash signature. */
export interface MinHashOptions {
  /** Makes the features of texts: a fingerprinter or its options. Default `new Fingerprinter()`: two ideographs, five letters. */
  fingerprinter?: Fingerprinter | FingerprinterOptions | undefined;
  /**
   * Where the orders of features come from: one place for each feature, and a hash function for each position that none came to
   * (`'fast-similarity'`, default: the least work for long texts); a hash function for each position (`'permutations'`, the
   * default of release 0.1); one, its range cut into bins (`'one-permutation'`: a larger error for sets
   * of fewer features than positions); or the smallest values of one (`'bottom-k'`: exact for such sets, but without positions, so not for an index).
   */
  scheme?: 'fast-similarity' | 'permutations' | 'one-permutation' | 'bottom-k' | undefined;
  /** Positions of a signature, 1 to 1024. Default 128: a standard error of 3.5 % at similarity 0.8. */
  hashes?: number | undefined;
  /** Chooses the hash functions: 0 to 2^53 - 1, or a bigint of 64 bits. Signatures of different seeds cannot be compared. Default 0. */
  seed?: number | bigint | undefined;
}

/** Options of a {@link MinHasher}. */
export interface MinHasherOptions extends MinHashOptions {
  /** Most threads of one call, 0 to 1024; 0 (default) is one per core. Changes no result. */
  threads?: number | undefined;
}

/** An estimated Jaccard similarity. */
export interface SimilarityEstimate {
  /** 0 to 1; unbiased. */
  similarity: number;
  /** Its standard deviation; in nineteen cases of twenty the exact value is within two of them. 0 where it is exact. */
  standardError: number;
}

const seed: check.Check<bigint> = (value, name) => {
  if (typeof value === 'number') return BigInt(check.id(value, name));
  const seed = check.bigint(value, name);
  if (BigInt.asUintN(64, seed) === seed) return seed;
  throw rangeError(`${name} must be from 0n to 2n ** 64n - 1n, got ${seed}n`);
};

/** The options as they are checked: a seed becomes a bigint. */
export const MIN_HASH: check.Checks<MinHashOptions> = {
  fingerprinter: (value, name) =>
    value instanceof Fingerprinter ? value : check.checked(value, FINGERPRINTER, name),
  scheme: check.choice('fast-similarity', 'permutations', 'one-permutation', 'bottom-k'),
  hashes: check.integer(1, 1024),
  seed,
};

const MIN_HASHER: check.Checks<MinHasherOptions> = {
  ...MIN_HASH,
  threads: check.integer(0, 1024),
};

/** Checked options as the addon takes them. */
export function nativeMinHashOptions(options: MinHashOptions): NativeMinHashOptions {
  const { scheme, hashes, seed } = options;
  return given({ scheme, hashes, seed: seed as bigint | undefined });
}

/** Signatures of a batch, in columns: one typed array instead of one per text. */
export class Signatures extends Rows<Uint32Array> {
  /** The signature of text i is at `offsets[i]` to `offsets[i + 1] - 1` of the values; an empty text has none. */
  readonly offsets: Float64Array;
  /** All signatures, one after the other. */
  readonly values: Uint32Array;

  private constructor({ offsets, values }: NativeSignatures) {
    super();
    this.offsets = offsets;
    this.values = values;
  }

  /** @internal */
  static of(columns: NativeSignatures): Signatures {
    return new Signatures(columns);
  }

  /** Number of texts. */
  get length(): number {
    return this.offsets.length - 1;
  }

  /** The signature of text `row`, a view of `values`; `undefined` where there is no such row. */
  get(row: number): Uint32Array | undefined {
    const [start, end] = [this.offsets[row], this.offsets[row + 1]];
    return start === undefined || end === undefined ? undefined : this.values.subarray(start, end);
  }

  /** An array of numbers for each text. */
  override toJSON(): number[][] {
    return Array.from(this, (signature) => [...signature]);
  }
}

/**
 * Text to MinHash signature: the share of equal positions of two signatures estimates the Jaccard similarity of the sets of
 * features. Holds no state but its options; share it freely. An empty text has an empty signature, which resembles nothing.
 * Signatures of equal options are the same on every machine and in every release.
 */
export class MinHasher {
  readonly #native: NativeMinHasher;
  readonly #threads: number;

  /** @throws TypeError, RangeError for options that are unknown, of the wrong type or out of range. */
  constructor(options?: MinHasherOptions) {
    const checked = check.checked(options, MIN_HASHER);
    this.#threads = checked.threads ?? 0;
    const by = fingerprinterOf(checked.fingerprinter)[NATIVE];
    const how = nativeMinHashOptions(checked);
    this.#native = native(() => new binding.NativeMinHasher(by, how));
  }

  /** The signature of one text: `hashes` positions; with `'bottom-k'` at most so many, ascending. About 5 ns a feature. */
  signature(text: Text): Uint32Array {
    return native(() => this.#native.signature(text));
  }

  /** {@link signature} in 64 bits: for sets of many millions of features. */
  signature64(text: Text): BigUint64Array {
    return native(() => this.#native.signature64(text));
  }

  /** Signatures of many texts on all cores, while the JavaScript thread waits: for up to a few hundred texts, and in scripts. */
  signatureMany(texts: readonly Text[], options?: NoOptions): Signatures {
    check.checked(options, NONE);
    check.array(texts, 'texts');
    return Signatures.of(native(() => this.#native.signatureMany(texts, this.#threads)));
  }

  /** {@link signatureMany} off the JavaScript thread; the texts are copied as by {@link Fingerprinter.fingerprintManyAsync}. */
  async signatureManyAsync(texts: readonly Text[], options?: JobOptions): Promise<Signatures> {
    const { signal } = check.checked(options, JOB);
    check.array(texts, 'texts');
    return Signatures.of(
      await abortable(signal, (cancel) =>
        whole(texts, 'texts', signal, (batch) =>
          this.#native.signatureManyAsync(batch, this.#threads, cancel),
        ),
      ),
    );
  }

  /**
   * The Jaccard similarity of two texts from their signatures, both of this hasher's options and of 32 or of 64 bits.
   *
   * @throws RangeError for a signature of another length.
   */
  estimate(a: Uint32Array, b: Uint32Array): SimilarityEstimate;
  estimate(a: BigUint64Array, b: BigUint64Array): SimilarityEstimate;
  estimate(a: Uint32Array | BigUint64Array, b: Uint32Array | BigUint64Array): SimilarityEstimate {
    if (types.isUint32Array(a) && types.isUint32Array(b))
      return native(() => this.#native.estimate(a, b));
    if (types.isBigUint64Array(a) && types.isBigUint64Array(b))
      return native(() => this.#native.estimate64(a, b));
    throw check.wrongType('a and b', 'two Uint32Array or two BigUint64Array', [a, b]);
  }
}

/** The MinHash signature of one text; for many texts make a {@link MinHasher} once. */
export function minHash(text: Text, options?: MinHasherOptions): Uint32Array {
  return new MinHasher(options).signature(text);
}
