/** Checks of options: every key known, every value of its type and in its range, `undefined` the same as absent. */
import { types } from 'node:util';
import { about, rangeError, typeError } from './errors';
import { suggest } from './suggest';

/** How one option is checked; the result is the value as its type. */
export type Check<T> = (value: unknown, name: string) => T;
/** What each option of an object must be. */
export type Checks<T> = { readonly [K in keyof T]-?: Check<NonNullable<T[K]>> };

/**
 * `options` with every value checked; options that are absent or `undefined` are absent in the result. What an object inherits
 * counts as what it has itself, getters of a class too, but for what every object inherits.
 *
 * @throws TypeError ERR_INVALID_ARG_TYPE: no object of options, an unknown key, a value of the wrong type
 * @throws RangeError ERR_OUT_OF_RANGE
 */
export function checked<T extends object>(
  options: unknown,
  checks: Checks<T>,
  name = 'options',
): T {
  if (options === undefined) return {} as T;
  if (typeof options !== 'object' || options === null || isOther(options)) {
    throw typeError(`${name} must be an object of options, got ${show(options)}`);
  }
  const result: Record<string, unknown> = {};
  for (const key of namesOf(options, checks, name)) {
    const value: unknown = Reflect.get(options, key);
    if (value === undefined) continue;
    const option = name === 'options' ? key : `${name}.${key}`;
    try {
      result[key] = checks[key as keyof T](value, option);
    } catch (error) {
      throw about(error, option);
    }
  }
  return result as T;
}

/** Objects of the language's own kinds, none of which is there to hold options. */
function isOther(value: object): boolean {
  return (
    Array.isArray(value) ||
    ArrayBuffer.isView(value) ||
    types.isAnyArrayBuffer(value) ||
    types.isMap(value) ||
    types.isSet(value) ||
    types.isDate(value) ||
    types.isRegExp(value) ||
    types.isPromise(value) ||
    types.isNativeError(value) ||
    types.isBoxedPrimitive(value)
  );
}

/** The known names that an object has or inherits. */
function namesOf(options: object, checks: object, name: string): Set<string> {
  const names = new Set<string>();
  let isOfClass = false;
  for (let level: object | null = options; level !== null; level = Object.getPrototypeOf(level)) {
    if (isRoot(level)) break;
    for (const key of Object.getOwnPropertyNames(level)) {
      if (Object.hasOwn(checks, key)) names.add(key);
      else if (isMeant(level, key)) throw unknownKey(key, checks, name);
      else if (key === 'constructor') isOfClass = true;
    }
  }
  if (isOfClass && names.size === 0) {
    throw typeError(`${name} must be an object of options, got an object that has none of them`);
  }
  return names;
}

/** The prototype of all objects, in any realm: what is on it was not given as an option. */
function isRoot(level: object): boolean {
  if (level === Object.prototype) return true;
  return Object.getPrototypeOf(level) === null && Object.hasOwn(level, 'isPrototypeOf');
}

/** Whether a property can hold an option: methods of a class, and its constructor, cannot. */
function isMeant(level: object, key: string): boolean {
  const property = Object.getOwnPropertyDescriptor(level, key);
  return property !== undefined && (property.enumerable === true || 'get' in property);
}

/** What options of release 0.1 are called now, some by what they belong to. */
const FORMER: Readonly<Record<string, readonly string[]>> = {
  threshold: ['minSimilarity'],
  by: ['verify'],
  storeShortTexts: ['texts'],
  count: ['sentences'],
};

function unknownKey(key: string, checks: object, name: string): TypeError {
  const known = Object.entries(checks).flatMap(([key, check]) =>
    NOT_HERE.has(check) ? [] : [key],
  );
  const former = Object.hasOwn(FORMER, key) ? FORMER[key] : undefined;
  const nearest = former?.find((name) => known.includes(name)) ?? suggest(key, known);
  const hint =
    nearest === undefined
      ? `known are ${known.join(', ') || 'none'}`
      : `did you mean '${nearest}'?`;
  return typeError(`${name} has no option '${key}'; ${hint}`);
}

/** A whole number from `min` to `max`. */
export function integer(min: number, max: number): Check<number> {
  return (value, name) => {
    const range = `a whole number from ${min} to ${max}`;
    if (typeof value !== 'number') throw typeError(`${name} must be ${range}, got ${show(value)}`);
    if (!Number.isInteger(value) || value < min || value > max) {
      throw rangeError(`${name} must be ${range}, got ${value}`);
    }
    return value;
  };
}

/** A number from 0 to 1. */
export const share: Check<number> = (value, name) => {
  if (typeof value !== 'number')
    throw typeError(`${name} must be a number from 0 to 1, got ${show(value)}`);
  if (!(value >= 0 && value <= 1)) throw rangeError(`${name} must be from 0 to 1, got ${value}`);
  return value;
};

/** One of a few words. */
export function choice<const T extends string>(...words: readonly T[]): Check<T> {
  return (value, name) => {
    const word = words.find((word) => word === value);
    if (word !== undefined) return word;
    const expected = words.map((word) => `'${word}'`).join(', ');
    const code = typeof value === 'string' ? 'ERR_INVALID_ARG_VALUE' : 'ERR_INVALID_ARG_TYPE';
    throw typeError(`${name} must be one of ${expected}, got ${show(value)}`, code);
  };
}

export const boolean: Check<boolean> = (value, name) => {
  if (typeof value !== 'boolean')
    throw typeError(`${name} must be true or false, got ${show(value)}`);
  return value;
};

export const string: Check<string> = (value, name) => {
  if (typeof value !== 'string') throw typeError(`${name} must be a string, got ${show(value)}`);
  return value;
};

/** A string that UTF-8 can hold: of others several would become the same bytes. */
export const wellFormed: Check<string> = (value, name) => {
  const text = string(value, name);
  if (text.isWellFormed()) return text;
  const at = text.search(/\p{Surrogate}/u);
  throw typeError(
    `${name} must be well-formed Unicode, got half of a surrogate pair at ${at} in ${show(text.slice(Math.max(0, at - 10)))}`,
    'ERR_INVALID_ARG_VALUE',
  );
};

/** A field of an object, `a.b` for nested ones. */
export const field: Check<string> = (value, name) => {
  const path = string(value, name);
  if (!path.split('.').includes('')) return path;
  const expected = 'keys separated by dots, none of them empty';
  throw typeError(`${name} must be ${expected}, got ${show(path)}`, 'ERR_INVALID_ARG_VALUE');
};

/** Where something is in an object: a field of it, or a function that is given it. */
export function selector<T>(value: unknown, name: string): T | string {
  if (typeof value === 'function') return value as T;
  if (typeof value === 'string') return field(value, name);
  throw wrongType(name, 'a field or a function', value);
}

export function callback<T extends (...args: never[]) => unknown>(value: unknown, name: string): T {
  if (typeof value !== 'function')
    throw typeError(`${name} must be a function, got ${show(value)}`);
  return value as T;
}

export const signal: Check<AbortSignal> = (value, name) => {
  // Not instanceof: a signal of another realm, or of a polyfill, is as good.
  if (
    typeof value !== 'object' ||
    value === null ||
    !('aborted' in value) ||
    !('addEventListener' in value)
  ) {
    throw typeError(`${name} must be an AbortSignal, got ${show(value)}`);
  }
  return value as AbortSignal;
};

/** Refuses an option of another class or method, and says whose it is. */
export function notHere(reason: string): Check<never> {
  const check: Check<never> = (_value, name) => {
    throw typeError(`${name} ${reason}`, 'ERR_INVALID_ARG_VALUE');
  };
  NOT_HERE.add(check);
  return check;
}

/** Checks that refuse: their names are not among those that a message proposes. */
const NOT_HERE = new WeakSet<object>();

/** The error for a value of another type. */
export function wrongType(name: string, expected: string, value: unknown): TypeError {
  return typeError(`${name} must be ${expected}, got ${show(value)}`);
}

/** An array; a Proxy of one is one too. */
export function array(value: unknown, name: string): void {
  if (!Array.isArray(value)) throw typeError(`${name} must be an array, got ${show(value)}`);
}

/** A fingerprint. */
export function bigint(value: unknown, name: string): bigint {
  if (typeof value !== 'bigint') throw typeError(`${name} must be a bigint, got ${show(value)}`);
  return value;
}

/** An id: ids are whole numbers below 2^53. */
export const id = integer(0, Number.MAX_SAFE_INTEGER);

/** A value in a message, short. */
export function show(value: unknown): string {
  if (typeof value === 'string')
    return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  if (typeof value === 'bigint') return `${value}n`;
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object' && value !== null) return 'an object';
  return typeof value === 'function' ? 'a function' : String(value);
}
