/** A disk without room: the one fault of a service that goes away by itself, when there is room again. */
import { statfs } from 'node:fs/promises';
import { SimHashError } from '../../errors';

/** Codes of an index and of the system. */
const CODES: readonly unknown[] = ['ERR_SIMHASH_DISK_FULL', 'ENOSPC', 'EDQUOT'];

/** Whether a write failed for want of room. */
export const isFull = (error: unknown): error is Error =>
  error instanceof Error && CODES.includes((error as { code?: unknown }).code);

/** Why a service takes nothing while its disk is full. */
export function full(cause: Error): SimHashError {
  const then =
    'nothing is appended until there is room; of a check that was appended before, ask again with the same key';
  return new SimHashError('ERR_SIMHASH_DISK_FULL', `the disk of this service is full: ${then}`, {
    cause,
  });
}

/** Why a service has to begin again that found no room in the middle of a batch, where a file system did not say so before. */
export function partly(cause: Error): SimHashError {
  const why = 'the disk of this service was full in the middle of a batch';
  return new SimHashError('ERR_SIMHASH_DISK_FULL', why, { cause });
}

/**
 * Told that there is no room; it waits before the next attempt.
 *
 * @throws the error where no further attempt is to be made
 */
export type Full = (error: Error) => Promise<void>;

/** Bytes that stay free: a batch that found no room in the middle would have to be begun again, from a snapshot. */
const FREE = 8 << 20;

/** @throws Error ENOSPC where a file system says that it has less room than these bytes and {@link FREE} */
export async function mustHaveRoom(folder: string, bytes = 0): Promise<void> {
  let free: number;
  try {
    const { bavail, bsize } = await statfs(folder);
    free = bavail * bsize;
  } catch {
    // It does not say.
    return;
  }
  if (free >= bytes + FREE) return;
  const why = `${free} bytes are free, and the next batch needs ${bytes + FREE}`;
  throw Object.assign(new Error(why), { code: 'ENOSPC' });
}

/** Does what writes, again and again where there is no room. */
export async function whenRoom<T>(work: () => T | Promise<T>, wait: Full): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isFull(error)) throw error;
      await wait(error);
    }
  }
}
