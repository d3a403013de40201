/** Saved indexes, of release 0.1 too, as indexes in folders. */
import { abortable } from './abort';
import { binding } from './binding';
import {
  FINGERPRINTER,
  type FingerprinterOptions,
  JOB,
  type JobOptions,
  nativeOptions,
} from './fingerprinter';
import type { IndexMethod } from './method';
import * as check from './options';
import { type Path, path } from './path';

/**
 * Words of the user's own that the index was made with: its file knows them by digests alone, and they must be given again. Other
 * options come from the file.
 */
export interface ConvertOptions
  extends Pick<FingerprinterOptions, 'dictionary' | 'stopWords' | 'idf'>,
    JobOptions {}

/** What was converted. */
export interface Converted {
  /** The method of the index. */
  method: IndexMethod;
  /** Its live documents. */
  documents: number;
  /** Bytes of an incomplete last change of a file of sentences: it was never acknowledged, and is not in the folder. */
  tornBytes: number;
}

const { dictionary, stopWords, idf } = FINGERPRINTER;
const CONVERT: check.Checks<ConvertOptions> = { dictionary, stopWords, idf, ...JOB };

/**
 * Makes a folder of the index in a file: one that release 0.1 saved, of `Index`, `MinHashIndex`, `SentenceIndex` or the command line, with
 * its ids beside it, or one that `save` of this release wrote. `Index.open` opens the folder. Ids, keys, stored texts, window and options are
 * those of the file, which stays as it is; the folder holds an index when all of it is there, and none before; it must not exist, or be empty. Takes
 * about twice the memory of the index.
 *
 * What release 0.1 saved is not verified: its texts were too short to be compared, or not stored.
 *
 * @throws SimHashError ERR_SIMHASH_INDEX_DAMAGED with file and byte, ERR_SIMHASH_INDEX_FORMAT for a file of a later release,
 *   ERR_SIMHASH_INDEX_MISMATCH for other words, ERR_SIMHASH_INPUT, ERR_SIMHASH_OUTPUT.
 */
export async function convertIndex(
  old: Path,
  folder: Path,
  options?: ConvertOptions,
): Promise<Converted> {
  const { signal, ...words } = check.checked(options, CONVERT);
  const [from, to] = [path(old, 'old'), path(folder, 'folder')];
  const native = nativeOptions(words);
  return await abortable(signal, (cancel) => binding.convertIndex(from, to, native, cancel));
}
