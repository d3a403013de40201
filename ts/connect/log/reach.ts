/** How a log is asked, and what is said where it does not answer. */
import { setTimeout as sleep } from 'node:timers/promises';
import { SimHashError } from '../../errors';
import type { LogPart, OrderedLog } from '../log';
import { redacted } from '../url';

/** Milliseconds that a log may take beyond those that a read waits: one that is over a connection finds out sooner that nothing comes on it. */
const GRACE = 15_000;

/** Entries from a position on. @throws SimHashError `ERR_SIMHASH_LOG_LOST` where the log fails, or does not answer */
export type Read = (from: number, wait: number, limit: number) => Promise<LogPart>;

/** How a log is read until a signal. */
export function reading(log: OrderedLog, signal: AbortSignal): Read {
  return async (from, wait, limit) => {
    const own = new AbortController();
    const end = () => own.abort();
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
    try {
      const read = log.read(from, { limit, wait, signal: own.signal });
      return await answered(read, wait + GRACE, signal);
    } catch (cause) {
      throw lost('the log', cause);
    } finally {
      signal.removeEventListener('abort', end);
      end();
    }
  };
}

/** What a log answers. @throws Error where it does not within some milliseconds, or before the signal */
export function answered<T>(
  work: Promise<T>,
  milliseconds: number,
  signal: AbortSignal,
): Promise<T> {
  const late = () => new Error(`it has not answered within ${milliseconds} ms`);
  return within(work, { milliseconds, signal, late });
}

/**
 * What comes of `work`, as long as somebody waits for it: not beyond some milliseconds, and not beyond the signal.
 *
 * @throws what `late` makes; what comes of `work` after that concerns nobody
 */
export function within<T>(
  work: Promise<T>,
  how: {
    readonly milliseconds?: number;
    readonly signal?: AbortSignal | undefined;
    readonly late: () => unknown;
  },
): Promise<T> {
  const { milliseconds, signal, late } = how;
  return new Promise((done, failed) => {
    const over = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
    };
    const end = () => {
      over();
      failed(late());
    };
    const timer = milliseconds === undefined ? undefined : setTimeout(end, milliseconds);
    signal?.addEventListener('abort', end, { once: true });
    Promise.resolve(work).finally(over).then(done, failed);
    if (signal?.aborted) end();
  });
}

/** A check that has not come back. */
export function late(): SimHashError {
  const why = 'it may still be decided: ask again with the same key';
  return new SimHashError(
    'ERR_SIMHASH_LOG_TIMEOUT',
    `the log has not brought a check back in time; ${why}`,
  );
}

/** What a service goes on trying to reach, and why it cannot; an error that says that already is the one. */
export function lost(what: string, cause: unknown): SimHashError {
  if ((cause as { code?: unknown } | undefined)?.code === 'ERR_SIMHASH_LOG_LOST') {
    return cause as SimHashError;
  }
  const message = `${what} cannot be reached: ${reasonOf(cause)}; the attempt is repeated`;
  return new SimHashError('ERR_SIMHASH_LOG_LOST', message, { cause });
}

/** What an error says, without addresses. */
export function reasonOf(error: unknown): string {
  const { code, message = '' } = Object(error) as { code?: unknown; message?: string };
  // Of an address that was tried twice the error has no message.
  return redacted(message || String(code ?? 'no reason was given'));
}

/** Waits, but not beyond the signal. `ref`: whether the process goes on for it, as it does for what else a service is doing. */
export function rested(milliseconds: number, signal: AbortSignal, ref = true): Promise<void> {
  return sleep(milliseconds, undefined, { signal, ref }).catch(() => {});
}
