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

/** Milliseconds of a batch, once for all items or for each of them. */
export interface BatchTimes {
  readonly milliseconds: Float64Array;
  readonly isEach: boolean;
}

/** Times of a batch: a single one stands for all, a list has one for each. */
export const times: check.Check<BatchTimes> = (value, name) => {
  if (!Array.isArray(value) && !types.isFloat64Array(value)) {
    return { milliseconds: Float64Array.of(time(value, name)), isEach: false };
  }
  const milliseconds = Float64Array.from(value, (at: unknown, row) => time(at, `${name}[${row}]`));
  return { milliseconds, isEach: true };
};

/**
 * Times as the addon takes them, for which one is everybody's.
 *
 * @throws RangeError for a list of one time beside several items, or none: it stands for one.
 */
export function timesFor(items: unknown, at: BatchTimes | undefined): Float64Array | undefined {
  if (at === undefined) return undefined;
  const { milliseconds, isEach } = at;
  const count = (items as { readonly length?: unknown } | undefined | null)?.length;
  if (!isEach || milliseconds.length !== 1 || count === 1) return milliseconds;
  throw rangeError(`at must be one time, or one for each item, got an array of 1 for ${count}`);
}
