/** A page about what a run over files found. */
import { COMPARISON } from './comparison';
import { inputNames } from './dedup-files';
import { FINGERPRINTER, type FingerprinterOptions, JOB, type JobOptions } from './fingerprinter';
import { FORM, type FormOptions } from './form';
import * as check from './options';
import { type Path, path } from './path';
import { REPORT, type ReportOptions } from './report/options';
import { refuseAmong } from './report/refused';
import {
  type ComparedBy,
  type ReportProgress,
  type ReportSummary,
  refuseStreams,
  write,
} from './report/write';

/** A report about a file. */
export interface ReportFilesOptions
  extends ReportOptions,
    JobOptions,
    FormOptions,
    ComparedBy,
    FingerprinterOptions {
  /** Files whose documents the result names and that are not counted: those of `known`, or of `against`. */
  others?: Path | readonly Path[] | undefined;
  /** Called at most 20 times a second. What it throws ends the run, and the promise rejects with it. */
  onProgress?: ((progress: ReportProgress) => void) | undefined;
}

/** What comes out of the check. */
type Checked = Omit<ReportFilesOptions, 'others'> & { others?: string[] };

const { method, maxDistance, bands, rows, verify, minSimilarity } = COMPARISON;

const OPTIONS: check.Checks<Checked> = {
  ...{ method, maxDistance, bands, rows, verify, minSimilarity },
  ...FINGERPRINTER,
  ...REPORT,
  ...JOB,
  ...FORM,
  others: inputNames,
  onProgress: check.callback,
};

/**
 * Writes one page of HTML about a file of clusters (that {@link dedupFiles} has written) or of matches ({@link matchFiles}) and the documents that these
 * are of: totals, duplicate rates by file, length and date, sizes, similarities, distances, the curve of the bands, and some hundred clusters with their texts,
 * which can be labelled. The page loads nothing and runs nothing but its own script. Texts never enter JavaScript: the addon reads and writes.
 *
 * Figures are of all documents; texts are a choice, the same for the same files, in 3 MiB at most. Options about the method (`method`, `bands`, …) and the features are what the result
 * was made with: the page draws the threshold and the curve by them and repeats them in the commands that it shows, and nothing is compared again. Files are read once; standard input is refused.
 *
 * @throws TypeError, RangeError with the codes of Node.js for options, also where `output` is a file that a folder or a pattern of the inputs stands for; the errors of {@link dedupFiles} for files.
 */
export async function reportFiles(
  result: Path,
  inputs: Path | readonly Path[],
  output: Path,
  options?: ReportFilesOptions,
): Promise<ReportSummary> {
  const checked = check.checked(options, OPTIONS);
  const written = {
    result: path(result, 'result'),
    inputs: inputNames(inputs, 'inputs'),
    others: checked.others ?? [],
    output: path(output, 'output'),
  };
  refuseStreams(written);
  refuseAmong(written.output, [...written.inputs, ...written.others]);
  return write(written, { ...checked, command: 'report' });
}
