/** The lines of an ids file: where each id lies, and which seals hold. */
import { createHash } from 'node:crypto';
import type { FingerprinterOptions } from '../..';
import { SavedIndexError } from '../exit';

export const MAGIC = 'simhash-native';
export const VERSION = 1;
export const NEWLINE = 0x0a;
/** `{`, with which only header and seals begin. */
const BRACE = 0x7b;

interface Header {
  readonly ids: typeof MAGIC;
  readonly version: number;
  readonly fingerprinter: FingerprinterOptions;
}

interface Seal {
  /** Lines with ids above. */
  readonly documents: number;
  /** SHA-256 of the index file. */
  readonly index: string;
  /** SHA-256 of everything above, in hexadecimal like the other. */
  readonly lines: string;
}

export interface Scanned {
  readonly bytes: Buffer;
  readonly header: Header;
  /** First byte of each id. */
  readonly starts: Float64Array;
  /** With the end of the line of each. */
  readonly seals: readonly (Seal & { readonly end: number })[];
}

/** @throws SavedIndexError where a line is not what was written. */
export function scan(bytes: Buffer, path: string): Scanned {
  const hash = createHash('sha256');
  const seals: (Seal & { end: number })[] = [];
  let starts = new Float64Array(1024);
  let [documents, hashed, line] = [0, 0, 0];
  let header: Header | undefined;
  for (let start = 0, end = 0; start < bytes.length; start = end) {
    line++;
    // A line without an end is the rest of one that was cut: nothing of it counts.
    end = bytes.indexOf(NEWLINE, start) + 1 || bytes.length;
    if (bytes[start] !== BRACE) {
      if (documents === starts.length) starts = doubled(starts);
      starts[documents++] = start;
      continue;
    }
    const record = parsed(bytes.toString('utf8', start, end));
    if (line === 1) {
      header = checked(record as Header | undefined, path);
    } else {
      const seal = record as Seal | undefined;
      hash.update(bytes.subarray(hashed, start));
      hashed = start;
      if (seal?.documents !== documents || seal.lines !== hash.copy().digest('hex')) {
        throw new SavedIndexError(`${path} is damaged above line ${line}; build the index again`);
      }
      seals.push({ ...seal, end });
    }
  }
  if (header === undefined) throw foreign(path);
  return { bytes, header, starts: starts.subarray(0, documents), seals };
}

function checked(header: Header | undefined, path: string): Header {
  if (header?.ids !== MAGIC) throw foreign(path);
  if (header.version === VERSION) return header;
  throw new SavedIndexError(`${path} has version ${header.version}, this program reads ${VERSION}`);
}

function foreign(path: string): SavedIndexError {
  return new SavedIndexError(`${path} is no list of ids of an index`);
}

function doubled(numbers: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(numbers.length * 2);
  larger.set(numbers);
  return larger;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
