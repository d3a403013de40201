/** The command `fingerprint`: what a method knows each document of files by. */
import { binding } from './binding';
import { telling } from './callback';
import { type ComparisonOptions, nativeComparison, type Summary } from './comparison';
import { given } from './given';

/** A run over files. */
export interface FingerprintRun {
  readonly inputs: readonly string[];
  readonly output: string;
  /** By the names of the files where it is absent. */
  readonly format: 'lines' | 'jsonl' | undefined;
  /** JSON lines instead of lines for people. */
  readonly json: boolean;
  readonly textField: string;
  readonly idField: string;
}

/** Writes a line per document; of the figures `kept` are the documents. */
export function fingerprintFiles(
  { inputs, format, ...run }: FingerprintRun,
  options: ComparisonOptions,
  signal: AbortSignal,
): Promise<Summary> {
  const native = {
    ...run,
    ...given({ format }),
    inputs: [...inputs],
    dedup: nativeComparison(options),
  };
  return telling(undefined, signal, (report, cancel) =>
    binding.fingerprintFiles(native, report, cancel),
  );
}
