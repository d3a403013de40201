/**
 * Documents in the order of their ids. Ids of a collection may be of several types, and a comparison such as `$gt` looks at one type alone:
 * what comes after an id are the later ids of its type, and all ids of the types behind it.
 */
import type { Document } from 'mongodb';

/** Types that are compared with each other, in the order of BSON, by what `$type` takes. */
const BRACKETS: readonly {
  readonly types: readonly (number | string)[];
  readonly names: readonly string[];
}[] = [
  { types: [-1], names: ['MinKey'] },
  { types: [10], names: ['null'] },
  { types: ['number'], names: ['number', 'bigint', 'Double', 'Int32', 'Long', 'Decimal128'] },
  // Symbols too, which not every server knows by a number.
  { types: [], names: ['string', 'BSONSymbol'] },
  { types: [3], names: ['object'] },
  { types: [5], names: ['Binary', 'UUID'] },
  { types: [7], names: ['ObjectId'] },
  { types: [8], names: ['boolean'] },
  { types: [9], names: ['date'] },
  { types: [17], names: ['Timestamp'] },
  { types: [], names: ['MaxKey'] },
];
/** The place of texts, which are asked for by the least of them. */
const TEXTS = BRACKETS.findIndex(({ names }) => names.includes('string'));

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
  const later = (from: number, to?: number) => {
    const types = BRACKETS.slice(from, to).flatMap(({ types }) => types);
    return types.length === 0 ? [] : [{ _id: { $type: types } }];
  };
  const rest =
    at < TEXTS
      ? [...later(at + 1, TEXTS), { _id: { $gte: '' } }, ...later(TEXTS + 1)]
      : later(at + 1);
  // One value alone has such a type.
  if (type === 'MinKey' || type === 'null' || type === 'MaxKey') return rest;
  // Nothing is greater than NaN, which comes before all other numbers.
  if (isNaNId(id)) return [{ _id: { $gte: Number.NEGATIVE_INFINITY } }, ...rest];
  return [{ _id: { $gt: id } }, ...rest];
}

function isNaNId(id: unknown): boolean {
  return BRACKETS[2]?.names.includes(typeOf(id)) === true && String(id) === 'NaN';
}
