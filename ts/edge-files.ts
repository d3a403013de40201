import { binding } from './binding';
import { telling } from './callback';
import {
  COMPARISON,
  type ComparisonOptions,
  nativeComparison,
  type ReadAs,
  type Rejected,
  type SameIds,
} from './comparison';
import { type DedupFilesOptions, inputNames } from './dedup-files';
import { about, typeError } from './errors';
import { JOB, type JobOptions } from './fingerprinter';
import { FORM, type FormOptions, nativeForm } from './form';
import { given } from './given';
import type { NativeEdgeSummary, NativeProgress } from './native';
import * as check from './options';
import { type Path, path } from './path';
import { nativeRecords, RECORDS, type RecordsOptions } from './records';
import { REPORT, type ReportOptions } from './report/options';
import type { ReportSummary } from './report/write';

/** A value that has the right type and no meaning. */
const INVALID = 'ERR_INVALID_ARG_VALUE';

/** How far a run is that looks for pairs or matches. */
export interface EdgeProgress {
  /** Records read. */
  documents: number;
  /** Bytes read, compressed ones of compressed files; comparable with `totalBytes`. */
  bytes: number;
  /** Size of all inputs, where none is a stream. */
  totalBytes?: number;
  /** Pairs, or matches, found so far. */
  found: number;
}

/** A run over files that looks for pairs. Nothing is clustered, so there is no `cluster` and no `keep`. */
export interface PairsFilesOptions
  extends Omit<ComparisonOptions, 'cluster'>,
    JobOptions,
    FormOptions,
    Pick<DedupFilesOptions, 'rejects' | 'dryRun' | 'memory'> {
  /**
   * Folder of temporary files, which have no name, so that they go away with the process. Default that of the system, which may itself
   * lie in memory. Nothing else is kept there: such a run does not go on where another one stopped.
   */
  tmp?: Path | undefined;
  /** Called at most 20 times a second. What it throws ends the run, and the promise rejects with it. */
  onProgress?: ((progress: EdgeProgress) => void) | undefined;
}

/** A run over files that looks for matches. */
export interface MatchFilesOptions extends PairsFilesOptions, RecordsOptions, ReportOptions {
  /**
   * File for one page of HTML about the matches, see {@link reportFiles}: it is made when they have been written, and all files are read once more. Only where
   * `output` is a file of matches: not beside `remove`, `mark`, `list`, `copy` and `dryRun`.
   */
  report?: Path | undefined;
  /** Files of the documents to search. */
  against: Path | readonly Path[];
  /** Most matches of one document, the most similar first, 1 to 2^53 - 1. Default: all. */
  limit?: number | undefined;
}

/** What the figures of pairs and matches have in common. */
interface EdgeSummary {
  read: number;
  rejected: number;
  /** Pairs of different texts that were compared. */
  candidates: number;
  /** Documents without text after normalisation; they match nothing. */
  empty: number;
  /** Documents too short for the method, compared by equality. */
  short: number;
  /** Wall time. */
  seconds: number;
  /** Bytes of input lines, decompressed. */
  bytes: number;
  /** Bytes held for the documents, texts aside: of files all columns together, though not all at the same time; of streams the method's index and the map of equal texts. */
  indexBytes: number;
  /** The inputs that are not in UTF-8. */
  encodings: ReadAs[];
  /** The first ten rejected records. */
  firstRejected: Rejected[];
  /** Documents that have the id of an earlier one, of matches an earlier one of their side, where there are some: what names ids does not say which it means. */
  sameIds?: SameIds;
  /** Unfinished files of earlier runs that were killed while they wrote to the same outputs; they were removed. */
  leftovers: string[];
}

/** The figures of {@link pairsFiles}: `read = documents + rejected`. */
export interface PairsSummary extends EdgeSummary {
  documents: number;
  pairs: number;
  /** Different texts whose candidates a limit cut: a pair of theirs may be missing. */
  truncated: number;
}

/** The figures of {@link matchFiles}: `read = documents + against + rejected`. */
export interface MatchSummary extends EdgeSummary {
  /** New documents. */
  documents: number;
  /** Documents that they were matched with. */
  against: number;
  /** New documents that match one. */
  matched: number;
  /** Of all new documents together. */
  matches: number;
  /** New documents whose candidates or matches a limit cut. */
  truncated: number;
  /** Of a run with `report`. */
  report?: ReportSummary;
}

/** What comes out of the check: files by their paths. */
type CheckedPairs = Omit<PairsFilesOptions, 'rejects' | 'tmp'> & {
  rejects?: string;
  tmp?: string;
};

const { cluster: _cluster, ...COMPARED } = COMPARISON;

const PAIRS: check.Checks<CheckedPairs> = {
  ...COMPARED,
  ...JOB,
  ...FORM,
  rejects: path,
  dryRun: check.boolean,
  memory: check.integer(1, Number.MAX_SAFE_INTEGER),
  tmp: path,
  onProgress: check.callback,
};

type CheckedMatches = CheckedPairs &
  RecordsOptions &
  ReportOptions & { against: string[]; limit?: number; report?: string };

const MATCHES: check.Checks<CheckedMatches> = {
  ...PAIRS,
  ...RECORDS,
  ...REPORT,
  report: path,
  against: inputNames,
  limit: check.integer(1, Number.MAX_SAFE_INTEGER),
};

/**
 * Writes every pair of near-duplicates of files, a JSON line each: `{"a", "b", "similarity", "distance"}`, ids as the records
 * have them, `a` before `b` in the input, similarity and distance where they are known, and `"truncated": true` where a limit
 * cut the candidates of `b`. Of documents with equal texts the first stands for all: each later one comes once, as `b` of a pair
 * with the first at similarity 1. These are the pairs by which {@link dedupFiles} decides; what they connect are its clusters for
 * `cluster: 'components'`.
 *
 * Inputs, outputs and errors are as those of {@link dedupFiles}. `output` may be `undefined` with `dryRun`.
 */
export async function pairsFiles(
  inputs: Path | readonly Path[],
  output: Path | undefined,
  options?: PairsFilesOptions,
): Promise<PairsSummary> {
  const checked = check.checked(options, PAIRS);
  const {
    against: _against,
    matched: _matched,
    edges,
    ...rest
  } = await run(inputNames(inputs, 'inputs'), output, checked);
  return { ...rest, pairs: edges };
}

/**
 * Writes for each document of `inputs` the documents of `against` that it resembles, a JSON line each: `{"id", "matches": [{"id",
 * "similarity", "distance"}, …]}`, the most similar first, of equally similar ones the first in `against`, and `"truncated": true`
 * where a limit left something out. These are the pairs that {@link pairsFiles} finds between the two.
 *
 * Of documents of `against` with equal texts the first stands for all; a new document whose text is there has that one match.
 * With `remove`, `mark`, `list` or `copy` the new documents themselves are written, those without a match or all with marks.
 *
 * New documents are not compared with each other. An empty text has no matches. Inputs, outputs and errors are as those of
 * {@link dedupFiles}; where all records of one side are rejected, that is an error.
 */
export async function matchFiles(
  inputs: Path | readonly Path[],
  output: Path | undefined,
  options: MatchFilesOptions,
): Promise<MatchSummary> {
  const checked = check.checked(options, MATCHES);
  if (checked.against === undefined) {
    throw about(
      typeError('against must be a path, a file: URL or an array of them, got undefined'),
      'against',
    );
  }
  const { against } = checked;
  const news = inputNames(inputs, 'inputs');
  const { report, reportTexts, dateField } = checked;
  if (report === undefined) {
    if (reportTexts !== undefined || dateField !== undefined) {
      throw typeError('reportTexts and dateField are for report, which is not given', INVALID);
    }
    const { edges, ...rest } = await run(news, output, checked, against);
    return { ...rest, matches: edges };
  }
  const others = ['remove', 'mark', 'list', 'copy', 'dryRun'] as const;
  const other = others.find((name) => checked[name] !== undefined && checked[name] !== false);
  if (other !== undefined || output === undefined) {
    const why = 'it is made of the file of matches';
    throw typeError(
      `report must be left out ${other === undefined ? 'without output' : `beside ${other}`}: ${why}`,
      INVALID,
    );
  }
  const { rejects, threads, signal } = checked;
  const { beside } = await import('./report/beside.js');
  return beside({
    report,
    result: path(output, 'output'),
    inputs: news,
    others: against,
    outputs: [rejects],
    made: { ...checked, ...given({ threads, signal }), command: 'match', onProgress: undefined },
    run: (result) => {
      const { report: _, reportTexts: _texts, dateField: _date, ...rest } = checked;
      return matchFiles(news, result, rest);
    },
    about: ({ truncated }: MatchSummary) => ({ truncated }),
  });
}

async function run(
  inputs: string[],
  to: Path | undefined,
  options: CheckedPairs & RecordsOptions & { readonly limit?: number | undefined },
  against?: string[],
): Promise<EdgeFigures> {
  if ([...inputs, ...(against ?? [])].filter((name) => name === '-').length > 1) {
    throw typeError("inputs can name standard input ('-') only once", INVALID);
  }
  const { dryRun = false, limit, rejects, memory, tmp } = options;
  if (to === undefined && !dryRun && options.copy === undefined) {
    const why = 'it may be left out with dryRun, which writes nothing';
    throw typeError(`output must be a path or a file: URL, got undefined; ${why}`);
  }
  const output = to === undefined ? undefined : path(to, 'output');
  const records = nativeRecords(options, { output, limit });
  if (rejects === '-') {
    throw typeError("only output can be standard output ('-')", INVALID);
  }
  const native = {
    dedup: nativeComparison(options),
    inputs,
    dryRun,
    form: nativeForm(options),
    ...given({ against, limit, output, records, rejects, memory, tmp }),
  };
  const { onProgress, signal } = options;
  const report = onProgress && ((progress: NativeProgress) => onProgress(position(progress)));
  return edgeFigures(
    await telling(report, signal, (report, cancel) => binding.edgeFiles(native, report, cancel)),
  );
}

/** The figures as the library says them. */
export type EdgeFigures = Omit<NativeEdgeSummary, 'sameIds'> & { sameIds?: SameIds };

/** The figures without what there is none of. */
export function edgeFigures({ sameIds, ...summary }: NativeEdgeSummary): EdgeFigures {
  return { ...summary, ...(sameIds.documents === 0 ? {} : { sameIds }) };
}

/** Where a run is, as the library says it. */
export function position({
  documents,
  bytes,
  totalBytes,
  duplicates,
}: NativeProgress): EdgeProgress {
  // The addon says null for what is absent.
  const total = typeof totalBytes === 'number' ? { totalBytes } : {};
  return { documents, bytes, ...total, found: duplicates };
}
