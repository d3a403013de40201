import { binding } from './binding';
import { telling } from './callback';
import {
  COMPARISON,
  type ComparisonOptions,
  type Keep,
  keep,
  nativeComparison,
  nativeKeep,
  type Summary,
} from './comparison';
import { typeError } from './errors';
import { JOB, type JobOptions } from './fingerprinter';
import { FORM, type FormOptions, nativeForm } from './form';
import * as check from './options';
import { isUrl, type Path, path } from './path';
import { REPORT, type ReportOptions } from './report/options';

/** A value that has the right type and no meaning. */
const INVALID = 'ERR_INVALID_ARG_VALUE';

/** How far a run is. */
export interface Progress {
  /** `'finish'`: the input has ended; what is left is decided and written, and outputs are moved into place. */
  stage: 'dedup' | 'finish';
  /** Records decided or rejected. */
  documents: number;
  /** Bytes read, compressed ones of compressed files; comparable with `totalBytes`. Of `dedup`: bytes of text. */
  bytes: number;
  /** Size of all inputs, where none is a stream; of `dedup` always absent. */
  totalBytes?: number;
  duplicates: number;
}

/** A run over files. */
export interface DedupFilesOptions
  extends ComparisonOptions,
    JobOptions,
    FormOptions,
    ReportOptions {
  /** Which document of a cluster is kept. Default `'first'`; any other is decided when the input has ended. */
  keep?: Keep | undefined;
  /** File for the clusters of two or more, a JSON line each; `-` is standard output, where there is no `output`. */
  clusters?: Path | undefined;
  /**
   * Keep every record and add `duplicateOf`, `similarity`, `distance` to duplicates, in place of such keys that records have.
   * Default false: remove duplicates.
   */
  mark?: boolean | undefined;
  /** Of texts in files (`format: 'files'`, or a folder): write the paths of those that are kept, a line each, instead of records; one with a newline, or that begins with a quote, as a JSON string. Default false. */
  list?: boolean | undefined;
  /**
   * Of texts in files, instead of `output`: a folder into which those that are kept are copied, under the names that they have below the input (of a pattern
   * behind what has no signs). Nothing that is there is replaced, and an error leaves none of them. A folder that is new appears in one step, so all or none
   * are there even if the process is killed; in a folder that was there before a kill while names are given leaves the first of them, each whole, and a
   * hidden folder `.copies.simhash-N.tmp`, which the next run removes. Not beside `mark`, `list` and `index`.
   */
  copy?: Path | undefined;
  /**
   * How characters of the output are written, as `encoding`. Default: as in the inputs, where all have one encoding, else UTF-8 (of several streams that are
   * decided as they come always UTF-8).
   */
  outputEncoding?: string | undefined;
  /** File for the rejected records. */
  rejects?: Path | undefined;
  /**
   * File for one page of HTML about what the run found, see {@link reportFiles}: it is made when the run has ended, and inputs are read once more for it. They must be
   * files, and so must `clusters`, where it is given, of JSON lines. Not beside `dryRun`.
   */
  report?: Path | undefined;
  /**
   * Files of documents that are there already. They are never written; a document may be a duplicate of one of them, and clusters are those in
   * which one of `inputs` is a duplicate. The summary counts only those of `inputs`, and rejected records of both. Ids made from line
   * numbers do not say on which side they are. Everything is decided when all have been read, streams too. For `keep: 'first'` and
   * `cluster: 'representative'`, the defaults; not beside `index`.
   */
  known?: Path | readonly Path[] | undefined;
  /**
   * Compare documents with those of other inputs only: documents of one input are never duplicates of each other. Of a cluster all
   * documents are kept that are of the same input as the one that `keep` chooses. A folder of texts is one input, and so is a pattern whose
   * files are all texts; of any other pattern each file is one. Two inputs at least, of which files of `known` may be some; everything is
   * decided when all have been read, streams too. Not beside `index`. Default false.
   */
  acrossFilesOnly?: boolean | undefined;
  /**
   * Folder of an index: documents are checked against what it holds too, and those that are kept enter it, with their ids as keys, in one
   * commit with the outputs. Made where there is none. Not with components, `keep` other than `'first'`, brute force, or streams.
   */
  index?: Path | undefined;
  /**
   * Most bytes of memory that the whole process may hold during the run, 209715200 (200 MiB) to 2^53 - 1: what there is beyond that lies in
   * temporary files, at most some 200 bytes per document beside copies of compressed inputs. Changes no result. Of standard input and
   * pipes that are decided as they come documents are held in memory: such a run fails with `ERR_SIMHASH_MEMORY` where that is not
   * enough, and so does one by brute force, which compares all sets of features with all. Linux only, and not with `index`. Default any.
   */
  memory?: number | undefined;
  /**
   * Folder of temporary files, which have no name, so that they go away with the process. Default that of the system, which may itself
   * lie in memory. A run over files into files makes a folder of its own there, for its owner only, and keeps in it what it has done, some
   * 230 bytes more per document, so that it can go on (`resume`) after a kill, an abort or an error. It is removed when the run has ended.
   */
  tmp?: Path | undefined;
  /**
   * Go on where an earlier run with the same outputs and the same `tmp` stopped; from the beginning where there is none. The outputs are
   * those of a run that was not stopped. All options but `memory` and `threads` must be the same (`ERR_SIMHASH_INDEX_MISMATCH`), and so must
   * the inputs (`ERR_SIMHASH_INPUT_CHANGED`). Not with `index`, streams or `dryRun`. Default false: what such a run has left is removed.
   */
  resume?: boolean | undefined;
  /** Decide and count, write nothing. Default false. */
  dryRun?: boolean | undefined;
  /** Called at most 20 times a second. What it throws ends the run, and the promise rejects with it. */
  onProgress?: ((progress: Progress) => void) | undefined;
}

/** What comes out of the check. */
type Checked = Omit<DedupFilesOptions, 'known'> & { known?: string[] };

const OPTIONS: check.Checks<Checked> = {
  ...COMPARISON,
  ...JOB,
  keep,
  ...FORM,
  clusters: path,
  mark: check.boolean,
  list: check.boolean,
  copy: path,
  outputEncoding: check.string,
  rejects: path,
  report: path,
  ...REPORT,
  known: inputNames,
  acrossFilesOnly: check.boolean,
  index: path,
  memory: check.integer(1, Number.MAX_SAFE_INTEGER),
  tmp: path,
  resume: check.boolean,
  dryRun: check.boolean,
  onProgress: check.callback,
};

/**
 * Writes the documents of files without their near-duplicates. Texts never enter JavaScript: reading, deciding and writing
 * happen on threads of their own. Files are read a second time when they have ended, to be written; compressed files, those in UTF-16 and folders are copied to a temporary
 * file for that. Standard input and pipes are decided as they come, unless clusters are components, another document than the first is
 * kept, or documents are compared across files only: then they are copied to a temporary file too.
 *
 * Inputs are files of JSON lines, a JSON array, CSV, TSV or lines, or folders of texts (`format`), plain or compressed (gzip, zstd, bzip2, xz, known by their first
 * bytes), named by path or `file:` URL; `-` is standard input, or standard output as `output`. The output has the format of the inputs, of a folder JSON lines of
 * `id`, the path, and `text`; kept records are copied byte for byte, unless their encoding is changed. Outputs appear whole at the end, or, after an error or an abort, not at all; those whose name ends in `.gz`
 * or `.zst` are compressed. An input file that changes during the run is an error (`ERR_SIMHASH_INPUT_CHANGED`); standard input and pipes
 * are taken as they come. A record longer than `maxRecord` is rejected. A malformed one is counted
 * as rejected; where all are (`ERR_SIMHASH_NO_RECORDS`), only the file of rejects is written. An input without records is no
 * error: there are 0 documents then.
 *
 * With `index` an earlier document may be the original of a duplicate. The run counts whole or not at all, wherever its process is killed; the
 * same inputs once more are answered as the first time, and add nothing.
 */
export async function dedupFiles(
  inputs: Path | readonly Path[],
  output: Path | undefined,
  options?: DedupFilesOptions,
): Promise<Summary> {
  const given = check.checked(options, OPTIONS);
  const names = inputNames(inputs, 'inputs');
  const { known } = given;
  if ([...names, ...(known ?? [])].filter((name) => name === '-').length > 1) {
    throw typeError("inputs can name standard input ('-') only once", INVALID);
  }
  const { dryRun = false, mark = false, list = false, outputEncoding } = given;
  const { clusters, rejects, copy, index, memory, tmp, resume = false, onProgress } = given;
  const { acrossFilesOnly = false } = given;
  if (index !== undefined && memory !== undefined) {
    throw typeError('memory must be left out beside index, which is held in memory', INVALID);
  }
  if (index !== undefined && resume) {
    throw typeError(
      'resume must be left out beside index, which counts whole or not at all',
      INVALID,
    );
  }
  if (index !== undefined && acrossFilesOnly) {
    throw typeError('acrossFilesOnly must be left out beside index', INVALID);
  }
  if (copy !== undefined && (output !== undefined || mark || list || index !== undefined)) {
    throw typeError('copy must be left out beside output, mark, list and index', INVALID);
  }
  if (output === undefined && !dryRun && clusters === undefined && copy === undefined) {
    const other = 'it may be left out beside clusters and copy, and dryRun writes nothing';
    throw typeError(`output must be a path or a file: URL, got undefined; ${other}`);
  }
  const target = output === undefined ? undefined : path(output, 'output');
  if (rejects === '-' || (clusters === '-' && target !== undefined)) {
    throw typeError(
      "one of output and clusters can be standard output ('-'), and clusters only where there is no output",
      INVALID,
    );
  }
  if (known !== undefined) checkKnown(given);
  const { report, reportTexts, dateField } = given;
  if (report === undefined && (reportTexts !== undefined || dateField !== undefined)) {
    throw typeError('reportTexts and dateField are for report, which is not given', INVALID);
  }
  if (report !== undefined) {
    if (dryRun)
      throw typeError('report must be left out beside dryRun, which writes nothing', INVALID);
    const { beside } = await import('./report/beside.js');
    return beside({
      // Checked, and so strings.
      report: report as string,
      result: clusters as string | undefined,
      tmp: tmp as string | undefined,
      inputs: names,
      others: known ?? [],
      outputs: [target, ...([rejects, copy, index] as (string | undefined)[])],
      made: {
        ...given,
        command: target === undefined && copy === undefined ? 'clusters' : 'dedup',
        onProgress: undefined,
      },
      run: (clusters) => {
        const { report: _, reportTexts: _texts, dateField: _date, ...rest } = given;
        return dedupFiles(names, target, { ...rest, clusters });
      },
      about: ({ truncated }: Summary) => ({ truncated }),
    });
  }
  const run = {
    dedup: { ...nativeComparison(given), ...nativeKeep(given.keep ?? 'first') },
    inputs: names,
    mark,
    list,
    dryRun,
    resume,
    acrossFilesOnly,
    form: nativeForm(given),
    ...(outputEncoding === undefined ? {} : { outputEncoding }),
    ...(known === undefined ? {} : { known }),
    ...(target === undefined ? {} : { output: target }),
    // Checked, and so strings.
    ...(copy === undefined ? {} : { copy: copy as string }),
    ...(clusters === undefined ? {} : { clusters: clusters as string }),
    ...(rejects === undefined ? {} : { rejects: rejects as string }),
    ...(memory === undefined ? {} : { memory }),
    ...(tmp === undefined ? {} : { tmp: tmp as string }),
  };
  const tell = onProgress && ((progress: Progress) => onProgress(withoutNull(progress)));
  if (index === undefined) {
    const done = await telling(tell, given.signal, (report, cancel) =>
      binding.dedupFiles(run, report, cancel),
    );
    const { summary, known: documents, resumed, stopped, sameIds } = done;
    return {
      ...summary,
      ...(sameIds.documents === 0 ? {} : { sameIds }),
      ...(known === undefined ? {} : { known: documents }),
      ...(tmp === undefined ? {} : { resumed, stopped }),
    };
  }
  const done = await telling(tell, given.signal, (report, cancel) =>
    // Checked, and so a string.
    binding.dedupIntoIndex(index as string, run, report, cancel),
  );
  const { run: name, repeated } = done;
  const { stats, settled } = done.index;
  const indexed = { run: name, repeated, documents: stats.live, ...(settled ? { settled } : {}) };
  return { ...done.summary, index: indexed };
}

/** Refuses what known documents do not go with: they could be duplicates of later ones, and an index holds what was there. */
function checkKnown({ keep = 'first', cluster = 'representative', index }: Checked): void {
  if (index !== undefined) {
    throw typeError('known is for runs without index: it holds what was there', INVALID);
  }
  if (keep === 'first' && cluster === 'representative') return;
  const only = cluster === 'components' ? "cluster 'representative'" : "keep 'first'";
  const why = 'with another a known document could be a duplicate of a later one';
  throw typeError(`known is for ${only}: ${why}`, INVALID);
}

/** The files of an argument, one or several. */
export function inputNames(inputs: unknown, argument: string): string[] {
  if (typeof inputs === 'string' || isUrl(inputs)) return [path(inputs, argument)];
  check.array(inputs, argument);
  const names = inputs as readonly unknown[];
  return names.map((name, row) => path(name, `${argument}[${row}]`));
}

/** The addon says null for what is absent. */
function withoutNull({ totalBytes, ...progress }: Progress): Progress {
  return typeof totalBytes === 'number' ? { ...progress, totalBytes } : progress;
}
