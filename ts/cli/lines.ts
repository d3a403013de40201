/** The lines of a file or of standard input, as bytes: the addon decodes them, JavaScript strings are not needed. */
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { InputError } from './exit';

export interface Line {
  readonly bytes: Buffer;
  /** From 1. */
  readonly number: number;
}

const NEWLINE = 0x0a;
const RETURN = 0x0d;

/**
 * Lines without their ends (`\n` or `\r\n`). `-` is standard input; a name that ends in `.gz` is decompressed.
 *
 * @throws InputError where the input cannot be read.
 */
export async function* lines(input: string): AsyncGenerator<Line> {
  let number = 0;
  // Pieces of the line that the last chunk left open; joined once, so a line of many chunks stays linear.
  let open: Buffer[] = [];
  for await (const chunk of chunks(input)) {
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

async function* chunks(input: string): AsyncGenerator<Buffer> {
  const file: Readable = input === '-' ? process.stdin : createReadStream(input);
  const unzip = input.endsWith('.gz') ? createGunzip() : undefined;
  if (unzip !== undefined) file.on('error', (error) => unzip.destroy(error)).pipe(unzip);
  try {
    for await (const chunk of unzip ?? file) yield chunk as Buffer;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new InputError(`cannot read ${input}: ${reason}`, { cause });
  }
}

function trimmed(line: Buffer): Buffer {
  return line.at(-1) === RETURN ? line.subarray(0, -1) : line;
}
