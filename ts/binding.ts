/** Loads the native part; where that fails, says what was tried and what to do. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { SimHashError } from './errors';
import type * as Native from './native';

function load(): typeof Native {
  let native: typeof Native;
  try {
    native = require('./native.js') as typeof Native;
  } catch (cause) {
    throw new SimHashError('ERR_SIMHASH_BINDING', missing(cause), { cause });
  }
  const expected = packageVersion();
  // A native part of before this check has no `version` to call.
  const found = typeof native.version === 'function' ? native.version() : 'an older version';
  if (found !== expected) throw new SimHashError('ERR_SIMHASH_BINDING', mismatch(found, expected));
  const unused = unusedLevel(native);
  // Once: threads load it again.
  if (unused !== undefined && isMainThread) process.emitWarning(unused);
  return native;
}

/** Why the instruction set that the environment names is not in use; a run that is slow would not say it. */
function unusedLevel(native: typeof Native): string | undefined {
  const { SIMHASH_SIMD: asked = '' } = process.env;
  if (asked === '') return undefined;
  const { simd, simdAvailable } = native.machine();
  if (simd === asked) return undefined;
  const has = simdAvailable.join(', ');
  return `SIMHASH_SIMD is '${asked}', which is no instruction set of this machine: ${simd} is used, and it has ${has}`;
}

function mismatch(found: string, expected: string): string {
  return [
    `@x/simhash-native ${expected} loaded a native part of version ${found} for ${platform()}.`,
    `Tried: ${tried().join(', ')}.`,
    `${FIX} Both parts have to be of one version.`,
  ].join('\n');
}

function missing(cause: unknown): string {
  return [
    `@x/simhash-native ${packageVersion()} has no native part for ${platform()} (Node ${process.version}).`,
    `Tried: ${tried().join(', ')}.`,
    FIX,
    `Reason: ${reasons(cause).join('; ')}`,
  ].join('\n');
}

const FIX =
  'In a clone, build it with `npm run build`; as a dependency, delete node_modules and install again without --omit=optional, on this platform; NAPI_RS_NATIVE_LIBRARY_PATH names one file to load.';

/** What the generated loader looks for here, in its order. */
function tried(): string[] {
  const { NAPI_RS_NATIVE_LIBRARY_PATH: given } = process.env;
  const local = join(__dirname, `simhash.${platform()}.node`);
  return [...(given === undefined ? [] : [given]), local, `@x/simhash-native-${platform()}`];
}

/** Platform, processor and ABI, as the files of this package are named. */
function platform(): string {
  const abi = { linux: libc(), win32: '-msvc' }[process.platform as string] ?? '';
  return `${process.platform}-${process.arch}${abi}`;
}

/** The libc decides which build fits on Linux. */
function libc(): string {
  if (process.platform !== 'linux') return '';
  const { header } = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return header?.glibcVersionRuntime === undefined ? '-musl' : '-gnu';
}

function packageVersion(): string {
  const manifest = readFileSync(join(__dirname, '..', 'package.json'), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}

function reasons(cause: unknown): string[] {
  const found: string[] = [];
  for (let error = cause; error instanceof Error; error = error.cause) found.push(error.message);
  return found;
}

export const binding = load();
