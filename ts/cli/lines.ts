/** The lines of a file or of standard input, as bytes: the addon decodes them, JavaScript strings are not needed. */
import { createReadStream, open } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { addAbortSignal, type Readable } from 'node:stream';
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

/**
 * Lines without their ends (`\n` or `\r\n`). `-` is standard input; a name that ends in `.gz` is decompressed.
 *
 * @throws InputError where the input cannot be read.
 */
export async function* lines(input: string, reading: Reading = {}): AsyncGenerator<Line> {
  let number = 0;
  // Pieces of the line that the last chunk left open; joined once, so a line of many chunks stays linear.
  let open: Buffer[] = [];
  for await (const chunk of chunks(input, reading)) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      yield {
        bytes: trimmed(Buffer.concat([...open, chunk.subarray(start, end)])),
        number: ++number,
      };
      open = [];
      start = end + 1;
    }
    if (start < chunk.length) open.push(chunk.subarray(start));
  }
  if (open.length > 0) yield { bytes: trimmed(Buffer.concat(open)), number: ++number };
}

async function* chunks(input: string, { signal, onBytes }: Reading): AsyncGenerator<Buffer> {
  let before = 0;
  try {
    const file = await opened(input);
    if (signal !== undefined) addAbortSignal(signal, file);
    const unzip = input.endsWith('.gz') ? createGunzip() : undefined;
    if (unzip !== undefined) file.on('error', (error) => unzip.destroy(error)).pipe(unzip);
    for await (const chunk of unzip ?? file) {
      const now = unzip?.bytesWritten ?? before + (chunk as Buffer).length;
      onBytes?.(now - before);
      before = now;
      yield chunk as Buffer;
    }
  } catch (cause) {
    throw new InputError(input, cause);
  }
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
