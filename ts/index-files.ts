/** The commands on a saved index: it is a file, and documents come from files. */
import { abortable } from './abort';
import { binding } from './binding';
import { telling } from './callback';
import type { EdgeProgress } from './edge-files';
import { FINGERPRINTER, type FingerprinterOptions, nativeOptions } from './fingerprinter';
import { given } from './given';
import type { SearchOptions } from './index-calls';
import { INDEX, nativeIndexOptions } from './index-options';
import type { NativeAsked, NativeDescribed, NativeFilled, NativeProgress } from './native';
import * as check from './options';

/** Words of the user's own: a saved index knows them by digests alone, and must be given the same. */
export type OwnWords = Pick<FingerprinterOptions, 'dictionary' | 'stopWords' | 'idf'>;

/** Files that are read for an index. */
export interface IndexRead {
  readonly inputs: readonly string[];
  /** For answers. */
  readonly output?: string | undefined;
  readonly rejects?: string | undefined;
  readonly textField: string;
  readonly idField: string;
  readonly threads: number;
}

/** What ends a run, and what is told of it. */
export interface IndexWatch {
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: EdgeProgress) => void) | undefined;
}

/** Makes the index `path` of the documents of files. `options` are those of an `Index`, whose keys are the ids of the documents. */
export function buildIndexFile(
  path: string,
  options: object,
  read: IndexRead,
  watch: IndexWatch,
): Promise<NativeFilled> {
  const checked = check.checked(options, INDEX);
  const made = nativeIndexOptions({ ...checked, keys: true });
  return fill({ path, words: {} }, made, read, watch);
}

/** Adds the documents of files to the index `path`. */
export function addToIndexFile(
  path: string,
  words: OwnWords,
  read: IndexRead,
  watch: IndexWatch,
): Promise<NativeFilled> {
  return fill({ path, words: nativeWords(words) }, undefined, read, watch);
}

function fill(
  index: Parameters<typeof binding.fillIndexFile>[0],
  made: Parameters<typeof binding.fillIndexFile>[1],
  read: IndexRead,
  { signal, onProgress }: IndexWatch,
): Promise<NativeFilled> {
  return telling(watcher(onProgress), signal, (report, cancel) =>
    binding.fillIndexFile(index, made, nativeRead(read), report, cancel),
  );
}

/** Writes for each document of files the documents of the index `path` that are near it. */
export function queryIndexFile(
  path: string,
  words: OwnWords,
  search: Pick<SearchOptions<'simhash'>, 'limit' | 'maxDistance' | 'minSimilarity'>,
  read: IndexRead,
  { signal, onProgress }: IndexWatch,
): Promise<NativeAsked> {
  const index = { path, words: nativeWords(words) };
  return telling(watcher(onProgress), signal, (report, cancel) =>
    binding.queryIndexFile(index, given(search), nativeRead(read), report, cancel),
  );
}

/** Reads and checks the index `path`. */
export function describeIndexFile(
  path: string,
  words: OwnWords,
  signal: AbortSignal,
): Promise<NativeDescribed> {
  const index = { path, words: nativeWords(words) };
  return abortable(signal, (cancel) => binding.describeIndexFile(index, cancel));
}

function nativeWords(words: OwnWords) {
  return nativeOptions(check.checked(words, FINGERPRINTER));
}

function nativeRead({ output, rejects, ...read }: IndexRead) {
  return { ...read, inputs: [...read.inputs], ...given({ output, rejects }) };
}

function watcher(onProgress: IndexWatch['onProgress']) {
  if (onProgress === undefined) return undefined;
  return ({ documents, bytes, totalBytes, duplicates }: NativeProgress) => {
    // The addon says null for what is absent.
    const total = typeof totalBytes === 'number' ? { totalBytes } : {};
    onProgress({ documents, bytes, ...total, found: duplicates });
  };
}
