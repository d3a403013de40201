/** Errors: one class for what can go wrong in operation, Node's own classes and codes for misuse. */
import { types } from 'node:util';
import type { Added } from './added';
import type { CheckedItems } from './checked';
import { printedBy } from './inspect';

/** What went wrong in operation; the names are stable. */
export type SimHashErrorCode =
  /** The call would have to wait, for the disk or for a batch that is under way; its promise-returning form is named. */
  | 'ERR_SIMHASH_ASYNC_ONLY'
  /** The native part is missing, or does not fit this platform or this version. */
  | 'ERR_SIMHASH_BINDING'
  /** Too many documents wait to be decided; ask again a little later. */
  | 'ERR_SIMHASH_BUSY'
  /** The index was closed. */
  | 'ERR_SIMHASH_CLOSED'
  /** An output file cannot be written for want of space. */
  | 'ERR_SIMHASH_DISK_FULL'
  /** A saved index is damaged. */
  | 'ERR_SIMHASH_INDEX_DAMAGED'
  /** A saved index is of another release, whose format this one does not read; `convertIndex` makes a folder of what release 0.1 saved. */
  | 'ERR_SIMHASH_INDEX_FORMAT'
  /** Live ids would be 2^32 apart. */
  | 'ERR_SIMHASH_INDEX_FULL'
  /** The folder of an index is open for writing already. */
  | 'ERR_SIMHASH_INDEX_LOCKED'
  /** A saved index was made with other options. */
  | 'ERR_SIMHASH_INDEX_MISMATCH'
  /** An input cannot be read: a file, or a collection whose server cannot be reached. */
  | 'ERR_SIMHASH_INPUT'
  /** An input file changed while it was read. */
  | 'ERR_SIMHASH_INPUT_CHANGED'
  /** A defect of this package; please report it. */
  | 'ERR_SIMHASH_INTERNAL'
  /** A line of a dictionary, of stop words or of an idf table cannot be used. */
  | 'ERR_SIMHASH_LINE'
  /** The end of the shared log is behind what was applied: it was restored from an older copy, or lost entries. */
  | 'ERR_SIMHASH_LOG_BEHIND'
  /** An entry of the shared log is not what it was, or its writer has seen another history. */
  | 'ERR_SIMHASH_LOG_CHAIN'
  /** An entry of the shared log is none that this release understands. */
  | 'ERR_SIMHASH_LOG_ENTRY'
  /** Entries of the shared log that were not applied yet are missing: it was trimmed, or they were removed. */
  | 'ERR_SIMHASH_LOG_GAP'
  /** The shared log is another one than before. */
  | 'ERR_SIMHASH_LOG_IDENTITY'
  /** The server of the shared log cannot be reached, or has not taken an entry. */
  | 'ERR_SIMHASH_LOG_LOST'
  /** An entry of the shared log was written by a service that decides by other options. */
  | 'ERR_SIMHASH_LOG_RECIPE'
  /** The shared log did not bring an entry back in time: the outcome is unknown; ask again with the same key. */
  | 'ERR_SIMHASH_LOG_TIMEOUT'
  /** An index or a run has reached the `memory` that it may take, or the system refused memory. */
  | 'ERR_SIMHASH_MEMORY'
  /**
   * Merging the tables of an index has failed, a defect of this package; it can be searched and added to, not compacted or
   * saved.
   */
  | 'ERR_SIMHASH_MERGE'
  /** Every record of the inputs was rejected. */
  | 'ERR_SIMHASH_NO_RECORDS'
  /** `expire` on an index that keeps no times. */
  | 'ERR_SIMHASH_NO_WINDOW'
  /** The native part was built without what an option asks for, as jieba-rs; or the driver of a database is not installed. */
  | 'ERR_SIMHASH_NOT_BUILT'
  /** An output file cannot be written. */
  | 'ERR_SIMHASH_OUTPUT'
  /** The reader of an output pipe closed it. */
  | 'ERR_SIMHASH_PIPE'
  /** The index was opened with `readOnly`: another process changes it. */
  | 'ERR_SIMHASH_READ_ONLY'
  /** Another process is at work on a run over a collection, or has taken it over. */
  | 'ERR_SIMHASH_RUN_LOCKED'
  /** An output file is also an input or another output. */
  | 'ERR_SIMHASH_SAME_FILE'
  /** A document came with the key of a live one, in an index with `onSameKey: 'error'`. */
  | 'ERR_SIMHASH_SAME_KEY'
  /** A call was cancelled after it had settled an earlier run, which was killed: the message says what became of that. */
  | 'ERR_SIMHASH_SETTLED'
  /** The collection that a run writes into holds what is not of this run, or no longer what a run that is done has written. */
  | 'ERR_SIMHASH_TARGET'
  /** The system refused threads. */
  | 'ERR_SIMHASH_THREADS'
  /** More than 2^32 - 1 documents were kept. */
  | 'ERR_SIMHASH_TOO_MANY';

/** What an error is made with. */
export interface SimHashErrorOptions extends ErrorOptions {
  /** What a batch had done. */
  readonly done?: Added | CheckedItems;
}

/** An operational error. `code` is stable, the message is not. */
export class SimHashError extends Error {
  override readonly name: string = 'SimHashError';
  readonly code: SimHashErrorCode;
  /**
   * Where `memory` ended within a batch of additions, or a key was refused: the ids, or the outcomes, of the items before the one that
   * found no memory, or had that key. They were added, or were duplicates; that item and those behind it were not looked at. Absent otherwise.
   */
  readonly done?: Added | CheckedItems;

  constructor(code: SimHashErrorCode, message: string, options?: SimHashErrorOptions) {
    super(message, options);
    this.code = code;
    if (options?.done !== undefined) this.done = options.done;
  }

  /** What can be logged as JSON. */
  toJSON(): { name: string; code: SimHashErrorCode; message: string } {
    const { name, code, message } = this;
    return { name, code, message };
  }
}

// As Node prints its own errors, with the code in front; a cause that says the same is left out.
printedBy<SimHashError>(SimHashError, (error, depth, options, show) => {
  const { name, code, message, cause, stack = '' } = error;
  const frames = stack.search(/\n {4}at /);
  const own = `${name} [${code}]: ${message}${frames < 0 ? '' : stack.slice(frames)}`;
  const isSame = types.isNativeError(cause) && cause.message === message;
  if (cause === undefined || isSame || depth < 0) return own;
  return `${own}\n  [cause]: ${show(cause, { ...options, depth })}`;
});

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

/** Where a message says to set an option, as `name: value` between backticks. */
export interface Setting {
  readonly option: string;
  readonly start: number;
  readonly end: number;
}

/** What the message of an error says to set. */
const SETTINGS = new WeakMap<object, readonly Setting[]>();

/** What the message of an error says to set, in order. */
export function settingsOf(error: object): readonly Setting[] {
  return SETTINGS.get(error) ?? [];
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
  if (!isPlain(error) || typeof error.code !== 'string') return error;
  // Behind the code the addon names the option, whose name may hold spaces, and a line for each setting.
  const [head = '', ...settings] = error.code.split('\n');
  const [code, option] = parted(head);
  const made = classed(error, code, option === undefined ? [] : [option]);
  if (settings.length > 0 && made !== error) SETTINGS.set(made as object, settings.map(setting));
  return made;
}

/** What stands before the first space and behind it. */
function parted(text: string): [string, string | undefined] {
  const space = text.indexOf(' ');
  return space < 0 ? [text, undefined] : [text.slice(0, space), text.slice(space + 1)];
}

/** `12 30 textField`. */
function setting(line: string): Setting {
  const [start, rest = ''] = parted(line);
  const [end, option = ''] = parted(rest);
  return { option, start: Number(start), end: Number(end) };
}

function classed(error: Error, code: string, options: readonly string[]): unknown {
  const { message } = error;
  if (code === 'ERR_INVALID_ARG_TYPE' || code === 'ERR_INVALID_ARG_VALUE')
    return about(typeError(message, code), ...options);
  if (code === RANGE) return about(rangeError(message), ...options);
  if (code.startsWith('ERR_SIMHASH_'))
    return about(new SimHashError(code as SimHashErrorCode, message, { cause: error }), ...options);
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
