/** The two files of a saved index, as bytes. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { codeOf, InputError, SavedIndexError } from '../exit';

/** Name of the ids file of an index. */
export function idsPath(index: string): string {
  return `${index}.ids.jsonl`;
}

/** SHA-256 of a file, in hexadecimal. */
export async function digestOf(file: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of createReadStream(file, { highWaterMark: 1 << 20, signal }))
      hash.update(chunk);
  } catch (cause) {
    throw new InputError(file, cause);
  }
  return hash.digest('hex');
}

/** The bytes of the ids file of `index`. */
export async function readIds(index: string): Promise<Buffer> {
  const path = idsPath(index);
  try {
    const file = await open(path);
    try {
      const { size } = await file.stat();
      const bytes = Buffer.allocUnsafe(size);
      let length = 0;
      while (length < size) {
        // A read call moves at most 2 GiB.
        const { bytesRead } = await file.read(bytes, length, Math.min(size - length, 1 << 30));
        if (bytesRead === 0) break;
        length += bytesRead;
      }
      return bytes.subarray(0, length);
    } finally {
      await file.close();
    }
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') {
      // Where there is no index either, the index is what was misspelt.
      await stat(index).catch((error) => Promise.reject(new InputError(index, error)));
      throw new SavedIndexError(
        `${path} is missing: ${index} is of no use without its ids; name a file that index build wrote`,
      );
    }
    throw new InputError(path, cause);
  }
}
