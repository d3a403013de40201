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
  const expected = manifest().version;
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
    `${fix()} Both parts have to be of one version.`,
  ].join('\n');
}

function missing(cause: unknown): string {
  return [
    `@x/simhash-native ${manifest().version} has no native part for ${platform()} (Node ${process.version}${libcVersion()}).`,
    `Tried: ${tried().join(', ')}.`,
    fix(),
    `Reason: ${reasons(cause).join('; ')}`,
  ].join('\n');
}

/** What to do. A published package names the packages that hold its native parts; a clone names none, it builds its own. */
function fix(): string {
  const { optionalDependencies } = manifest();
  if (optionalDependencies === undefined)
    return `In a clone, build it with \`npm run build\`. ${NAMED}`;
  const prefix = '@x/simhash-native-';
  const published = Object.keys(optionalDependencies);
  if (published.includes(`${prefix}${platform()}`)) {
    return `It is a package of its own, an optional dependency: delete node_modules and install again, on this platform and without --omit=optional or --no-optional. ${NAMED}`;
  }
  const platforms = published.map((name) => name.slice(prefix.length)).join(', ');
  return `Published are ${platforms}. For others, build it in a clone with \`npm run build\`, which needs Rust. ${NAMED}`;
}

const NAMED = 'NAPI_RS_NATIVE_LIBRARY_PATH names one file to load.';

/** What the generated loader looks for here, in its order. */
function tried(): string[] {
  const { NAPI_RS_NATIVE_LIBRARY_PATH: given } = process.env;
  const local = join(__dirname, `simhash.${platform()}.node`);
  return [...(given === undefined ? [] : [given]), local, `@x/simhash-native-${platform()}`];
}

/** Platform, processor and ABI, as the files of this package are named. */
function platform(): string {
  const { platform, arch } = process;
  if (platform === 'linux') return `${platform}-${arch}${libc()}`;
  return `${platform}-${arch}${platform === 'win32' ? '-msvc' : ''}`;
}

/** The libc decides which build fits on Linux. */
function libc(): string {
  return glibc() === undefined ? '-musl' : '-gnu';
}

function glibc(): string | undefined {
  // Without what it would ask of the network.
  Object.assign(process.report, { excludeNetwork: true });
  const { header } = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return header?.glibcVersionRuntime;
}

/** A native part needs the glibc that it was built for, or a newer one. */
function libcVersion(): string {
  if (process.platform !== 'linux') return '';
  const version = glibc();
  return version === undefined ? ', musl' : `, glibc ${version}`;
}

interface Manifest {
  readonly version: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

function manifest(): Manifest {
  return JSON.parse(readFileSync(join(__dirname, '..', 'package.json'), 'utf8')) as Manifest;
}

/** What each place that was tried said, but for what the generated loader says of npm and of builds for WASI, which there are none of. */
function reasons(cause: unknown): string[] {
  const found: string[] = [];
  for (let error = cause; error instanceof Error; error = error.cause) {
    found.push(error.message.split('\n', 1)[0] as string);
  }
  const own = found.filter((reason) => !/wasi|^Cannot find native binding/.test(reason));
  return own.length > 0 ? own : found;
}

export const binding = load();
