/** Names of files, as callers give them. */
import { fileURLToPath } from 'node:url';
import { typeError } from './errors';
import { type Check, wrongType } from './options';

/** A file: its path, or a `file:` URL. */
export type Path = string | URL;

/**
 * The path of a file; a `file:` URL, of any realm, becomes one.
 *
 * @throws TypeError ERR_INVALID_ARG_VALUE for a URL that names no local file.
 */
export const path: Check<string> = (value, name) => {
  if (value === '') throw typeError(`${name} must not be empty`, 'ERR_INVALID_ARG_VALUE');
  if (typeof value === 'string') return value;
  if (!isUrl(value)) throw wrongType(name, 'a path or a file: URL', value);
  try {
    return fileURLToPath(value.href);
  } catch (cause) {
    // Another protocol or host, or a separator that is escaped.
    const error = typeError(
      `${name} must be a path or the file: URL of a local file, got ${value.href}`,
      'ERR_INVALID_ARG_VALUE',
    );
    throw Object.assign(error, { cause });
  }
};

/** Whether something is a URL, as Node itself tells. */
export function isUrl(value: unknown): value is URL {
  return (
    typeof value === 'object' &&
    value !== null &&
    'href' in value &&
    typeof value.href === 'string' &&
    'protocol' in value &&
    typeof value.protocol === 'string'
  );
}
