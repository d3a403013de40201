/**
 * Large batches cross to the addon a slice at a time, so that the event loop turns in between.
 *
 * Copying 100,000 documents takes more than 100 ms, during which no timer would fire. The array itself is copied before the
 * call returns, and strings never change; the bytes of a Uint8Array must stay as they are until the promise settles. A
 * batch of one slice is copied whole before the call returns, whatever it holds.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { binding } from './binding';
import type { Cancel } from './native';

/** Code units, or bytes, of a slice: about a millisecond of copying. One text is never divided. */
const VOLUME = 1 << 20;
/** Elements of a slice: reading each takes about 0.1 µs however short it is, 1 µs where V8 has to put its parts together. */
const COUNT = 4096;
/** Slices that workers have at a time: enough that none of them waits, few enough to hold 16 MB of copies. */
const AHEAD = 8;

const CANCELLED = 'ERR_SIMHASH_CANCELLED';

/** What elements may be, as the addon names it. */
export type Elements = 'texts' | 'items' | 'signatures';

/** The elements at this moment. A Proxy need not have a method `slice`. */
function copied(array: readonly unknown[]): unknown[] {
  return Array.prototype.slice.call(array);
}

/** Where each slice of an array ends. Reads nothing but lengths. */
function ends(array: readonly unknown[]): number[] {
  const found: number[] = [];
  let [volume, count] = [0, 0];
  for (let at = 0; at < array.length; at++) {
    const element = array[at] as { length?: unknown } | null | undefined;
    volume += typeof element?.length === 'number' ? element.length : 0;
    // A multiple of 8, so that bitmaps of the results can be put together byte by byte.
    if (++count % 8 !== 0 || (count < COUNT && volume < VOLUME)) continue;
    found.push(at + 1);
    [volume, count] = [0, 0];
  }
  if (count > 0) found.push(array.length);
  return found;
}

/** The array in slices, each gathered on a turn of its own. */
async function* slices(
  array: readonly unknown[],
  stops: readonly number[],
  signal: AbortSignal | undefined,
): AsyncGenerator<{ slice: readonly unknown[]; first: number }> {
  let first = 0;
  for (const end of stops) {
    if (first > 0) await turn();
    // As the addon ends a job; whoever listens to the signal gives its reason.
    if (signal?.aborted) throw Object.assign(new Error(CANCELLED), { code: CANCELLED });
    yield { slice: array.slice(first, end), first };
    first = end;
  }
}

/** Whether a batch is copied in one go: it is a typed array, or no more than a slice. */
function isSmall(array: unknown): boolean {
  return !Array.isArray(array) || (array.length <= COUNT && ends(array).length < 2);
}

/**
 * `start` with the whole batch, as an array or gathered beforehand: for what must see it as one step. An abort before the
 * last slice leaves nothing behind.
 */
export async function whole<T>(
  array: unknown,
  elements: Elements,
  signal: AbortSignal | undefined,
  start: (batch: unknown) => Promise<T>,
): Promise<T> {
  if (isSmall(array)) return start(array);
  const own = copied(array as readonly unknown[]);
  const staging = new binding.NativeStaging(elements === 'texts' ? 'texts' : 'items', elements);
  for await (const { slice, first } of slices(own, ends(own), signal)) {
    staging.push(slice, first);
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
): Promise<T[]> {
  if (isSmall(array)) return [await start(array)];
  const own = copied(array);
  const running: Promise<T>[] = [];
  try {
    for await (const { slice, first } of slices(own, ends(own), signal)) {
      const staging = new binding.NativeStaging('texts', 'texts');
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
