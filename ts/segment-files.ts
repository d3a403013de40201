/** The command `segment`: the words of each document of files. */
import { binding } from './binding';
import { telling } from './callback';
import type { Summary } from './comparison';
import type { CutOptions } from './cut';
import { nativeDictionary } from './dictionary';
import { type EdgeProgress, position } from './edge-files';
import { FORM, type FormOptions, nativeForm } from './form';
import { given } from './given';
import type { NativeProgress } from './native';
import * as check from './options';

/** A run over files. */
export interface SegmentRun {
  readonly inputs: readonly string[];
  readonly output: string;
  readonly rejects?: string | undefined;
  /** How files are read; lines where they do not say it. */
  readonly form: FormOptions;
  /** JSON lines instead of lines of words. */
  readonly json: boolean;
  readonly threads: number;
}

/** Writes a line per document; of the figures `kept` are the documents. */
export function segmentFiles(
  { inputs, form, rejects, ...run }: SegmentRun,
  { hmm = true, dictionary }: CutOptions,
  signal: AbortSignal,
  onProgress: (progress: EdgeProgress) => void,
): Promise<Summary> {
  const words = dictionary === undefined ? undefined : nativeDictionary(dictionary);
  const native = {
    ...{ ...run, hmm },
    form: nativeForm(check.checked(form, FORM), 'lines'),
    inputs: [...inputs],
    ...given({ rejects, dictionary: words }),
  };
  const report = (progress: NativeProgress) => onProgress(position(progress));
  return telling(report, signal, (report, cancel) => binding.segmentFiles(native, report, cancel));
}
