/** Points in time, as callers give them and as the addon takes them. */
import { types } from 'node:util';
import { rangeError, typeError } from './errors';
import * as check from './options';

/** A point in time: milliseconds since 1970, a whole number from 0 to 2^53 - 1, or a `Date`. */
export type Time = number | Date;
/** Times of a batch: one for all items, or one for each. */
export type Times = Time | readonly Time[] | Float64Array;

/** Milliseconds of a time. */
export const time: check.Check<number> = (value, name) => {
  const at = types.isDate(value) ? value.getTime() : value;
  const expected = `${name} must be a Date or whole milliseconds since 1970`;
  if (typeof at !== 'number') throw typeError(`${expected}, got ${check.show(value)}`);
  if (!Number.isSafeInteger(at) || at < 0) throw rangeError(`${expected}, got ${at}`);
  return at;
};

/** Milliseconds of a batch: a single one stands for all. */
export const times: check.Check<Float64Array> = (value, name) => {
  if (!Array.isArray(value) && !types.isFloat64Array(value)) {
    return Float64Array.of(time(value, name));
  }
  return Float64Array.from(value, (at: unknown, row) => time(at, `${name}[${row}]`));
};
