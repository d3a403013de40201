/**
 * Large batches cross to the addon a slice at a time, so that the event loop turns in between.
 *
 * Copying 100,000 documents takes more than 100 ms, during which no timer would fire. The array itself is copied before the
 * call returns (about 5 ns an element), and strings never change; the bytes of a Uint8Array must stay as they are until the
 * promise settles. A batch of one slice is copied whole before the call returns, whatever it holds; so is one text, however
 * long it is (about 1 ms for a million characters).
 */
import { setImmediate as turn } from 'node:timers/promises';
import { types } from 'node:util';
import { binding } from './binding';
import type { FingerprintColumn } from './fingerprints';
import type { Cancel } from './native';

/** Code units, or bytes, of a slice: about a millisecond of copying. One text is never divided. */
const VOLUME = 1 << 20;
/** Elements of a slice: reading each takes about 0.1 µs however short it is, 1 µs where V8 has to put its parts together. */
const COUNT = 4096;
/** Fingerprints of a slice of a typed array: half a megabyte. */
const WIDE = 1 << 16;
/** Slices that workers have at a time: enough that none of them waits, few enough to hold 16 MB of copies. */
const AHEAD = 8;
/** Rows of a slice whose result is a bitmap are a multiple of this, so that bitmaps can be put together byte by byte. */
const BYTE = 8;

const CANCELLED = 'ERR_SIMHASH_CANCELLED';

/** What a batch may be: elements, or fingerprints in a typed array. */
export type Batch = readonly unknown[] | BigUint64Array | FingerprintColumn;

/** What elements may be, as the addon names it. */
export type Elements = 'strings' | 'texts' | 'documents' | 'items' | 'signatures';

/**
 * The elements at this moment, up to the first that is missing: no batch gets beyond that, so a length without elements costs
 * nothing. Of a Proxy each is read once.
 */
export function copied(array: readonly unknown[]): unknown[] {
  const { slice, includes, findIndex } = Array.prototype;
  if (types.isProxy(array)) return leading(array);
  // Holes are found here too; `includes` is twenty times as fast as the search for the place, which is seldom needed.
  if (!includes.call(array, undefined)) return slice.call(array);
  return slice.call(array, 0, findIndex.call(array, (element) => element === undefined) + 1);
}

function leading(array: readonly unknown[]): unknown[] {
  const own: unknown[] = [];
  const { length } = array;
  while (own.length < length) {
    const element = array[own.length];
    own.push(element);
    if (element === undefined) break;
  }
  return own;
}

/** Where the slice that begins at `first` ends. Reads nothing but lengths. */
function endOf(array: readonly unknown[], first: number, rows: number): number {
  let volume = 0;
  for (let at = first; at < array.length; at++) {
    const element = array[at] as { length?: unknown } | null | undefined;
    volume += typeof element?.length === 'number' ? element.length : 0;
    const count = at + 1 - first;
    if (count % rows === 0 && (count >= COUNT || volume >= VOLUME)) return at + 1;
  }
  return array.length;
}

/** A part of a batch, and the place of its first element. */
type Slice<T> = readonly [slice: T, first: number];

/** Slices, each on a turn of its own. */
async function* onTurns<T>(
  all: Iterable<Slice<T>>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Slice<T>> {
  let begun = false;
  for (const slice of all) {
    if (begun) await turn();
    begun = true;
    // As the addon ends a job; whoever listens to the signal gives its reason.
    if (signal?.aborted) throw Object.assign(new Error(CANCELLED), { code: CANCELLED });
    yield slice;
  }
}

/** An array in slices of a multiple of `rows` elements, but for the last of them. */
function* slices(array: readonly unknown[], rows: number): Generator<Slice<readonly unknown[]>> {
  for (let first = 0, end: number; first < array.length; first = end) {
    end = endOf(array, first, rows);
    yield [array.slice(first, end), first];
  }
}

/** Fingerprints in slices. */
function* columns(values: BigUint64Array): Generator<Slice<BigUint64Array>> {
  for (let first = 0; first < values.length; first += WIDE) {
    yield [values.subarray(first, first + WIDE), first];
  }
}

function isArray(batch: Batch): batch is readonly unknown[] {
  return Array.isArray(batch);
}

/** Whether an array is copied in one go: it is no more than a slice, or longer than any that the addon takes. */
function isSmall(array: readonly unknown[]): boolean {
  const { length } = array;
  return length <= COUNT ? endOf(array, 0, 1) === length : !(length < 2 ** 32);
}

/** Of what a batch is a part, for messages: its name, and the number that the first element has there. */
export interface Part {
  readonly name: string;
  readonly first: number;
}

/**
 * `start` with the whole batch, as an array or gathered beforehand: for what must see it as one step. An abort before the
 * last slice leaves nothing behind.
 */
export async function whole<T>(
  batch: Batch,
  elements: Elements,
  signal: AbortSignal | undefined,
  start: (batch: unknown) => Promise<T>,
  part?: Part,
): Promise<T> {
  if (!isArray(batch)) return column(batch, signal, start);
  if (isSmall(batch) && part === undefined) return start(batch);
  const own = elements === 'texts' ? 'texts' : 'items';
  const staging = new binding.NativeStaging(part?.name ?? own, elements);
  for await (const [slice, first] of onTurns(slices(copied(batch), 1), signal)) {
    staging.push(slice, first + (part?.first ?? 0));
  }
  return start(staging);
}

/** The same for fingerprints in a typed array; of more than a slice a copy is made before the call returns. */
async function column<T>(
  batch: BigUint64Array | FingerprintColumn,
  signal: AbortSignal | undefined,
  start: (batch: unknown) => Promise<T>,
): Promise<T> {
  const given = 'valid' in batch ? batch : { values: batch, valid: undefined, first: 0 };
  const small = given.values.length <= WIDE;
  if (small && given.valid === undefined) return start(given.values);
  const staging = new binding.NativeStaging('items', 'items');
  if (small) staging.pushFingerprints(given.values, given.valid, given.first);
  else {
    const values = BigUint64Array.from(given.values);
    const valid = given.valid && Uint8Array.from(given.valid);
    for await (const [slice, row] of onTurns(columns(values), signal)) {
      const bit = given.first + row;
      const bits = valid?.subarray(Math.floor(bit / BYTE), Math.ceil((bit + slice.length) / BYTE));
      staging.pushFingerprints(slice, bits, bit % BYTE);
    }
  }
  return start(staging);
}

/**
 * `start` with each slice while others are at work: for what treats every text by itself. The results are in order; the
 * first failure, or an abort, ends the rest.
 */
export async function parts<T>(
  array: readonly unknown[],
  signal: AbortSignal | undefined,
  cancel: Cancel,
  start: (batch: unknown) => Promise<T>,
  elements: Elements = 'texts',
): Promise<T[]> {
  if (isSmall(array)) return [await start(array)];
  const running: Promise<T>[] = [];
  try {
    for await (const [slice, first] of onTurns(slices(copied(array), BYTE), signal)) {
      const staging = new binding.NativeStaging('texts', elements);
      staging.push(slice, first);
      const part = start(staging);
      // Awaited below in order; until then a failure is nobody's.
      part.catch(() => undefined);
      running.push(part);
      await running.at(-AHEAD);
    }
    return await Promise.all(running);
  } catch (error) {
    cancel.cancel();
    await Promise.allSettled(running);
    throw error;
  }
}
