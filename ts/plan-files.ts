/** What a run of `dedupFiles` will take, from a sample of its inputs. */
import { abortable } from './abort';
import { binding } from './binding';
import {
  COMPARISON,
  type ComparisonOptions,
  keep,
  nativeComparison,
  nativeKeep,
} from './comparison';
import { type DedupFilesOptions, inputNames } from './dedup-files';
import { typeError } from './errors';
import { JOB, type JobOptions } from './fingerprinter';
import { FORM, type FormOptions, nativeForm } from './form';
import { given } from './given';
import * as check from './options';
import { type Path, path } from './path';

/** The options of `dedupFiles` that say what it has to do. */
export interface PlanFilesOptions
  extends ComparisonOptions,
    JobOptions,
    FormOptions,
    Pick<DedupFilesOptions, 'keep' | 'known' | 'acrossFilesOnly' | 'memory' | 'tmp'> {}

/** What a run will take. Memory and disk are right within a fifth for texts like those of the sample. */
export interface FilesPlan {
  /** Records of the inputs that are read and used, without those of `known`; an estimate where `exact` is false. */
  documents: number;
  /** Records that were read for it. */
  sampled: number;
  /** Whether these are all. */
  exact: boolean;
  /** Bytes of the inputs. */
  bytes: number;
  /** Most bytes of memory that the process will hold, a tenth more than `memory` at most, where that is given; planning keeps it too. */
  memoryBytes: number;
  /** Bytes of temporary files with `memory`, beside `copyBytes`; none by brute force. With `tmp` checkpoints take about as much again. 0 where the system has no bound of memory (elsewhere than on Linux). */
  diskBytes: number;
  /** Bytes of copies in temporary files, of records of compressed files, of those in UTF-16 and of folders. */
  copyBytes: number;
  /** Seconds of processor time, of all threads together: a range, for large runs take more per document, and the machine has other work. */
  cpuSeconds: { least: number; most: number };
}

/** What comes out of the check. */
export type Checked = Omit<PlanFilesOptions, 'known'> & { known?: string[] };

const OPTIONS: check.Checks<Checked> = {
  ...COMPARISON,
  ...JOB,
  ...FORM,
  keep,
  known: inputNames,
  acrossFilesOnly: check.boolean,
  memory: check.integer(1, Number.MAX_SAFE_INTEGER),
  tmp: path,
};

/**
 * Says what {@link dedupFiles} of these inputs will take: memory, temporary files and processor time. It reads a part of each input, 32 MiB of all, at least 1 MiB
 * of each (of compressed ones 4 MiB of what comes out); of more than 64 inputs some. Of plain JSON lines and lines of text it reads pieces from all over the file, of a folder some of its files. Nothing is written but temporary files. Standard input cannot be read twice, and is refused.
 *
 * @throws TypeError, RangeError with the codes of Node.js for options; the errors of {@link dedupFiles} for inputs.
 */
export async function planFiles(
  inputs: Path | readonly Path[],
  options?: PlanFilesOptions,
): Promise<FilesPlan> {
  const checked = check.checked(options, OPTIONS);
  return predicted(inputNames(inputs, 'inputs'), checked);
}

/** See {@link planFiles}; of so many bytes, where the inputs themselves are a sample of them. */
export async function predicted(
  names: readonly string[],
  checked: Checked,
  whole?: number,
): Promise<FilesPlan> {
  const { known, acrossFilesOnly = false, memory, tmp } = checked;
  if ([...names, ...(known ?? [])].includes('-')) {
    throw typeError(
      "inputs must be files, got standard input ('-'), which cannot be read twice",
      'ERR_INVALID_ARG_VALUE',
    );
  }
  const run = {
    dedup: { ...nativeComparison(checked), ...nativeKeep(checked.keep ?? 'first') },
    inputs: [...names],
    ...{ mark: false, list: false, dryRun: true, resume: false, acrossFilesOnly },
    form: nativeForm(checked),
    // Checked, and so a string.
    ...given({ known, memory, tmp: tmp as string | undefined }),
  };
  const found = await abortable(checked.signal, (cancel) =>
    binding.predictFiles(run, whole, cancel),
  );
  const { documents, sampled, isWhole: exact, bytes, memory: memoryBytes, disk, copies } = found;
  return {
    ...{ documents, sampled, exact, bytes },
    ...{ memoryBytes, diskBytes: disk, copyBytes: copies },
    cpuSeconds: { least: found.leastSeconds, most: found.mostSeconds },
  };
}
