/** New documents themselves, in place of what is said of them. */
import { typeError } from './errors';
import { given } from './given';
import type { NativeRecords } from './native';
import * as check from './options';
import { type Path, path } from './path';

/** How new documents are written that were looked for among others. At most one of `remove`, `mark`, `list` and `copy`. */
export interface RecordsOptions {
  /** Write the new documents that have no match, in their format, instead of matches: what is left of a training set without what a test set has, too. Default false. */
  remove?: boolean | undefined;
  /** Write all new documents, and add `duplicateOf`, `similarity`, `distance` of the best match to those that have one. Default false. */
  mark?: boolean | undefined;
  /** Of texts in files: write the paths of those that have no match, a line each. Default false. */
  list?: boolean | undefined;
  /** Of texts in files, instead of `output`: a folder into which those that have no match are copied, as {@link DedupFilesOptions.copy}. */
  copy?: Path | undefined;
  /** How characters of the documents are written, as {@link DedupFilesOptions.outputEncoding}. */
  outputEncoding?: string | undefined;
}

export const RECORDS: check.Checks<RecordsOptions> = {
  remove: check.boolean,
  mark: check.boolean,
  list: check.boolean,
  copy: path,
  outputEncoding: check.string,
};

/** What is asked for, checked; `undefined`: matches. */
export function nativeRecords(
  { remove = false, mark = false, list = false, copy, outputEncoding }: RecordsOptions,
  { output, limit }: { output: string | undefined; limit: number | undefined },
): NativeRecords | undefined {
  const refuse = (what: string) => typeError(what, 'ERR_INVALID_ARG_VALUE');
  const ways = Object.entries({ remove, mark, list, copy: copy !== undefined });
  const asked = ways.filter(([, given]) => given).map(([name]) => name);
  const [way, other] = asked;
  if (way === undefined) {
    if (outputEncoding === undefined) return undefined;
    throw refuse('outputEncoding must be left out where matches are written, which are in UTF-8');
  }
  if (outputEncoding !== undefined && (list || copy !== undefined)) {
    throw refuse(`outputEncoding must be left out beside ${way}, which writes no documents`);
  }
  if (other !== undefined) throw refuse(`${other} must be left out beside ${way}`);
  if (limit !== undefined) {
    throw refuse(
      `limit must be left out beside ${way}: it is for the matches, which are not written`,
    );
  }
  if (copy !== undefined && output !== undefined) {
    throw refuse('copy must be left out beside output');
  }
  // Checked, and so a string.
  return { mark, list, ...given({ copy: copy as string | undefined, outputEncoding }) };
}
