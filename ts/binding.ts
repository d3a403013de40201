/** Loads the native part; where that fails, says what was tried and what to do. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SimHashError } from './errors';
import type * as Native from './native';

function load(): typeof Native {
  try {
    return require('./native.js') as typeof Native;
  } catch (cause) {
    throw new SimHashError('ERR_SIMHASH_BINDING', explanation(cause), { cause });
  }
}

function explanation(cause: unknown): string {
  const { version } = JSON.parse(readFileSync(join(__dirname, '..', 'package.json'), 'utf8')) as {
    version: string;
  };
  return [
    `@x/simhash-native ${version} has no native part for ${process.platform}-${process.arch}${libc()} in ${__dirname}.`,
    'In a clone, build it with `npm run build`; as a dependency, install again without --omit=optional.',
    `NAPI_RS_NATIVE_LIBRARY_PATH names one file to load. Reason: ${reasons(cause).join('; ')}`,
  ].join('\n');
}

/** The libc decides which build fits on Linux. */
function libc(): string {
  if (process.platform !== 'linux') return '';
  const { header } = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return header?.glibcVersionRuntime === undefined ? '-musl' : '-gnu';
}

function reasons(cause: unknown): string[] {
  const found: string[] = [];
  for (let error = cause; error instanceof Error; error = error.cause) found.push(error.message);
  return found;
}

export const binding = load();
