/**
 * What a value of JSON must be: the part of JSON Schema that the routes need. Requests are checked by it, and the page of the API is made
 * of it, so that the two cannot differ.
 */
import { Problem } from './problem';

/** A schema, as OpenAPI 3.1 takes it. */
export type Schema =
  | {
      readonly type: 'string';
      readonly minLength?: number;
      /** Bytes of UTF-8, which JSON Schema has no word for. */
      readonly 'x-maxBytes'?: number;
      readonly description: string;
    }
  | {
      readonly type: 'integer' | 'number';
      readonly minimum: number;
      readonly maximum?: number;
      readonly description: string;
    }
  | { readonly type: 'boolean'; readonly description: string }
  | { readonly type: 'array'; readonly items: Schema; readonly description: string }
  | ObjectSchema;

export interface ObjectSchema {
  readonly type: 'object';
  readonly description: string;
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  /** Exactly one of these is there. */
  readonly oneOf?: readonly { readonly required: readonly string[] }[];
  /** `false`: what is not named is refused. */
  readonly additionalProperties?: boolean;
}

/** @throws Problem 400 that names the part that is wrong, and never its value: it may be a text. */
export function conform(value: unknown, schema: Schema, name: string): void {
  switch (schema.type) {
    case 'string': {
      if (typeof value !== 'string') throw wrong(name, 'must be a string');
      const { minLength = 0 } = schema;
      if (value.length < minLength) throw wrong(name, 'must not be empty');
      const { 'x-maxBytes': most = Number.POSITIVE_INFINITY } = schema;
      // What is stored as UTF-8 has to be what UTF-8 can hold.
      if (schema['x-maxBytes'] !== undefined && !value.isWellFormed()) {
        throw wrong(name, 'must be well-formed Unicode');
      }
      if (Buffer.byteLength(value) > most) {
        throw wrong(name, `must be of at most ${most} bytes of UTF-8`);
      }
      return;
    }
    case 'integer':
    case 'number': {
      const { type, minimum, maximum = Number.MAX_SAFE_INTEGER } = schema;
      const what = type === 'integer' ? 'a whole number' : 'a number';
      const isOne = type === 'integer' ? Number.isInteger(value) : typeof value === 'number';
      if (isOne && (value as number) >= minimum && (value as number) <= maximum) return;
      throw wrong(name, `must be ${what} from ${minimum} to ${maximum}`);
    }
    case 'boolean':
      if (typeof value !== 'boolean') throw wrong(name, 'must be true or false');
      return;
    case 'array': {
      if (!Array.isArray(value)) throw wrong(name, 'must be an array');
      for (const [row, item] of value.entries()) conform(item, schema.items, `${name}[${row}]`);
      return;
    }
    default:
      conformObject(value, schema, name);
  }
}

function conformObject(value: unknown, schema: ObjectSchema, name: string): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw wrong(name, 'must be an object');
  }
  const { properties, required = [], oneOf } = schema;
  const known = Object.keys(properties).join(', ');
  for (const [key, part] of Object.entries(value)) {
    const own = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (own !== undefined) conform(part, own, key);
    else throw wrong(name, `has a field that is not known; known are ${known}`);
  }
  for (const key of required) {
    if (!Object.hasOwn(value, key)) throw wrong(name, `needs the field ${key}`);
  }
  if (oneOf === undefined) return;
  const given = oneOf.filter(({ required }) => required.every((key) => Object.hasOwn(value, key)));
  const each = oneOf.map(({ required }) => required.join(' and ')).join(', ');
  if (given.length !== 1) throw wrong(name, `needs exactly one of ${each}`);
}

const wrong = (name: string, how: string) => new Problem(400, 'invalid', `${name} ${how}`);
