/** Errors: one class for what can go wrong in operation, Node's own classes and codes for misuse. */
import { types } from 'node:util';

/**
 * An operational error. `code` is stable, the message is not.
 *
 * - `ERR_SIMHASH_BINDING`: the native part is missing, or does not fit this platform or this version
 * - `ERR_SIMHASH_CLOSED`: the index was closed
 * - `ERR_SIMHASH_INDEX_FULL`: live ids would be 2^32 apart
 * - `ERR_SIMHASH_INDEX_DAMAGED`, `ERR_SIMHASH_INDEX_MISMATCH`: a saved index is damaged, or was made with other options
 * - `ERR_SIMHASH_INDEX_FORMAT`: a saved index is of another release, whose format this one does not read; build it again
 * - `ERR_SIMHASH_INDEX_LOCKED`: the file of an index is open already
 * - `ERR_SIMHASH_MERGE`: merging the tables of an index has failed, a defect of this package; it can be searched and added to,
 *   not compacted or saved
 * - `ERR_SIMHASH_NO_WINDOW`: `expire` on an index that keeps no times
 * - `ERR_SIMHASH_INPUT`, `ERR_SIMHASH_INPUT_CHANGED`: an input file cannot be read, or changed while it was read
 * - `ERR_SIMHASH_NO_RECORDS`: every record of the inputs was rejected
 * - `ERR_SIMHASH_LINE`: a line of a dictionary, of stop words or of an idf table cannot be used
 * - `ERR_SIMHASH_NOT_BUILT`: the native part was built without what an option asks for, as jieba-rs
 * - `ERR_SIMHASH_OUTPUT`, `ERR_SIMHASH_DISK_FULL`, `ERR_SIMHASH_SAME_FILE`: an output file cannot be written
 * - `ERR_SIMHASH_PIPE`: the reader of an output pipe closed it
 * - `ERR_SIMHASH_TOO_MANY`: more than 2^32 - 1 documents were kept
 * - `ERR_SIMHASH_MEMORY`: an index has reached the `memory` that it may take, or the system refused memory
 * - `ERR_SIMHASH_THREADS`: the system refused threads
 * - `ERR_SIMHASH_INTERNAL`: a defect of this package; please report it
 */
export class SimHashError extends Error {
  override readonly name: string = 'SimHashError';
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

const RANGE = 'ERR_OUT_OF_RANGE';

/** The options that an error is about, where its message begins with them. */
const ABOUT = new WeakMap<object, readonly string[]>();

/** The same error, whose message begins with these options: `bands and rows must …`. What is known of an error stays. */
export function about<E>(error: E, ...options: readonly string[]): E {
  const isNew = typeof error === 'object' && error !== null && !ABOUT.has(error);
  if (isNew && options.length > 0) ABOUT.set(error, options);
  return error;
}

/** The options that the message of an error begins with, joined by `and`. */
export function optionsOf(error: object): readonly string[] {
  return ABOUT.get(error) ?? [];
}

/** An argument of the wrong type, as Node reports it. */
export function typeError(message: string, code = 'ERR_INVALID_ARG_TYPE'): TypeError {
  return Object.assign(new TypeError(message), { code });
}

/** A value outside its range, as Node reports it. */
export function rangeError(message: string): RangeError {
  return Object.assign(new RangeError(message), { code: RANGE });
}

/** An error of the addon as the class that its code stands for; what user code threw passes through. */
export function fromNative(error: unknown): unknown {
  if (!isPlain(error)) return error;
  const { message } = error;
  if (typeof error.code !== 'string') return error;
  // The addon names the option behind the code; its name may hold spaces.
  const space = error.code.indexOf(' ');
  const code = space < 0 ? error.code : error.code.slice(0, space);
  const options = space < 0 ? [] : [error.code.slice(space + 1)];
  if (code === 'ERR_INVALID_ARG_TYPE' || code === 'ERR_INVALID_ARG_VALUE')
    return about(typeError(message, code), ...options);
  if (code === RANGE) return about(rangeError(message), ...options);
  if (code.startsWith('ERR_SIMHASH_'))
    return about(new SimHashError(code, message, { cause: error }), ...options);
  // A conversion that the typed layer should have refused first, or a panic that only the outermost guard caught.
  if (code in NAPI) return new SimHashError('ERR_SIMHASH_INTERNAL', message, { cause: error });
  return error;
}

/** Whether something is as the addon makes its errors: of class `Error` itself, in any realm, with a code. */
function isPlain(error: unknown): error is Error & { code: unknown } {
  // Nothing of a Proxy's is touched: its code would run, and might throw.
  if (!types.isNativeError(error) || !Object.hasOwn(error, 'code')) return false;
  const parent = Object.getPrototypeOf(Object.getPrototypeOf(error));
  return parent !== null && Object.getPrototypeOf(parent) === null;
}

/** Status names of Node-API as napi-rs spells them. */
const NAPI: Readonly<Record<string, true>> = {
  InvalidArg: true,
  GenericFailure: true,
  ObjectExpected: true,
  StringExpected: true,
  FunctionExpected: true,
  NumberExpected: true,
  BooleanExpected: true,
  ArrayExpected: true,
  BigintExpected: true,
};

/** Calls the addon; errors come out as their classes. */
export function native<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw fromNative(error);
  }
}
