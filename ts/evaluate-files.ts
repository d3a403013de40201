/** The commands `eval` and `tune`: results, labels and documents in files. */
import { abortable } from './abort';
import { binding } from './binding';
import { telling } from './callback';
import { COMPARISON, type ComparisonOptions, nativeComparison } from './comparison';
import { type Evaluation, evaluationOf } from './evaluate';
import { FINGERPRINTER, type FingerprinterOptions, nativeOptions } from './fingerprinter';
import { FORM, type FormOptions, nativeForm } from './form';
import { given } from './given';
import type { NativeRejected, NativeTrial } from './native';
import * as check from './options';
import { optionsOf, recommending, type Trial, type Tuning, trialOf } from './tune';

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

/** How a sample is drawn and what is tried on it. */
export interface Tried {
  /** Documents at random, and at most how many near them. */
  readonly sample: number;
  readonly seed: number;
  readonly trials: readonly ComparisonOptions[];
  readonly goal: number;
  readonly onTrial: ((trial: Trial) => void) | undefined;
}

/** Tries ways to deduplicate files on a sample of their documents: what `tune` does with documents of the caller's. */
export async function tuneFiles(
  files: StatedFiles,
  { sample, seed, trials, goal, onTrial }: Tried,
  signal: AbortSignal,
): Promise<Tuning & RejectedLines> {
  const { by, minSimilarity, threads, labels } = files;
  const all = trials.map((own) =>
    nativeComparison(check.checked(optionsOf(own, { ...by, threads }, minSimilarity), COMPARISON)),
  );
  const figures = ({ figures, unknownLabels, ...others }: NativeTrial) => ({
    ...others,
    evaluation: evaluationOf(figures, { unknownDecisions: 0, unknownLabels }),
  });
  const isStated = labels !== undefined;
  let at = 0;
  const report =
    onTrial &&
    ((trial: NativeTrial) => {
      // How many documents there are is told at the end.
      const { evaluation, ...measured } = figures(trial);
      const own = trials[at++] as ComparisonOptions;
      onTrial(trialOf(own, { evaluation, ...measured }, evaluation.documents, isStated));
    });
  const {
    documents,
    trials: done,
    ...rejected
  } = await telling(report, signal, (report, cancel) =>
    binding.tuneFiles(native(files), sample, seed, all, report, cancel),
  );
  const tuning: Tuning = {
    documents,
    redundant: done.at(-1)?.figures.redundant ?? 0,
    trials: done.map((trial, row) =>
      trialOf(trials[row] as ComparisonOptions, figures(trial), documents, isStated),
    ),
  };
  return { ...rejected, ...recommending(tuning, goal) };
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
