/** Everything that a source gives, checked and added in order. */
import { addAbortListener } from 'node:events';
import { type Checked, CheckedItems } from './checked';
import { type Documents, fieldOf, iteratorOf } from './documents';
import { SimHashError, typeError } from './errors';
import { JOB, type JobOptions } from './fingerprinter';
import { type AddManyOptions, CHECK_MANY, type DuplicateOptions, keyString } from './index-calls';
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
export interface AllOptions<D = unknown, I = Item> extends DuplicateOptions, JobOptions {
  /**
   * Where the item is in what the source gives: in a field, `a.b` for nested ones, or what a function gives for it. Default the thing
   * itself, or its field `text`. Where it is given, `key` and `at` say where keys and times are, and there are none without.
   */
  text?: string | ((doc: D) => I | undefined) | undefined;
  /** Where its key is, in an index with `keys`: in a field, or what a function gives. `undefined` is none. Default its field `key`. */
  key?: string | ((doc: D) => string | undefined) | undefined;
  /** Where its time is, in an index with a window: in a field, or what a function gives. `undefined` is now. Default its field `at`. */
  at?: string | ((doc: D) => Time | undefined) | undefined;
  /** Items per batch, 1 to 65,536. Default 1,024. Larger is faster, smaller decides sooner. Changes no result. */
  batch?: number | undefined;
}

const ALL: check.Checks<AllOptions> = {
  ...JOB,
  text: check.selector,
  key: check.selector,
  at: check.selector,
  onDuplicate: CHECK_MANY.onDuplicate,
  batch: check.integer(1, 65_536),
};

/** Checks and adds a batch, whose first item is that of number `first`. */
type Start<M extends IndexMethod> = (
  items: unknown[],
  how: AddManyOptions & DuplicateOptions & JobOptions,
  first: number,
) => Promise<CheckedItems<M>>;

/** A batch under way. */
interface Running<M extends IndexMethod> {
  /** The outcomes, and what went wrong behind them; absent until then. */
  outcome: Outcome<M> | undefined;
  /** Settles, without error, when the batch has ended. */
  readonly ended: Promise<void>;
}

/** What a batch has come to. */
interface Outcome<M extends IndexMethod> {
  readonly checked?: CheckedItems<M> | undefined;
  readonly failure?: { readonly error: unknown };
}

/** The name of what a source gives, in messages. */
export const SOURCE = 'source';

/** Outcomes of everything that `source` gives, in order. */
export async function* checkAll<M extends IndexMethod>(
  from: Documents<unknown>,
  options: AllOptions<never, unknown> | undefined,
  start: Start<M>,
): AsyncGenerator<Checked<M>, void, undefined> {
  const given = check.checked<AllOptions>(options, ALL);
  const { batch: size = 1024, onDuplicate, signal } = given;
  const arrival = arrivalBy(given);
  const source = new Source(iteratorOf(from, SOURCE));
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
      const outcome: Outcome<M> | undefined = running?.outcome;
      if (outcome !== undefined) {
        running = undefined;
        // What was done before memory ended was done.
        if (outcome.checked !== undefined) yield* outcome.checked;
        if (outcome.failure !== undefined) throw outcome.failure.error;
        continue;
      }
      if (batch.length < size && source.take(batch, bell)) continue;
      const isDue = source.done || batch.length === size || bell.idle;
      if (running === undefined && batch.length > 0 && isDue) {
        const [items, columns] = arrived(batch, first, arrival);
        const how = { ...columns, onDuplicate, signal: stop.signal };
        running = begin(start(items, how, first), bell);
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
  const settle = (outcome: Outcome<M>) => {
    running.outcome = outcome;
    bell.ring();
  };
  const ended = checked.then(
    (checked) => settle({ checked }),
    (error) => {
      const done = error instanceof SimHashError ? error.done : undefined;
      const checked = done instanceof CheckedItems ? (done as CheckedItems<M>) : undefined;
      settle({ checked, failure: { error } });
    },
  );
  return Object.assign(running, { ended });
}

/** What a source has given, in its parts; no key and no time: it has none. */
interface Parts {
  readonly text?: unknown;
  readonly key?: unknown;
  readonly at?: unknown;
}

/** How the parts of what a source gives are found; `name` is what messages call it. */
type PartsBy = (given: unknown, name: string) => Parts;

function arrivalBy({ text, key, at }: AllOptions): PartsBy {
  const select = (by: string | ((given: never) => unknown) | undefined) =>
    typeof by === 'string' ? fieldOf(by) : (by as ((given: unknown) => unknown) | undefined);
  const [textOf, keyOf, atOf] = [select(text), select(key), select(at)];
  const where = typeof text === 'string' ? `in ${text}` : 'by the function text';
  return (given, name) => {
    const own: Parts =
      textOf === undefined
        ? typeof given === 'object' && given !== null && 'text' in given
          ? given
          : { text: given }
        : { text: textOf(given) };
    if (textOf !== undefined && own.text === undefined) {
      throw typeError(`${name} must have a text ${where}, got undefined`);
    }
    return {
      text: own.text,
      key: keyOf === undefined ? own.key : keyOf(given),
      at: atOf === undefined ? own.at : atOf(given),
    };
  };
}

/** A batch in columns; times and keys are there where one item has one. */
function arrived(
  batch: readonly unknown[],
  first: number,
  arrival: PartsBy,
): [unknown[], AddManyOptions] {
  const items: unknown[] = [];
  const keys: (string | undefined)[] = [];
  const times: (number | undefined)[] = [];
  for (const [row, given] of batch.entries()) {
    const name = `${SOURCE}[${first + row}]`;
    const { text, key, at } = arrival(given, name);
    items.push(text);
    if (key !== undefined) keys[row] = keyString(key, `${name}.key`);
    if (at !== undefined) times[row] = time(at, `${name}.at`);
  }
  // What has no time of its own comes now.
  const now = Date.now();
  const at = times.length > 0 ? { at: items.map((_, row) => times[row] ?? now) } : {};
  const named = keys.length > 0 ? { keys: items.map((_, row) => keys[row]) } : {};
  return [items, { ...at, ...named }];
}
