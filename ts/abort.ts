/** AbortSignal for jobs of the addon: the user's own listeners stay as they are, and ours is removed. */
import { addAbortListener } from 'node:events';
import { types } from 'node:util';
import { binding } from './binding';
import { fromNative } from './errors';
import type { Cancel } from './native';

/**
 * Starts a job and ends it with the signal: an aborted signal rejects with `signal.reason`, before the job starts or while
 * it runs; after the job has ended it changes nothing. Being async, it turns what a call throws into a rejection.
 */
export async function abortable<T>(
  signal: AbortSignal | undefined,
  start: (cancel: Cancel) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const cancel = new binding.Cancel();
  const listener = signal && addAbortListener(signal, () => cancel.cancel());
  try {
    return await start(cancel);
  } catch (error) {
    if (isCancelled(error)) signal?.throwIfAborted();
    throw fromNative(error);
  } finally {
    listener?.[Symbol.dispose]();
  }
}

function isCancelled(error: unknown): boolean {
  return types.isNativeError(error) && 'code' in error && error.code === 'ERR_SIMHASH_CANCELLED';
}
