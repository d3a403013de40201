/** The commands on a saved index: it is a folder, or a file that is only read, and documents come from files. */
import { abortable } from './abort';
import { binding } from './binding';
import { telling } from './callback';
import { type EdgeFigures, type EdgeProgress, edgeFigures, position } from './edge-files';
import { FINGERPRINTER, type FingerprinterOptions, nativeOptions } from './fingerprinter';
import { FORM, type FormOptions, nativeForm } from './form';
import { given } from './given';
import type { SearchOptions } from './index-calls';
import { INDEX, nativeIndexOptions } from './index-options';
import type {
  NativeAsked,
  NativeDescribed,
  NativeFilled,
  NativeProgress,
  NativeVerified,
  NativeWritten,
} from './native';
import * as check from './options';
import { nativeRecords, type RecordsOptions } from './records';

/** Words of the user's own: a saved index knows them by digests alone, and must be given the same. */
export type OwnWords = Pick<FingerprinterOptions, 'dictionary' | 'stopWords' | 'idf'>;

/** Files that are read for an index. */
export interface IndexRead {
  readonly inputs: readonly string[];
  /** For answers. */
  readonly output?: string | undefined;
  /** What answers are: documents in place of matches. */
  readonly records?: RecordsOptions | undefined;
  readonly rejects?: string | undefined;
  readonly form: FormOptions;
  readonly threads: number;
}

/** What ends a run, and what is told of it. */
export interface IndexWatch {
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: EdgeProgress) => void) | undefined;
}

/** Makes the index in the folder `path` of the documents of files. `options` are those of an `Index`, whose keys are the ids of the documents. */
export function buildIndex(
  path: string,
  options: object,
  read: IndexRead,
  watch: IndexWatch,
): Promise<NativeFilled> {
  const checked = check.checked(options, INDEX);
  const made = nativeIndexOptions({ ...checked, keys: true });
  return fill({ path, words: {} }, made, read, watch);
}

/** Adds the documents of files to the index in the folder `path`, all of them or none. */
export function addToIndex(
  path: string,
  words: OwnWords,
  read: IndexRead,
  watch: IndexWatch,
): Promise<NativeFilled> {
  return fill(saved(path, words), undefined, read, watch);
}

function fill(
  index: Parameters<typeof binding.fillIndex>[0],
  made: Parameters<typeof binding.fillIndex>[1],
  read: IndexRead,
  { signal, onProgress }: IndexWatch,
): Promise<NativeFilled> {
  return telling(watcher(onProgress), signal, (report, cancel) =>
    binding.fillIndex(index, made, nativeRead(read), report, cancel),
  );
}

/** Writes for each document of files the documents of the index `path` that are near it. */
export async function queryIndex(
  path: string,
  words: OwnWords,
  search: Pick<SearchOptions<'simhash'>, 'limit' | 'maxDistance' | 'minSimilarity'>,
  read: IndexRead,
  { signal, onProgress }: IndexWatch,
): Promise<Omit<NativeAsked, 'summary'> & { summary: EdgeFigures }> {
  const { records = {}, output } = read;
  const { limit } = search;
  const asked = {
    ...nativeRead(read),
    ...given({ records: nativeRecords(records, { output, limit }) }),
  };
  const { summary, ...rest } = await telling(watcher(onProgress), signal, (report, cancel) =>
    binding.queryIndex(saved(path, words), given(search), asked, report, cancel),
  );
  return { ...rest, summary: edgeFigures(summary) };
}

/** Opens the index `path` and says what it is. */
export function describeIndex(
  path: string,
  words: OwnWords,
  signal: AbortSignal,
): Promise<NativeDescribed> {
  return abortable(signal, (cancel) => binding.describeIndex(saved(path, words), cancel));
}

/** Reads and checks everything of the index `path`. */
export function verifyIndex(
  path: string,
  words: OwnWords,
  signal: AbortSignal,
): Promise<NativeVerified> {
  return abortable(signal, (cancel) => binding.verifyIndex(saved(path, words), cancel));
}

/** Makes the index in the folder `path` as small as it can be. */
export function compactIndex(
  path: string,
  words: OwnWords,
  signal: AbortSignal,
): Promise<NativeDescribed> {
  return abortable(signal, (cancel) => binding.compactIndex(saved(path, words), cancel));
}

/** Writes the index `path` to the folder `to`. */
export function snapshotIndex(
  path: string,
  words: OwnWords,
  to: string,
  signal: AbortSignal,
): Promise<NativeWritten> {
  return abortable(signal, (cancel) => binding.snapshotIndex(saved(path, words), to, cancel));
}

/** How `index export` writes documents down. */
export type ExportFormat = 'jsonl' | 'csv' | 'arrow';

/** Writes the documents of the index `path` to `output`; without a format, as its name asks for. */
export function exportIndex(
  path: string,
  words: OwnWords,
  output: string,
  format: ExportFormat | undefined,
  signal: AbortSignal,
): Promise<NativeWritten> {
  return abortable(signal, (cancel) =>
    binding.exportIndex(saved(path, words), output, format, cancel),
  );
}

function saved(path: string, words: OwnWords) {
  return { path, words: nativeWords(words) };
}

function nativeWords(words: OwnWords) {
  return nativeOptions(check.checked(words, FINGERPRINTER));
}

function nativeRead({ output, rejects, form, records: _records, ...read }: IndexRead) {
  return {
    ...read,
    form: nativeForm(check.checked(form, FORM)),
    inputs: [...read.inputs],
    ...given({ output, rejects }),
  };
}

function watcher(onProgress: IndexWatch['onProgress']) {
  return onProgress && ((progress: NativeProgress) => onProgress(position(progress)));
}
