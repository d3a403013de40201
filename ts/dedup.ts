import { addAbortListener } from 'node:events';
import { binding } from './binding';
import { COMPARISON, type ComparisonOptions, nativeComparison, type Summary } from './comparison';
import { type Doc, iteratorOf, type Text, textOf } from './documents';
import { fromNative, native } from './errors';
import { JOB, type JobOptions } from './fingerprinter';
import type { Cancel, NativeDecisions } from './native';
import * as check from './options';

/** What became of a document. */
export interface Decision<D extends Doc = Doc> {
  /** The document as it was given. */
  doc: D;
  /** Its position in the stream, from 0. */
  index: number;
  /** Position of the kept document that it duplicates; absent where it is kept. */
  duplicateOf?: number;
  /** Jaccard similarity to that document; absent without verification. */
  similarity?: number;
  /** Hamming distance to that document. */
  distance?: number;
}

/** How a stream is deduplicated. */
export interface DedupOptions extends ComparisonOptions, JobOptions {
  /** Documents per batch, 1 to 65536. Default 256. Larger is faster, smaller decides sooner. Changes no result. */
  batch?: number | undefined;
}

const OPTIONS: check.Checks<DedupOptions> = {
  ...COMPARISON,
  ...JOB,
  batch: check.integer(1, 65_536),
};

/**
 * Decides documents one after the other: kept, or a near-duplicate of an earlier kept one. The result depends on their order
 * only. Decisions come in order; the generator returns the {@link Summary}.
 *
 * At most two batches are in flight, one collected while the other is decided on the pool; texts are copied then. A source
 * that falls silent holds nothing up: what it gave is decided after one turn of the event loop. Leaving the loop cancels
 * what runs and closes the source; an abort rejects with `signal.reason`, also while the source is silent. What the source
 * throws passes through.
 */
export async function* dedup<D extends Doc>(
  docs: Iterable<D> | AsyncIterable<D>,
  options?: DedupOptions,
): AsyncGenerator<Decision<D>, Summary, undefined> {
  const { batch: size = 256, signal, ...given } = check.checked(options, OPTIONS);
  const source = new Source(iteratorOf(docs));
  signal?.throwIfAborted();
  const deduper = native(() => new binding.NativeDeduper(nativeComparison(given)));
  const cancel = new binding.Cancel();
  const bell = new Bell();
  const listener =
    signal &&
    addAbortListener(signal, () => {
      cancel.cancel();
      bell.ring();
    });
  let running: Running<D> | undefined;
  try {
    let batch: D[] = [];
    let first = 0;
    while (running !== undefined || batch.length > 0 || !source.done) {
      signal?.throwIfAborted();
      const decided = running?.outcome?.();
      if (running !== undefined && decided !== undefined) {
        const before = running;
        running = undefined;
        yield* rows(before, decided);
        continue;
      }
      if (batch.length < size && source.take(batch, bell)) continue;
      const idle = source.done || batch.length === size || bell.idle;
      if (running === undefined && batch.length > 0 && idle) {
        const texts = batch.map((doc, row) => textOf(doc, first + row));
        running = start(deduper, batch, texts, first, cancel, bell);
        first += batch.length;
        batch = [];
        continue;
      }
      await bell.wait(running === undefined && batch.length > 0);
    }
    return native(() => deduper.summary());
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    listener?.[Symbol.dispose]();
    cancel.cancel();
    await running?.ended;
    await source.close();
  }
}

/** Wakes the loop: the source has answered, a batch is decided, the signal fired, or the event loop went round once. */
class Bell {
  #wake: (() => void) | undefined;
  #rung = false;
  /** Nothing came during one turn of the event loop. */
  idle = false;

  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }

  /** Until the bell rings; with `turn`, at most until the event loop has gone round. */
  async wait(turn: boolean): Promise<void> {
    this.idle = false;
    if (!this.#rung) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        if (turn) {
          setImmediate(() => {
            this.idle = !this.#rung;
            resolve();
          });
        }
      });
    }
    this.#wake = undefined;
    this.#rung = false;
  }
}

/** Documents as they come, one question to the iterator at a time. */
class Source<D> {
  readonly #iterator: ReturnType<typeof iteratorOf<D>>;
  /** Gives the iterator's answer, or throws what it threw. */
  #answer: (() => IteratorResult<D>) | undefined;
  #asked = false;
  done = false;

  constructor(iterator: ReturnType<typeof iteratorOf<D>>) {
    this.#iterator = iterator;
  }

  /** Moves the next document to `batch`; false where there is none now, and then the bell rings when there is. */
  take(batch: D[], bell: Bell): boolean {
    if (this.done) return false;
    if (!this.#asked) this.#ask(bell);
    const answer = this.#answer;
    if (answer === undefined) return false;
    this.#answer = undefined;
    this.#asked = false;
    const next = answer();
    if (next.done) this.done = true;
    else batch.push(next.value);
    return true;
  }

  #ask(bell: Bell): void {
    this.#asked = true;
    const next = this.#iterator.next();
    if (!(next instanceof Promise)) {
      const { done, value } = next as IteratorResult<D>;
      this.#answer = () => ({ done, value }) as IteratorResult<D>;
      return;
    }
    const settle = (answer: () => IteratorResult<D>) => {
      this.#answer = answer;
      bell.ring();
    };
    next.then(
      (result) => settle(() => result),
      (error) =>
        settle(() => {
          this.done = true;
          throw error;
        }),
    );
  }

  /** Lets the iterator clean up; one that is silent is told, and not waited for. */
  async close(): Promise<void> {
    if (this.done) return;
    this.done = true;
    const silent = this.#asked && this.#answer === undefined;
    const closed = this.#iterator.return?.();
    if (silent && closed instanceof Promise) closed.catch(() => {});
    else await closed;
  }
}

interface Running<D> {
  readonly docs: readonly D[];
  readonly first: number;
  /** Gives the decisions, or throws what went wrong; absent while the batch is being decided. */
  outcome: (() => NativeDecisions) | undefined;
  /** Settles, without error, when the job has ended. */
  readonly ended: Promise<void>;
}

function start<D>(
  deduper: InstanceType<typeof binding.NativeDeduper>,
  docs: readonly D[],
  texts: readonly Text[],
  first: number,
  cancel: Cancel,
  bell: Bell,
): Running<D> {
  const decisions = native(() => deduper.push(texts, cancel));
  const running: { outcome: Running<D>['outcome'] } = { outcome: undefined };
  const settle = (outcome: () => NativeDecisions) => {
    running.outcome = outcome;
    bell.ring();
  };
  const ended = decisions.then(
    (decided) => settle(() => decided),
    (error) =>
      settle(() => {
        throw fromNative(error);
      }),
  );
  return Object.assign(running, { docs, first, ended });
}

function* rows<D extends Doc>(
  { docs, first }: Running<D>,
  { duplicateOf, similarity, distance }: NativeDecisions,
): Generator<Decision<D>> {
  for (const [row, doc] of docs.entries()) {
    yield {
      doc,
      index: first + row,
      ...present('duplicateOf', duplicateOf[row]),
      ...present('similarity', similarity[row]),
      ...present('distance', distance[row]),
    };
  }
}

/** A column's NaN is an absent key. */
function present<K extends string>(key: K, value: number | undefined): { [P in K]?: number } {
  return value === undefined || Number.isNaN(value)
    ? {}
    : ({ [key]: value } as { [P in K]: number });
}
