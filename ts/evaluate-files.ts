/** The commands `eval` and `tune`: results, labels and documents in files. */
import { abortable } from './abort';
import { binding } from './binding';
import { type Evaluation, evaluationOf } from './evaluate';
import { FINGERPRINTER, type FingerprinterOptions, nativeOptions } from './fingerprinter';
import { FORM, type FormOptions, nativeForm } from './form';
import { given } from './given';
import type { NativeRejected } from './native';
import * as check from './options';
import type { Sampled } from './sample';
import type { Statement } from './statements';

/** Files, and how their texts are compared. */
export interface StatedFiles {
  readonly labels: readonly string[] | undefined;
  readonly documents: readonly string[] | undefined;
  /** How documents are read; labels and results are JSON lines. */
  readonly form: FormOptions;
  /** What makes features. */
  readonly by: FingerprinterOptions;
  readonly minSimilarity: number;
  readonly threads: number;
}

/** What could not be used. */
export interface RejectedLines {
  readonly rejected: number;
  readonly firstRejected: readonly NativeRejected[];
}

/** Scores the result in a file. */
export async function evaluateFile(
  result: string,
  files: StatedFiles,
  signal: AbortSignal,
): Promise<{ readonly figures: Evaluation } & RejectedLines> {
  const { figures, unknownDecisions, unknownLabels, ...rejected } = await abortable(
    signal,
    (cancel) => binding.evaluateResultFile(result, native(files), cancel),
  );
  return { ...rejected, figures: evaluationOf(figures, { unknownDecisions, unknownLabels }) };
}

/** A sample of documents, and what labels state of them. */
export interface SampleOfFiles extends RejectedLines {
  readonly documents: readonly Sampled[];
  readonly labels: readonly Statement[];
}

/** Draws `size` documents and, at most as many, those near them. */
export async function sampleFiles(
  files: StatedFiles,
  size: number,
  seed: number,
  signal: AbortSignal,
): Promise<SampleOfFiles> {
  const { clusters, pairs, ...sample } = await abortable(signal, (cancel) =>
    binding.sampleOfFiles(native(files), size, seed, cancel),
  );
  return { ...sample, labels: [...clusters, ...pairs] };
}

function native({ by, form, minSimilarity: least, labels, documents, ...files }: StatedFiles) {
  return {
    ...files,
    form: nativeForm(check.checked(form, FORM)),
    least,
    fingerprinter: nativeOptions(check.checked(by, FINGERPRINTER)),
    ...given({ labels: labels && [...labels], documents: documents && [...documents] }),
  };
}
