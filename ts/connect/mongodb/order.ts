/**
 * Documents in the order of their ids. Ids of a collection may be of several types, and a comparison such as `$gt` looks at one type alone:
 * what comes after an id are the later ids of its type, and all ids of the types behind it.
 */
import type { Document } from 'mongodb';

/** Types that are compared with each other, in the order of BSON, by the numbers that `$type` takes. */
const BRACKETS: readonly {
  readonly codes: readonly number[];
  readonly names: readonly string[];
}[] = [
  { codes: [-1], names: ['MinKey'] },
  { codes: [10], names: ['null'] },
  { codes: [1, 16, 18, 19], names: ['number', 'bigint', 'Double', 'Int32', 'Long', 'Decimal128'] },
  { codes: [2, 14], names: ['string', 'BSONSymbol'] },
  { codes: [3], names: ['object'] },
  { codes: [5], names: ['Binary', 'UUID'] },
  { codes: [7], names: ['ObjectId'] },
  { codes: [8], names: ['boolean'] },
  { codes: [9], names: ['date'] },
  { codes: [17], names: ['Timestamp'] },
  { codes: [127], names: ['MaxKey'] },
];

/** The name of a value's type. */
export function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (value instanceof Date) return 'date';
  if (value instanceof Uint8Array) return 'Binary';
  if (typeof value !== 'object') return typeof value;
  return '_bsontype' in value ? String(value._bsontype) : 'object';
}

/**
 * Whether an id can be read, and gone on behind: a type has its place in the order, and JavaScript can hold the value as it is (it sorts
 * keys of objects that are whole numbers, and has no dates beyond its own).
 */
export function isOrdered(id: unknown): boolean {
  if (id instanceof Date) return !Number.isNaN(id.getTime());
  const type = typeOf(id);
  if (!BRACKETS.some(({ names }) => names.includes(type))) return false;
  return (
    type !== 'object' ||
    Object.entries(id as object).every(
      ([key, value]) => !/^\d+$/.test(key) && isOrderedWithin(value),
    )
  );
}

function isOrderedWithin(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isOrderedWithin);
  return typeof value !== 'object' || isOrdered(value);
}

/**
 * The queries whose documents, one query after the other, are those after an id, but for one whose id is MaxKey, the last of all: not
 * every server can be asked for that type.
 */
export function after(id: unknown): Document[] {
  const type = typeOf(id);
  const at = BRACKETS.findIndex(({ names }) => names.includes(type));
  if (at < 0) throw new TypeError(`an _id is of a type that has no place in an order: ${type}`);
  const own = BRACKETS[at]?.codes ?? [];
  const later = BRACKETS.slice(at + 1).flatMap(({ codes }) => codes.filter((code) => code !== 127));
  const rest = later.length === 0 ? [] : [{ _id: { $type: later } }];
  // One value alone has such a type.
  if (own.some((code) => code === -1 || code === 10 || code === 127)) return rest;
  // Nothing is greater than NaN, which comes before all other numbers.
  if (isNaNId(id)) return [{ _id: { $gte: Number.NEGATIVE_INFINITY } }, ...rest];
  return [{ _id: { $gt: id } }, ...rest];
}

function isNaNId(id: unknown): boolean {
  return BRACKETS[2]?.names.includes(typeOf(id)) === true && String(id) === 'NaN';
}
