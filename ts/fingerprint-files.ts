/** The command `fingerprint`: what a method knows each document of files by. */
import { binding } from './binding';
import { telling } from './callback';
import { type ComparisonOptions, nativeComparison, type Summary } from './comparison';
import { type EdgeProgress, position } from './edge-files';
import { FORM, type FormOptions, nativeForm } from './form';
import type { NativeProgress } from './native';
import * as check from './options';

/** A run over files. */
export interface FingerprintRun {
  readonly inputs: readonly string[];
  readonly output: string;
  /** How files are read; lines where they do not say it. */
  readonly form: FormOptions;
  /** JSON lines instead of lines for people. */
  readonly json: boolean;
}

/** Writes a line per document; of the figures `kept` are the documents. */
export function fingerprintFiles(
  { inputs, form, ...run }: FingerprintRun,
  options: ComparisonOptions,
  signal: AbortSignal,
  onProgress: (progress: EdgeProgress) => void,
): Promise<Summary> {
  const native = {
    ...run,
    form: nativeForm(check.checked(form, FORM), 'lines'),
    inputs: [...inputs],
    dedup: nativeComparison(options),
  };
  const report = (progress: NativeProgress) => onProgress(position(progress));
  return telling(report, signal, (report, cancel) =>
    binding.fingerprintFiles(native, report, cancel),
  );
}
