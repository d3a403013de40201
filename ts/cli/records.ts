/** Documents of files of JSON lines, for what still reads them in JavaScript. */
import { lines, type Reading, tooLongReason } from './lines';
import type { Rejections } from './rejections';
import { Unusable } from './unusable';

export interface Document {
  readonly id: string;
  readonly text: string;
}

export interface Source extends Reading {
  readonly inputs: readonly string[];
  readonly textField: string;
  readonly idField: string;
}

// The mark is taken off the first line of a file, and belongs nowhere else.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** What JSON calls white space. */
const BLANK = /^[ \t\r\n]*$/;

/**
 * The documents of all inputs in order; a line that is none goes to `rejections`. Blank lines are skipped.
 *
 * @throws NoRecordsError at the end, where there were records and all of them were rejected. No record at all is no error.
 */
export async function* records(source: Source, rejections: Rejections): AsyncGenerator<Document> {
  const unusable = new Unusable();
  let used = 0;
  for (const input of source.inputs) {
    for await (const { bytes, number, tooLong } of lines(input, source)) {
      const position = source.inputs.length > 1 ? `${input}:${number}` : `${number}`;
      const parsed = tooLong === undefined ? parseRecord(bytes, source) : tooLongReason(tooLong);
      if (parsed === undefined) continue;
      if (typeof parsed === 'string') {
        rejections.add(input, number, parsed);
        if (used === 0) unusable.look(bytes, `${input}:${number}`, parsed);
      } else {
        used++;
        yield { id: parsed.id ?? position, text: parsed.text };
      }
    }
  }
  const error = used === 0 ? unusable.error(source.textField) : undefined;
  if (error === undefined) return;
  rejections.end();
  throw error;
}

/** A record, `undefined` for a blank line, or the reason why it is none. */
function parseRecord(
  bytes: Buffer,
  { textField, idField }: Source,
): { id: string | undefined; text: string } | string | undefined {
  let record: unknown;
  try {
    const line = utf8.decode(bytes);
    if (BLANK.test(line)) return undefined;
    record = JSON.parse(line);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  const text = field(record, textField);
  if (text === undefined) return `no field ${textField}`;
  if (typeof text !== 'string') return `field ${textField} is not a string`;
  const id = field(record, idField);
  if (id === undefined || id === null) return { id: undefined, text };
  // Beyond 2^53 JavaScript has already rounded it: two ids would become one.
  if (typeof id === 'number' && Math.abs(id) > Number.MAX_SAFE_INTEGER)
    return `field ${idField} is a number beyond 2^53, which cannot be shown exactly; write it as a string`;
  if (typeof id === 'string' || typeof id === 'number') return { id: String(id), text };
  return `field ${idField} is neither a string nor a number`;
}

/** The value at a path of keys separated by dots. */
export function field(record: unknown, path: string): unknown {
  let value = record;
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}
