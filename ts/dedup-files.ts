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
import * as check from './options';
import { isUrl, type Path, path } from './path';

/** A value that has the right type and no meaning. */
const INVALID = 'ERR_INVALID_ARG_VALUE';

/** How far a run is. */
export interface Progress {
  /** `'finish'`: the input has ended; what is left is decided and written, and outputs are moved into place. */
  stage: 'dedup' | 'finish';
  /** Records decided or rejected. */
  documents: number;
  /** Bytes read, compressed ones for gzip; comparable with `totalBytes`. Of `dedup`: bytes of text. */
  bytes: number;
  /** Size of all inputs, where none is a stream; of `dedup` always absent. */
  totalBytes?: number;
  duplicates: number;
}

/** A run over files. */
export interface DedupFilesOptions extends ComparisonOptions, JobOptions {
  /** Which document of a cluster is kept. Default `'first'`; any other is decided when the input has ended. */
  keep?: Keep | undefined;
  /** Field of the text, `a.b` for nested ones. Default `'text'`. */
  textField?: string | undefined;
  /** Field of the id. Default `'id'`; without it the line number is the id, with several inputs `file:line`. */
  idField?: string | undefined;
  /** File for the clusters of two or more, a JSON line each; `-` is standard output, where there is no `output`. */
  clusters?: Path | undefined;
  /**
   * Keep every record and add `duplicateOf`, `similarity`, `distance` to duplicates, in place of such keys that records have.
   * Default false: remove duplicates.
   */
  mark?: boolean | undefined;
  /** File for the rejected records. */
  rejects?: Path | undefined;
  /** Decide and count, write nothing. Default false. */
  dryRun?: boolean | undefined;
  /** Called at most 20 times a second. What it throws ends the run, and the promise rejects with it. */
  onProgress?: ((progress: Progress) => void) | undefined;
}

const OPTIONS: check.Checks<DedupFilesOptions> = {
  ...COMPARISON,
  ...JOB,
  keep,
  textField: check.string,
  idField: check.string,
  clusters: path,
  mark: check.boolean,
  rejects: path,
  dryRun: check.boolean,
  onProgress: check.callback,
};

/**
 * Writes the documents of files without their near-duplicates. Texts never enter JavaScript: reading, deciding and writing
 * happen on threads of their own. Where clusters are components, or another document than the first is kept, files are read a
 * second time when they have ended; standard input and gzip files are copied to a temporary file for that.
 *
 * Inputs are JSON lines, plain or gzip, named by path or `file:` URL; `-` is standard input, or standard output as `output`. Kept records are copied
 * byte for byte. Outputs appear whole at the end, or, after an error or an abort, not at all; those whose name ends in `.gz`
 * are compressed. An input file that changes during the run is an error (`ERR_SIMHASH_INPUT_CHANGED`); standard input and pipes
 * are taken as they come. A line longer than 64 MiB is rejected. A malformed line is counted
 * as rejected; where all are (`ERR_SIMHASH_NO_RECORDS`), only the file of rejects is written. An input without records is no
 * error: there are 0 documents then.
 */
export async function dedupFiles(
  inputs: Path | readonly Path[],
  output: Path | undefined,
  options?: DedupFilesOptions,
): Promise<Summary> {
  const given = check.checked(options, OPTIONS);
  const names = inputNames(inputs, 'inputs');
  if (names.filter((name) => name === '-').length > 1) {
    throw typeError("inputs can name standard input ('-') only once", INVALID);
  }
  const { dryRun = false, mark = false, textField = 'text', idField = 'id' } = given;
  const { clusters, rejects, onProgress } = given;
  if (output === undefined && !dryRun && clusters === undefined) {
    const other = 'it may be left out beside clusters, and dryRun writes nothing';
    throw typeError(`output must be a path or a file: URL, got undefined; ${other}`);
  }
  const target = output === undefined ? undefined : path(output, 'output');
  if (rejects === '-' || (clusters === '-' && target !== undefined)) {
    throw typeError(
      "one of output and clusters can be standard output ('-'), and clusters only where there is no output",
      INVALID,
    );
  }
  const run = {
    dedup: { ...nativeComparison(given), ...nativeKeep(given.keep ?? 'first') },
    inputs: names,
    mark,
    dryRun,
    textField,
    idField,
    ...(target === undefined ? {} : { output: target }),
    // Checked, and so strings.
    ...(clusters === undefined ? {} : { clusters: clusters as string }),
    ...(rejects === undefined ? {} : { rejects: rejects as string }),
  };
  const report = onProgress && ((progress: Progress) => onProgress(withoutNull(progress)));
  return telling(report, given.signal, (report, cancel) => binding.dedupFiles(run, report, cancel));
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
