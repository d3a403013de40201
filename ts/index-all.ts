/** Everything that a source gives, checked and added in order. */
import { addAbortListener } from 'node:events';
import type { Checked, CheckedItems } from './checked';
import { type Documents, iteratorOf } from './documents';
import { JOB, type JobOptions } from './fingerprinter';
import { type AddManyOptions, CHECK_MANY, type DuplicateOptions } from './index-calls';
import type { Item } from './items';
import type { IndexMethod } from './method';
import * as check from './options';
import { Bell, Source } from './source';
import { type Time, time } from './time';

/** What a source gives: an item, or an item with its key and its time. */
export type Arrival<M extends IndexMethod = IndexMethod, T extends boolean = boolean> =
  | Item<M, T>
  | {
      /** The item. */
      readonly text: Item<M, T>;
      /** Its key, in an index with `keys`. Default none. */
      readonly key?: string | undefined;
      /** Its time, in an index with a window. Default now. */
      readonly at?: Time | undefined;
    };

/** How a source is checked and added. */
export interface AllOptions extends DuplicateOptions, JobOptions {
  /** Items per batch, 1 to 65,536. Default 1,024. Larger is faster, smaller decides sooner. Changes no result. */
  batch?: number | undefined;
}

const ALL: check.Checks<AllOptions> = {
  ...JOB,
  onDuplicate: CHECK_MANY.onDuplicate,
  batch: check.integer(1, 65_536),
};

/** Checks and adds a batch. */
type Start<M extends IndexMethod> = (
  items: unknown[],
  how: AddManyOptions & DuplicateOptions & JobOptions,
) => Promise<CheckedItems<M>>;

/** A batch under way. */
interface Running<M extends IndexMethod> {
  /** Gives the outcomes, or throws what went wrong; absent until then. */
  outcome: (() => CheckedItems<M>) | undefined;
  /** Settles, without error, when the batch has ended. */
  readonly ended: Promise<void>;
}

/** Outcomes of everything that `source` gives, in order. */
export async function* checkAll<M extends IndexMethod>(
  from: Documents<unknown>,
  options: AllOptions | undefined,
  start: Start<M>,
): AsyncGenerator<Checked<M>, void, undefined> {
  const { batch: size = 1024, onDuplicate, signal } = check.checked(options, ALL);
  const source = new Source(iteratorOf(from, 'source'));
  signal?.throwIfAborted();
  const bell = new Bell();
  const stop = new AbortController();
  const listener = signal && addAbortListener(signal, () => stop.abort());
  const bellListener = addAbortListener(stop.signal, () => bell.ring());
  let running: Running<M> | undefined;
  let failed = false;
  try {
    let [batch, first]: [unknown[], number] = [[], 0];
    while (running !== undefined || batch.length > 0 || !source.done) {
      signal?.throwIfAborted();
      const checked = running?.outcome?.();
      if (checked !== undefined) {
        running = undefined;
        yield* checked;
        continue;
      }
      if (batch.length < size && source.take(batch, bell)) continue;
      const isDue = source.done || batch.length === size || bell.idle;
      if (running === undefined && batch.length > 0 && isDue) {
        const how = { onDuplicate, signal: stop.signal };
        running = begin(start(...arrived(batch, first, how)), bell);
        first += batch.length;
        batch = [];
        continue;
      }
      await bell.wait(running === undefined && batch.length > 0);
    }
  } catch (error) {
    failed = true;
    signal?.throwIfAborted();
    throw error;
  } finally {
    listener?.[Symbol.dispose]();
    bellListener[Symbol.dispose]();
    stop.abort();
    await running?.ended;
    await source.close(failed);
  }
}

function begin<M extends IndexMethod>(checked: Promise<CheckedItems<M>>, bell: Bell): Running<M> {
  const running: { outcome: Running<M>['outcome'] } = { outcome: undefined };
  const settle = (outcome: () => CheckedItems<M>) => {
    running.outcome = outcome;
    bell.ring();
  };
  const ended = checked.then(
    (items) => settle(() => items),
    (error) =>
      settle(() => {
        throw error;
      }),
  );
  return Object.assign(running, { ended });
}

/** A batch in columns; times and keys are there where one item has one. */
function arrived<H extends object>(
  batch: readonly unknown[],
  first: number,
  how: H,
): [unknown[], H & AddManyOptions] {
  const items: unknown[] = [];
  const keys: (string | undefined)[] = [];
  const times: (number | undefined)[] = [];
  for (const [row, given] of batch.entries()) {
    const { text, key, at } = arrival(given);
    items.push(text);
    const name = `source[${first + row}]`;
    if (key !== undefined) keys[row] = check.string(key, `${name}.key`);
    if (at !== undefined) times[row] = time(at, `${name}.at`);
  }
  // What has no time of its own comes now.
  const now = Date.now();
  const at = times.length > 0 ? { at: items.map((_, row) => times[row] ?? now) } : {};
  const named = keys.length > 0 ? { keys: items.map((_, row) => keys[row]) } : {};
  return [items, { ...how, ...at, ...named }];
}

function arrival(given: unknown): { text?: unknown; key?: unknown; at?: unknown } {
  if (typeof given !== 'object' || given === null || !('text' in given)) return { text: given };
  return given;
}
