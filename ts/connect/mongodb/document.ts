/** What a run takes from a document: its text, what the keep rule looks at, or why it cannot be used. */
import type { Document } from 'mongodb';
import * as check from '../../options';
import { isUndecodable } from './decoded';
import type { Settings } from './settings';
import type { Stage } from './stage';

/** Bytes that the fields of our own take beside ids and text, at most. */
const OWN = 256;
/** What stands in a text for bytes that are not UTF-8. */
const REPLACED = '\u{fffd}';

/** The fields of documents that are read. */
export function projectionOf(settings: Settings): Document {
  const { textFields, dateField } = settings;
  const date = dateField === undefined ? [] : [dateField];
  const fields = [...textFields, ...keepFields(settings), ...date];
  return { _id: 1, ...Object.fromEntries(fields.map((field) => [field, 1])) };
}

/** The text of a document that {@link reasonOf} finds nothing wrong with. */
export function textOf(document: Document, { textFields }: Settings): string {
  const [only] = textFields;
  if (only !== undefined && textFields.length === 1) return fieldOf(document, only) as string;
  return textFields.map((field) => fieldOf(document, field)).join('\n');
}

/**
 * Why a document cannot be used; `undefined`: it can. `id` is its `_id` as extended JSON, `isWritten` whether its text goes into the target: it and
 * the `_id`, which is written twice, must fit into what the server takes for a document, and so must two ids.
 */
export function reasonOf(
  document: Document,
  id: string,
  { settings, bson, room }: Pick<Stage, 'settings' | 'bson' | 'room'>,
  isWritten: boolean,
): string | undefined {
  let units = 0;
  for (const field of settings.textFields) {
    const value = fieldOf(document, field);
    if (value === undefined) return `no field ${field}`;
    if (typeof value !== 'string') return `field ${field} is ${check.show(value)}, not a string`;
    units += value.length + 1;
  }
  if (isUndecodable(document)) {
    const fields = Object.keys(projectionOf(settings));
    const isReplaced = (field: string) => String(fieldOf(document, field)).includes(REPLACED);
    return `field ${fields.filter(isReplaced).join(' or ')} has bytes that are not UTF-8`;
  }
  // A unit of UTF-16 is at most three bytes of UTF-8, in the extended JSON of an id too.
  if (3 * (units + 2 * id.length) + OWN < room) return undefined;
  const ids = 2 * bson.calculateObjectSize({ _id: document['_id'] });
  const text = isWritten ? Buffer.byteLength(textOf(document, settings)) : 0;
  const bytes = ids + text + OWN;
  if (bytes < room) return undefined;
  const what = isWritten
    ? 'its text and its _id, which is written twice,'
    : 'its _id, written twice,';
  return `${what} would take about ${bytes} bytes: the server takes documents of less than ${room}`;
}

/** The fields that the keep rule looks at. */
export function keepFields({ keep }: Settings): string[] {
  if (keep === 'newest') return ['date'];
  return typeof keep === 'object' ? [keep.field] : [];
}

export function fieldOf(document: Document, field: string): unknown {
  return field.split('.').reduce<unknown>((value, name) => {
    return typeof value === 'object' && value !== null
      ? (value as Record<string, unknown>)[name]
      : undefined;
  }, document);
}

/**
 * A value of BSON as JSON: texts and numbers as they are, with all of their digits, dates as texts, of others the kind alone; `undefined`: none.
 */
export function jsonOf(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (value === null || typeof value === 'boolean' || typeof value === 'string') {
    return JSON.stringify(value);
  }
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'null' : JSON.stringify(value);
  if (Array.isArray(value)) return '[]';
  const { _bsontype: type } = value as { _bsontype?: string };
  const isNumber = typeof value === 'number' || typeof value === 'bigint';
  if (isNumber || type === 'Int32' || type === 'Double' || type === 'Long') {
    const digits = String(value);
    return Number.isFinite(Number(digits)) ? digits : 'null';
  }
  // Decimal128 has no limits of a double: only what JSON has a form for.
  if (type === 'Decimal128' && NUMBER.test(String(value))) return String(value);
  return '{}';
}

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?(E[+-]?\d{1,2})?$/;
