/** The command `explain`: what the engine decides of two texts, which may come from a file. */
import { abortable } from './abort';
import { binding } from './binding';
import { COMPARISON, type ComparisonOptions, nativeComparison } from './comparison';
import { native } from './errors';
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
  { textField, idField }: { readonly textField: string; readonly idField: string },
  signal: AbortSignal,
): Promise<NativeTextsOfFiles> {
  return abortable(signal, (cancel) =>
    binding.textsOfFiles([file], [...ids], textField, idField, cancel),
  );
}
