/** Labels and results in files of JSON lines, plain or gzip. */
import type { Statement } from '..';
import { said } from '../statements';
import { lines, type Reading, tooLongReason } from './lines';
import { field } from './records';
import type { Rejections } from './rejections';

/**
 * The statements of files in order; a line that says nothing goes to `rejections`. A decision without an id has that of its
 * line, as the records of a file do: its number, or with several files `file:line`.
 */
export async function* statements(
  inputs: readonly string[],
  idField: string,
  rejections: Rejections,
  reading: Reading,
): AsyncGenerator<Statement> {
  for (const input of inputs) {
    for await (const { bytes, number, tooLong } of lines(input, reading)) {
      if (tooLong !== undefined) {
        rejections.add(input, number, tooLongReason(tooLong));
        continue;
      }
      const line = bytes.toString().trim();
      if (line === '') continue;
      const position = inputs.length > 1 ? `${input}:${number}` : number;
      const value = parsed(line, idField, position);
      const answer = value instanceof SyntaxError ? value.message : said(value);
      if (typeof answer === 'string') rejections.add(input, number, answer);
      else yield value as Statement;
    }
  }
}

function parsed(line: string, idField: string, position: string | number): unknown {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    return error;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  if ('members' in value || ('a' in value && 'b' in value)) return value;
  // A decision: a record, perhaps with the mark of a duplicate.
  const { duplicateOf, similarity } = value as Record<string, unknown>;
  return { id: field(value, idField) ?? position, duplicateOf, similarity };
}
