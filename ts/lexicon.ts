/** Words of the user's own: what files hold, and where they come from. */
import { readFileSync } from 'node:fs';
import { types } from 'node:util';
import { binding } from './binding';
import { native, SimHashError } from './errors';
import type { NativeStopWords } from './native';
import * as check from './options';
import { isUrl, type Path, path } from './path';

/** A file of words: its path or `file:` URL, its bytes, or its lines. UTF-8; blank lines do not count. */
export type Words = Path | Uint8Array | readonly string[];

/** Path, bytes or lines. */
export const words: check.Check<Words> = (value, name) => {
  const lines = Array.isArray(value) && value.every((line) => typeof line === 'string');
  if (typeof value === 'string' || types.isUint8Array(value) || lines) return value as Words;
  if (isUrl(value)) return path(value, name);
  const expected = 'a path, a file: URL, a Uint8Array or an array of strings';
  throw check.wrongType(name, expected, value);
};

/** Words, or none at all. */
export const stopWords: check.Check<Words | false> = (value, name) =>
  value === false ? false : words(value, name);

/**
 * Reads words and hands their bytes to `load`. An error says which file it is about.
 *
 * @throws SimHashError ERR_SIMHASH_INPUT: the file cannot be read; ERR_SIMHASH_LINE: a line of it cannot be used
 */
export function loadWords<T>(given: Words, name: string, load: (bytes: Uint8Array) => T): T {
  if (types.isUint8Array(given)) return native(() => load(given));
  if (Array.isArray(given)) {
    const bytes = Buffer.from(given.join('\n'));
    return native(() => load(bytes));
  }
  const file = path(given, name);
  const bytes = readWords(file, name);
  try {
    return native(() => load(bytes));
  } catch (cause) {
    if (!(cause instanceof SimHashError)) throw cause;
    throw new SimHashError(cause.code, `${file}: ${cause.message}`, { cause });
  }
}

function readWords(file: string, name: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `cannot read ${file}, given as ${name}: ${reason}`;
    throw new SimHashError('ERR_SIMHASH_INPUT', message, { cause });
  }
}

/** Checked stop words as the addon takes them. */
export function nativeStopWords(given: Words | false): NativeStopWords {
  if (given === false) return binding.NativeStopWords.none();
  return loadWords(given, 'stopWords', (bytes) => binding.NativeStopWords.load(bytes));
}
