/** The lines of a file or of standard input, as bytes: the addon decodes them, JavaScript strings are not needed. */
import { createReadStream, open } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { addAbortSignal, pipeline, type Readable } from 'node:stream';
import { promisify } from 'node:util';
import { createGunzip } from 'node:zlib';
import { InputError } from './exit';

export interface Line {
  readonly bytes: Buffer;
  /** From 1. */
  readonly number: number;
}

/** What a reader may be given. */
export interface Reading {
  /** Ends the reading with an error. */
  readonly signal?: AbortSignal | undefined;
  /** Is told of bytes read, as they lie in the file. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
}

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
 * @throws InputError where the input cannot be read.
 */
export async function* lines(input: string, reading: Reading = {}): AsyncGenerator<Line> {
  let number = 0;
  // Pieces of the line that the last chunk left open; joined once, so a line of many chunks stays linear.
  let open: Buffer[] = [];
  const line = (last: Buffer): Line => {
    const bytes = trimmed(Buffer.concat([...open, last]));
    open = [];
    return { bytes: ++number === 1 ? unmarked(bytes) : bytes, number };
  };
  for await (const chunk of chunks(input, reading)) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      yield line(chunk.subarray(start, end));
      start = end + 1;
    }
    if (start < chunk.length) open.push(chunk.subarray(start));
  }
  if (open.length > 0) yield line(Buffer.alloc(0));
}

async function* chunks(input: string, { signal, onBytes }: Reading): AsyncGenerator<Buffer> {
  try {
    const file = await opened(input);
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
    yield* pipeline(whole, createGunzip(), () => {}) as AsyncIterable<Buffer>;
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

async function opened(input: string): Promise<Readable> {
  if (input === '-') return process.stdin;
  if (!(await stat(input)).isFIFO()) return createReadStream(input);
  // A read of a pipe as a file blocks a thread of Node until somebody writes; a socket can be given up at any time.
  return new Socket({ fd: await promisify(open)(input, 'r'), readable: true, writable: false });
}

function trimmed(line: Buffer): Buffer {
  return line.at(-1) === RETURN ? line.subarray(0, -1) : line;
}

function unmarked(line: Buffer): Buffer {
  return line.subarray(0, BOM.length).equals(BOM) ? line.subarray(BOM.length) : line;
}
