/** How `dedup` and `dedupFiles` compare documents: the options that both take. */
import { about, typeError } from './errors';
import { FINGERPRINTER, type FingerprinterOptions, nativeOptions } from './fingerprinter';
import { given } from './given';
import { type Method, methodOf, OWN } from './method';
import type { NativeDedupOptions } from './native';
import { checksOf } from './option-table';
import * as check from './options';
import type { ReportSummary } from './report/write';

/** Which document of a cluster is kept; ties are for the first. */
export type Keep =
  | 'first'
  | 'last'
  /** Most characters. */
  | 'longest'
  /** The largest value of the field `date`. */
  | 'newest'
  /**
   * By another field, `a.b` for nested ones: numbers (those of files exactly where they are whole, those of JavaScript as
   * they are, bigints too), then texts by code points; documents without it are kept last.
   */
  | {
      readonly field: string;
      /** Which value is kept. Default `'largest'`. */
      readonly order?: 'largest' | 'smallest' | undefined;
    };

/** How documents are compared. */
export interface ComparisonOptions extends FingerprinterOptions {
  /** Default: the method whose options are given (`maxDistance`: `'simhash'`), else `'minhash'`. */
  method?: Method | undefined;
  /** For `'simhash'`: largest Hamming distance of candidates, inclusive, 0 to 16. Default 8, for with verification a wide one costs only time; 3 with `verify: false`. */
  maxDistance?: number | undefined;
  /**
   * For `'minhash'`: bands and rows per band, 1 to 1024 together; two texts of similarity s share a band with probability
   * `1 - (1 - s ** rows) ** bands`. Default: the most rows that find a pair at `minSimilarity` with probability 0.9999 within 128 positions;
   * 24 bands of 5 rows for 0.8.
   */
  bands?: number | undefined;
  /** For `'minhash'`, beside `bands`. */
  rows?: number | undefined;
  /** For `'sentences'`: how many of the longest are taken, 1 to 64. Default 5. */
  sentences?: number | undefined;
  /**
   * What belongs together: documents that resemble the one that is kept (`'representative'`, default), or whatever matches
   * connect, through duplicates too (`'components'`).
   */
  cluster?: 'representative' | 'components' | undefined;
  /**
   * What is measured between candidates: `'auto'` (default, Jaccard similarity of the features, and in short texts numbers
   * count: see `similarity()`), `'jaccard'` alone, the containment of the smaller text's features in the larger one's, edit distance as a share of the longer text, or the
   * cosine of weighted features. `false`: candidates are duplicates as they are, those that `'minhash'` and `'brute-force'`
   * find for a `minSimilarity` of 0.8.
   */
  verify?: 'auto' | 'jaccard' | 'containment' | 'edit' | 'cosine' | false | undefined;
  /** Least similarity by that measure, 0 to 1. Default 0.8. 0 is `verify: false`, beside which no other number may be given, and goes beside no measure. */
  minSimilarity?: number | undefined;
  /** Most candidates looked at per document, best first, 1 to 2^32 - 1. Default 1000. */
  maxVerifications?: number | undefined;
}

/** A record that could not be used. */
export interface Rejected {
  file: string;
  /** From 1, blank lines counted. */
  line: number;
  reason: string;
}

/** An input that is not in UTF-8. */
export interface ReadAs {
  file: string;
  /** How its characters were read: named by the caller, or found. */
  encoding: string;
  /** Of a folder: how many of its files. */
  files?: number;
}

/** What a run of `dedupFiles` has to do with its index. */
export interface IndexedRun {
  /** The run's name, of what it read: 32 hexadecimal digits. */
  run: string;
  /** The same run was made before: it was answered as then, and nothing was added. */
  repeated: boolean;
  /** Documents that the index holds now. */
  documents: number;
  /** What became of an earlier run whose process was killed while it was about to count. */
  settled?: Settled;
}

/** What became of a run whose process was killed while it was about to count. */
export interface Settled {
  /** Whether it counts now, with all of its outputs; if not, nothing of it is in the index. */
  counts: boolean;
  /** Its outputs. */
  outputs: string[];
}

/** Documents that have the id of an earlier one. */
export interface SameIds {
  documents: number;
  /** The first ten in the input: where they are, and where the first with their id is; lines from 1. */
  first: { file: string; line: number; firstFile: string; firstLine: number }[];
}

/** The figures of a run: `read = kept + duplicates + rejected`. */
export interface Summary {
  read: number;
  kept: number;
  duplicates: number;
  rejected: number;
  /** Groups of two or more. */
  clusters: number;
  /** Different texts whose candidates a limit cut: an original of theirs may have been missed. Copies of a text are not counted again. */
  truncated: number;
  /** Kept documents without text after normalisation; they match nothing. */
  empty: number;
  /** Documents too short for the method, compared by equality. */
  short: number;
  /** Wall time. */
  seconds: number;
  /** Bytes of text, or of input lines, decompressed. */
  bytes: number;
  /**
   * Bytes held for the documents, texts aside. Where they are decided as they come: at the end, the method's index (of SimHash with
   * everything merged into one segment) and the map of equal texts. Of files: all columns that are sorted together, not all of them
   * held at the same time. The same for any `threads` and `batch`.
   */
  indexBytes: number;
  /** Of files: those that are not in UTF-8, and how they were read. */
  encodings?: ReadAs[];
  /** The first ten rejected records of files; `dedup` yields a decision for each. */
  firstRejected: Rejected[];
  /** Of `dedupFiles` with `clusters` or `mark`, and without `index`: documents of `inputs` that have the id of an earlier one of them, or of one of `known`, where there are some; these outputs do not say which of them they name. */
  sameIds?: SameIds;
  /** Unfinished files of earlier runs that were killed while they wrote to the same outputs, and their folder in `tmp`; they were removed. */
  leftovers: string[];
  /** Of `dedupFiles` with `tmp`: records that an earlier run had sketched, from where this one went on. */
  resumed?: number;
  /** Of `dedupFiles` with `tmp`: folders there of other runs that stopped. They can go on, or be deleted. */
  stopped?: string[];
  /** Of `dedupFiles` with `known`: the documents there. */
  known?: number;
  /** Of `dedupFiles` with `index`. */
  index?: IndexedRun;
  /** Of `dedupFiles` with `report`. */
  report?: ReportSummary;
}

const { verify: measure } = checksOf('verify');

export const COMPARISON: check.Checks<ComparisonOptions> = {
  ...FINGERPRINTER,
  ...checksOf('method', 'maxDistance', 'bands', 'rows', 'sentences', 'cluster'),
  verify: (value, name) => (value === false ? false : measure(value, name)),
  ...checksOf('minSimilarity', 'maxVerifications'),
};

/** A value that has the right type and no meaning. */
const INVALID = 'ERR_INVALID_ARG_VALUE';

const KEEP_FIELD: check.Checks<Extract<Keep, object>> = {
  field: check.field,
  order: check.choice('largest', 'smallest'),
};

/** A keep rule. */
export const keep: check.Check<Keep> = (value, name) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return check.choice('first', 'last', 'longest', 'newest')(value, name);
  }
  const rule = check.checked(value, KEEP_FIELD, name);
  if (rule.field === undefined) throw typeError(`${name}.field must be a string, got undefined`);
  return rule;
};

/** A keep rule as the addon takes it. */
export function nativeKeep(rule: Keep): Pick<NativeDedupOptions, 'keep' | 'keepField'> {
  if (rule === 'newest') return { keep: 'largest', keepField: 'date' };
  if (typeof rule === 'string') return { keep: rule };
  return { keep: rule.order ?? 'largest', keepField: rule.field };
}

/** Refuses an option of one method beside another. */
export function mustBe(owner: Method, method: Method, option: string): void {
  if (method === owner) return;
  const why = `is for method '${owner}', and the method is '${method}'`;
  throw about(typeError(`${option} ${why}`, INVALID), option);
}

/** Checked options as the addon takes them. */
export function nativeComparison(options: ComparisonOptions): NativeDedupOptions {
  const { cluster, maxVerifications, threads = 0 } = options;
  const { maxDistance, bands, rows, sentences } = options;
  const method = methodOf(options);
  for (const [option, owner] of OWN) {
    if (options[option] !== undefined) mustBe(owner, method, option);
  }
  bothOrNeither(options);
  return {
    fingerprinter: nativeOptions(options),
    threads,
    method,
    ...given({ maxDistance, bands, rows, sentences, cluster, maxVerifications }),
    ...verification(options),
  };
}

/** Refuses bands without rows, and rows without bands. */
export function bothOrNeither({ bands, rows }: Pick<ComparisonOptions, 'bands' | 'rows'>): void {
  if ((bands === undefined) === (rows === undefined)) return;
  const together = typeError('bands and rows must be given together, or neither', INVALID);
  throw about(together, 'bands', 'rows');
}

/** How candidates are verified, as the addon takes it; a similarity of 0: not at all. */
export function verification({
  verify,
  minSimilarity,
}: Pick<ComparisonOptions, 'verify' | 'minSimilarity'>): Pick<
  NativeDedupOptions,
  'verify' | 'minSimilarity'
> {
  if (verify !== undefined && verify !== false && minSimilarity === 0) {
    const why = `must be above 0 beside verify: '${verify}'; verify: false takes candidates as they are`;
    throw about(typeError(`minSimilarity ${why}`, INVALID), 'minSimilarity');
  }
  if (verify !== false) return given({ verify, minSimilarity });
  if (minSimilarity !== undefined && minSimilarity > 0) {
    const why = `must be left out beside verify: false, which measures nothing, got ${minSimilarity}`;
    throw about(typeError(`minSimilarity ${why}`, INVALID), 'minSimilarity');
  }
  return { minSimilarity: 0 };
}
