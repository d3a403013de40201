/** How a log is asked, and what is said where it does not answer. */
import { setTimeout as sleep } from 'node:timers/promises';
import { SimHashError } from '../../errors';
import type { LogPart, OrderedLog } from '../log';

/** Milliseconds that a log may take beyond those that a read waits. */
const GRACE = 5000;

/** Entries from a position on. @throws SimHashError `ERR_SIMHASH_LOG_LOST` where the log fails, or does not answer */
export type Read = (from: number, wait: number, limit: number) => Promise<LogPart>;

/** How a log is read until a signal. */
export function reading(log: OrderedLog, signal: AbortSignal): Read {
  return async (from, wait, limit) => {
    const own = new AbortController();
    const over = new AbortController();
    const end = () => {
      own.abort();
      over.abort();
    };
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
    const silence = rested(wait + GRACE, over.signal).then((): never => {
      throw new Error(`it has not answered within ${wait + GRACE} ms`);
    });
    try {
      return await Promise.race([log.read(from, { limit, wait, signal: own.signal }), silence]);
    } catch (cause) {
      throw lost('the log', cause);
    } finally {
      signal.removeEventListener('abort', end);
      silence.catch(() => {});
      end();
    }
  };
}

/** A check that has not come back. */
export function late(): SimHashError {
  const why = 'it may still be decided: ask again with the same key';
  return new SimHashError(
    'ERR_SIMHASH_LOG_TIMEOUT',
    `the log has not brought a check back in time; ${why}`,
  );
}

export const isLate = (error: unknown) =>
  (error as { code?: string }).code === 'ERR_SIMHASH_LOG_TIMEOUT';

/** What a service goes on trying to reach. */
export function lost(what: string, cause: unknown): SimHashError {
  const message = `${what} cannot be reached; the attempt is repeated`;
  return new SimHashError('ERR_SIMHASH_LOG_LOST', message, { cause });
}

/** Waits, but not beyond the signal. `ref`: whether the process goes on for it, as it does for what else a service is doing. */
export function rested(milliseconds: number, signal: AbortSignal, ref = true): Promise<void> {
  return sleep(milliseconds, undefined, { signal, ref }).catch(() => {});
}
