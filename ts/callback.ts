/** Callbacks of the caller's inside work of the addon: what they throw comes out as it was thrown, whatever it is. */
import { abortable } from './abort';
import { native } from './errors';
import type { Cancel } from './native';

/** Something that was thrown; it may be `undefined`. */
interface Thrown {
  readonly error: unknown;
}

/** Calls the addon with a callback that ends the call when it throws. */
export function calling<A extends unknown[], R, T>(
  callback: ((...given: A) => R) | undefined,
  call: (callback: ((...given: A) => R) | undefined) => T,
): T {
  let thrown: Thrown | undefined;
  const guarded = (...given: A) => {
    try {
      return (callback as (...given: A) => R)(...given);
    } catch (error) {
      thrown = { error };
      throw error;
    }
  };
  try {
    return native(() => call(callback && guarded));
  } catch (error) {
    throw thrown === undefined ? error : thrown.error;
  }
}

/**
 * Starts a job of the addon that tells how far it is. What the callback throws ends the job and is the rejection: thrown into
 * the event loop it would end the process. It is not called again then, nor after the job has ended.
 */
export async function telling<P, T>(
  callback: ((progress: P) => void) | undefined,
  signal: AbortSignal | undefined,
  start: (callback: ((progress: P) => void) | undefined, cancel: Cancel) => Promise<T>,
): Promise<T> {
  let thrown: Thrown | undefined;
  let ended = false;
  try {
    const result = await abortable(signal, (cancel) => {
      const guarded = (progress: P) => {
        if (ended || thrown !== undefined) return;
        try {
          callback?.(progress);
        } catch (error) {
          thrown = { error };
          cancel.cancel();
        }
      };
      return start(callback && guarded, cancel);
    });
    if (thrown === undefined) return result;
  } catch (error) {
    if (thrown === undefined) throw error;
  } finally {
    ended = true;
  }
  throw thrown.error;
}
