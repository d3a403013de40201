/** What a request is answered with where it cannot be done: a status, a code that is stable, and a sentence. */
import { SimHashError } from '../errors';

/** An answer that is no success. */
export class Problem extends Error {
  override readonly name = 'Problem';

  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }

  /** The body of the answer. */
  toJSON(): { error: { code: string; message: string } } {
    return { error: { code: this.code, message: this.message } };
  }
}

/** Seconds after which a client that was refused for want of room should ask again. */
const LATER = '1';

/** There is no room for a request now. */
export const busy = (message: string) =>
  new Problem(429, 'too-many', message, { 'Retry-After': LATER });

/** The request is not as it must be. */
export const invalid = (message: string) => new Problem(400, 'invalid', message);

/** The request is larger than what is taken. */
export const tooLarge = (message: string) => new Problem(413, 'too-large', message);

/** Nothing can be answered now. */
export const unavailable = (code: string, message: string) =>
  new Problem(503, code, message, { 'Retry-After': LATER });

/** Statuses of the errors of the library. Those that are not here are defects, or need somebody who looks at the server. */
const STATUS: Readonly<Record<string, number>> = {
  ERR_SIMHASH_SAME_KEY: 409,
  ERR_SIMHASH_DISK_FULL: 507,
  ERR_SIMHASH_INDEX_FULL: 507,
  ERR_SIMHASH_MEMORY: 507,
  ERR_SIMHASH_CLOSED: 503,
  ERR_SIMHASH_OUTPUT: 503,
  ERR_SIMHASH_LOG_BEHIND: 503,
  ERR_SIMHASH_LOG_CHAIN: 503,
  ERR_SIMHASH_LOG_ENTRY: 503,
  ERR_SIMHASH_LOG_GAP: 503,
  ERR_SIMHASH_LOG_IDENTITY: 503,
  ERR_SIMHASH_LOG_LOST: 503,
  ERR_SIMHASH_LOG_RECIPE: 503,
  ERR_SIMHASH_LOG_TIMEOUT: 504,
};

/** Any error as an answer. What only concerns the server is not told to its clients. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof SimHashError && error.code === 'ERR_SIMHASH_BUSY')
    return busy(error.message);
  if (error instanceof SimHashError) {
    const { code, message } = error;
    const status = STATUS[code] ?? 500;
    if (status === 500 || status === 507 || code === 'ERR_SIMHASH_OUTPUT') {
      // The message names files of the server.
      return new Problem(status, code, SAID[status] ?? 'the server cannot write');
    }
    const headers = status === 503 ? { 'Retry-After': LATER } : {};
    return new Problem(status, code, message, headers);
  }
  if (isMisuse(error)) return invalid(error.message);
  return new Problem(500, 'internal', 'the server failed; its log names the error');
}

const SAID: Readonly<Record<number, string>> = {
  500: 'the server failed; its log names the error',
  507: 'the server has no room for another document; searches go on',
};

/** Whether an error says that a value given to the library is wrong. */
export function isMisuse(error: unknown): error is Error {
  if (!(error instanceof TypeError || error instanceof RangeError)) return false;
  const { code } = error as { code?: unknown };
  return code === 'ERR_OUT_OF_RANGE' || /^ERR_INVALID_ARG/.test(String(code));
}
