/** Paths as callers give them. */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as check from './options';

/** The full path that a string or a `file:` URL names. */
export const path: check.Check<string> = (value, name) => {
  // Not instanceof: a URL of another realm is as good.
  if (typeof value === 'object' && value !== null && 'href' in value) {
    return fileURLToPath(String(value.href));
  }
  if (typeof value !== 'string') throw check.wrongType(name, 'a string or a file: URL', value);
  return resolve(value);
};
