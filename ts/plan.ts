/** What an index will cost and find, before anything is built. */

import { binding } from './binding';
import { NO_DIRECTORY } from './directory';
import { native } from './errors';
import { FINGERPRINTER } from './fingerprinter';
import {
  type CheckedOptions,
  type ExactIndexOptions,
  INDEX,
  longestText,
  type MinHashIndexOptions,
  methodOfIndex,
  nativeIndexOptions,
  type SentencesIndexOptions,
  type SimHashIndexOptions,
} from './index-options';
import { defaultDistance, INDEX_METHODS, type IndexMethod } from './method';
import * as check from './options';
import { LONGEST_TEXT } from './verify';

/** How many documents, of which size. */
export interface PlanSize {
  /** Number of documents, all different, 0 to 2^53 - 1. Default 1,000,000. */
  count?: number | undefined;
  /**
   * Bytes of a normalised text in UTF-8, on average, 0 to 2^53 - 1; a Chinese character has three. Default 3,000. Texts above the limit of
   * `texts` are not stored: each counts the limit at most.
   */
  averageLength?: number | undefined;
}

/** What to plan for: the options of an index, and how many documents. */
export type PlanOptions<M extends IndexMethod = IndexMethod> = PlanSize &
  {
    minhash: MinHashIndexOptions;
    simhash: SimHashIndexOptions;
    sentences: SentencesIndexOptions;
    exact: ExactIndexOptions;
  }[M];

/** Bytes of one way to keep the documents. */
export interface PlanBytes {
  method: IndexMethod;
  /** Whether texts are stored, and matches verified. */
  texts: boolean;
  /** Bytes per document of the index, without texts: what finds neighbours, ids, times and keys. */
  indexBytes: number;
  /** Bytes per document of its text: six tenths of it, as Chinese news take once compressed, and what finds it. */
  textBytes: number;
  /** Bytes per document, all in all. */
  bytesPerDocument: number;
  /** Bytes of all documents. */
  bytes: number;
}

/** What an index takes for so many documents. Figures are expectations; `stats()` of an index has the true ones. */
export interface CommonPlan extends PlanBytes {
  /** Documents assumed. */
  count: number;
  /**
   * Every method with and without texts, these options where they fit: try `console.table(plan.choices)`. Made when it is first
   * read; not enumerable.
   */
  readonly choices: PlanBytes[];
}

/** Tables of fingerprints, and the expected cost of searching uniform ones that lie in one segment. */
export interface PlanEstimate extends CommonPlan {
  /** Name of the plan. */
  plan: string;
  /** Distance assumed. */
  maxDistance: number;
  /** Distinct fingerprints assumed. */
  capacity: number;
  /** Sorted copies of the fingerprints. */
  tables: number;
  /** Bits of each table's prefix. */
  tableBits: Uint32Array;
  /** Bits of the shortest prefix. */
  prefixBits: number;
  /** Bits of a prefix, on average. */
  meanPrefixBits: number;
  /** Bytes per fingerprint of tables and directories. */
  tableBytes: number;
  /** Bytes per fingerprint of records and the map from fingerprints to ids. */
  idBytes: number;
  /** Bytes per fingerprint of both. */
  bytesPerFingerprint: number;
  /** Look-ups (probes) per search; 0 where it scans. */
  lookups: number;
  /** Fingerprints read per search. */
  candidates: number;
  /** Whether a search reads every fingerprint, because that is cheaper. */
  scans: boolean;
}

/** Bands of signatures, and what they find. */
export interface BandPlan extends CommonPlan {
  /** Bands. */
  bands: number;
  /** Positions per band. */
  rows: number;
  /** Positions of a kept signature; 0 where none is kept. */
  hashes: number;
  /** The similarity that the recall is for: `minSimilarity`. */
  threshold: number;
  /** Probability that a pair at the threshold shares a band. */
  recall: number;
  /** Similarity at which half of the pairs share a band. */
  half: number;
  /** The S-curve: the probability of sharing a band at similarities 0, 0.05, … 1. Try `console.table(plan.curve)`. */
  curve: { similarity: number; probability: number }[];
}

/** A plan by method. */
export type IndexPlan<M extends IndexMethod = IndexMethod> = {
  minhash: BandPlan;
  simhash: PlanEstimate;
  sentences: CommonPlan;
  exact: CommonPlan;
}[M];

const PLAN: check.Checks<CheckedOptions & PlanSize> = {
  ...INDEX,
  ...NO_DIRECTORY,
  count: check.id,
  averageLength: check.id,
};

/** Bytes of an entry of a band, and of an id that has them. */
const [BAND_BYTES, BAND_ID_BYTES] = [9, 5];
/** Bytes of a document by equal texts. */
const EXACT_BYTES = 25;
/** Bytes of the sentences of a text: sketch, maps, ids and groups. */
const sentenceBytes = (count: number) => 8 * (count + 2) + 8.2 * (count + 1) + 25;
/** Share of a text that its compressed form takes, and what finds it. */
const [TEXT_SHARE, TEXT_ID_BYTES] = [0.6, 13];
/** Bytes of a time, and of a key of 16 bytes with the way back. */
const [WINDOW_BYTES, KEY_BYTES] = [12, 60];

/** What an index of these options takes, and what its method finds. */
export function plan(options?: PlanOptions): IndexPlan {
  const { count = 1_000_000, averageLength = 3000, ...given } = check.checked(options, PLAN);
  const method = methodOfIndex(given);
  const { bytes, own } = one(given, method, count, averageLength);
  let made: PlanBytes[] | undefined;
  const choices = () =>
    INDEX_METHODS.flatMap((other) =>
      (other === 'exact' ? [0] : [LONGEST_TEXT, 0]).map((texts) => {
        const same = other === method ? given : shared(given);
        const chosen = { ...same, method: other, texts: texts && (given.texts || texts) };
        // Beside bands that are given it says how long kept signatures are.
        if (texts > 0 && given.bands !== undefined && !given.signatures) delete chosen.hashes;
        return one(chosen, other, count, averageLength).bytes;
      }),
    );
  return Object.defineProperty({ ...own, ...bytes, count } as unknown as IndexPlan, 'choices', {
    get: () => {
      made ??= choices();
      return made;
    },
  });
}

/** Names that `plan` of `'simhash'` can have. */
export function planNames(): string[] {
  return native(() => binding.planNames());
}

/** The options of every method. */
function shared(options: CheckedOptions): CheckedOptions {
  const names = [...Object.keys(FINGERPRINTER), 'verify', 'minSimilarity', 'keys', 'window'];
  return Object.fromEntries(
    Object.entries(options).filter(([name]) => names.includes(name)),
  ) as CheckedOptions;
}

function one(
  options: CheckedOptions,
  method: IndexMethod,
  count: number,
  averageLength: number,
): { bytes: PlanBytes; own: object } {
  const longest = longestText(options, method);
  const texts = longest > 0;
  const [methodBytes, own] = OF[method](options, count, texts);
  const times = options.window === undefined ? 0 : WINDOW_BYTES;
  const indexBytes = methodBytes + times + (options.keys ? KEY_BYTES : 0);
  const textBytes = texts ? TEXT_SHARE * Math.min(averageLength, longest) + TEXT_ID_BYTES : 0;
  const bytesPerDocument = indexBytes + textBytes;
  const bytes = bytesPerDocument * count;
  return { bytes: { method, texts, indexBytes, textBytes, bytesPerDocument, bytes }, own };
}

type Estimate = (
  options: CheckedOptions,
  count: number,
  texts: boolean,
) => readonly [bytes: number, own: object];

const OF: Readonly<Record<IndexMethod, Estimate>> = {
  simhash: (options, count, texts) => {
    const isVerified = texts && options.verify !== false && options.minSimilarity !== 0;
    const { capacity = count, plan = 'auto' } = options;
    const { maxDistance = defaultDistance(isVerified) } = options;
    const estimate = native(() => binding.plan(maxDistance, capacity, plan));
    const bytesPerFingerprint = estimate.tableBytes + estimate.idBytes;
    return [bytesPerFingerprint, { ...estimate, bytesPerFingerprint }];
  },
  minhash: (options) => {
    const { curve, ...bands } = native(() => binding.bandPlan(nativeIndexOptions(options)));
    const steps = curve.length - 1;
    const points = Array.from(curve, (probability, step) => ({
      similarity: step / steps,
      probability,
    }));
    const bytes = BAND_BYTES * bands.bands + BAND_ID_BYTES + 4 * bands.hashes;
    return [bytes, { ...bands, curve: points }];
  },
  sentences: ({ sentences = 5 }) => [sentenceBytes(sentences), {}],
  exact: () => [EXACT_BYTES, {}],
};
