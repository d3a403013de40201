/** The lines of a file or of standard input, as bytes: the addon decodes them, JavaScript strings are not needed. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { addAbortSignal, pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { InputError } from './exit';
import { count } from './format';
import { located } from './gzip';
import { openReader } from './pipe';

export interface Line {
  readonly bytes: Buffer;
  /** From 1. */
  readonly number: number;
  /** Bytes of a line longer than {@link MAX_LINE_BYTES}, of which `bytes` is the beginning. */
  readonly tooLong?: number | undefined;
}

/** What a reader may be given. */
export interface Reading {
  /** Ends the reading with an error. */
  readonly signal?: AbortSignal | undefined;
  /** Is told of bytes read, as they lie in the file. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
  /** Is told of bytes of text, decompressed. */
  readonly onText?: ((bytes: number) => void) | undefined;
}

/** Longest line that is read as a whole: 64 MiB, as for `dedup`. */
export const MAX_LINE_BYTES = 64 << 20;
/** What is kept of a longer one. */
const HEAD_BYTES = 1 << 10;

const NEWLINE = 0x0a;
const RETURN = 0x0d;

/** What every gzip member begins with. */
const GZIP = Buffer.from([0x1f, 0x8b]);
/** The byte order mark of UTF-8. */
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * Lines without their ends (`\n` or `\r\n`), and without a byte order mark in front of the first. `-` is standard input; what
 * begins like gzip is decompressed, whatever its name.
 *
 * @throws InputError where the input cannot be read, or is UTF-16.
 */
export async function* lines(input: string, reading: Reading = {}): AsyncGenerator<Line> {
  let number = 0;
  // Pieces of the line that the last chunk left open; joined once, so a line of many chunks stays linear.
  let open: Buffer[] = [];
  let length = 0;
  const line = (last: Buffer): Line => {
    const whole = length + last.length;
    const tooLong = whole > MAX_LINE_BYTES ? whole : undefined;
    const pieces = length > MAX_LINE_BYTES ? open : [...open, last];
    const joined = Buffer.concat(pieces);
    const bytes = tooLong === undefined ? trimmed(joined) : joined.subarray(0, HEAD_BYTES);
    [open, length] = [[], 0];
    return { bytes: ++number === 1 ? unmarked(bytes) : bytes, number, tooLong };
  };
  const carry = (piece: Buffer) => {
    if (length <= MAX_LINE_BYTES) open.push(piece);
    length += piece.length;
    if (length > MAX_LINE_BYTES) open = [Buffer.concat(open).subarray(0, HEAD_BYTES)];
  };
  let begun = false;
  for await (const chunk of chunks(input, reading)) {
    if (!begun) refuseUtf16(chunk, input);
    begun = true;
    reading.onText?.(chunk.length);
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      yield line(chunk.subarray(start, end));
      start = end + 1;
    }
    if (start < chunk.length) carry(chunk.subarray(start));
  }
  if (length > 0) yield line(Buffer.alloc(0));
}

/** Why a line that is too long is no record. */
export function tooLongReason(bytes: number): string {
  return `longer than ${MAX_LINE_BYTES >> 20} MiB: ${count(bytes)} bytes`;
}

/** @throws InputError where a file begins like UTF-16, of whose lines every one would be rejected. */
function refuseUtf16(head: Buffer, input: string): void {
  const [a = 0, b = 0, c = 0, d = 0] = head;
  const ascii = (byte: number) => byte > 0 && byte < 0x80;
  const marked = (a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff);
  const little = head.length > 3 && ascii(a) && b === 0 && ascii(c) && d === 0;
  const big = head.length > 3 && a === 0 && ascii(b) && c === 0 && ascii(d);
  if (!marked && !little && !big) return;
  const name = marked ? 'UTF-16' : little ? 'UTF-16LE' : 'UTF-16BE';
  const begins = head.toString('hex', 0, 2).toUpperCase().replace(/^../, '$& ');
  const reason = `it looks like UTF-16 (it begins with ${begins}); convert it first: iconv -f ${name} -t UTF-8 FILE`;
  throw new InputError(input, new Error(reason));
}

async function* chunks(input: string, { signal, onBytes }: Reading): AsyncGenerator<Buffer> {
  try {
    const file = await opened(input, signal);
    if (signal !== undefined) addAbortSignal(signal, file);
    const source = counted(file, onBytes);
    let head = Buffer.alloc(0);
    while (head.length < GZIP.length) {
      const { done, value } = await source.next();
      if (done) break;
      head = Buffer.concat([head, value]);
    }
    const whole = resumed(head, source);
    if (!head.subarray(0, GZIP.length).equals(GZIP)) return yield* whole;
    // A failure on either side destroys the other, and the loop of whoever reads is told of it.
    const gunzip = createGunzip();
    try {
      yield* pipeline(whole, gunzip, () => {}) as AsyncIterable<Buffer>;
    } catch (error) {
      throw located(error, gunzip);
    }
  } catch (cause) {
    throw new InputError(input, cause);
  }
}

async function* counted(file: Readable, onBytes: Reading['onBytes']): AsyncGenerator<Buffer> {
  for await (const chunk of file as AsyncIterable<Buffer>) {
    onBytes?.(chunk.length);
    yield chunk;
  }
}

/** A source from its beginning, which was looked at. */
async function* resumed(head: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield head;
  yield* rest;
}

async function opened(input: string, signal: AbortSignal | undefined): Promise<Readable> {
  if (input === '-') return process.stdin;
  return (await stat(input)).isFIFO() ? openReader(input, signal) : createReadStream(input);
}

function trimmed(line: Buffer): Buffer {
  return line.at(-1) === RETURN ? line.subarray(0, -1) : line;
}

function unmarked(line: Buffer): Buffer {
  return line.subarray(0, BOM.length).equals(BOM) ? line.subarray(BOM.length) : line;
}
