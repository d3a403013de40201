/** The command `explain`: what the engine decides of two texts, which may come from a file. */
import { abortable } from './abort';
import { binding } from './binding';
import { COMPARISON, type ComparisonOptions, nativeComparison } from './comparison';
import { native } from './errors';
import { FORM, type FormOptions, nativeForm } from './form';
import type { NativeTextsOfFiles, NativeVerdict } from './native';
import * as check from './options';

/** Decides as `dedup` does with the same options. */
export function verdict(a: string, b: string, options: ComparisonOptions): NativeVerdict {
  const compared = nativeComparison(check.checked(options, COMPARISON));
  return native(() => binding.verdictOf(compared, a, b));
}

/** The texts of the first documents with these ids. */
export function textsOfFile(
  file: string,
  ids: readonly string[],
  form: FormOptions,
  signal: AbortSignal,
): Promise<NativeTextsOfFiles> {
  const read = nativeForm(check.checked(form, FORM));
  return abortable(signal, (cancel) => binding.textsOfFiles([file], [...ids], read, cancel));
}
