import { addAbortListener } from 'node:events';
import { types } from 'node:util';
import { binding } from './binding';
import { bit } from './bitmap';
import {
  COMPARISON,
  type ComparisonOptions,
  type Keep,
  keep,
  nativeComparison,
  nativeKeep,
  type Summary,
} from './comparison';
import { type Doc, type Docs, iteratorOf, textOf } from './documents';
import { fromNative, native } from './errors';
import { JOB, type JobOptions } from './fingerprinter';
import type { NativeDecisions, NativeDocumentClusters, NativeInteger } from './native';
import * as check from './options';

/** What became of a document. */
export interface Decision<D extends Doc = Doc> {
  /** The document as it was given. */
  doc: D;
  /** Its position in the stream, from 0. */
  index: number;
  /** Position of the kept document that it duplicates; absent where it is kept. */
  duplicateOf?: number;
  /**
   * Similarity to that document; absent without verification. With `cluster: 'components'` it may be below `minSimilarity`: another
   * member is what connects the two.
   */
  similarity?: number;
  /** Hamming distance to that document, by method `'simhash'`. */
  distance?: number;
  /**
   * A limit cut the candidates of this text (`maxVerifications`, or a band or sentence that hundreds of texts share): an original, or
   * a better one, may have been missed. Absent where none did.
   */
  truncated?: true;
}

/** How a stream is deduplicated. */
export interface DedupOptions<D extends Doc = Doc> extends ComparisonOptions, JobOptions {
  /**
   * Which document of a cluster is kept: a rule, or a function that is given the members of a cluster in input order and returns the
   * place of the one to keep, from 0. Default `'first'`. With `cluster: 'representative'` the members resemble the kept document
   * for every rule; with a function they resemble the first.
   */
  keep?: Keep | ((members: readonly D[]) => number) | undefined;
  /** Documents per batch, 1 to 65536. Default 256. Larger is faster, smaller decides sooner. Changes no result. */
  batch?: number | undefined;
}

const OPTIONS: check.Checks<DedupOptions> = {
  ...COMPARISON,
  ...JOB,
  keep: (value, name) =>
    typeof value === 'function'
      ? check.callback<(members: readonly Doc[]) => number>(value, name)
      : keep(value, name),
  batch: check.integer(1, 65_536),
};

/**
 * Decides documents: kept, or a near-duplicate of a kept one. The result depends on their order only. Decisions come in order;
 * the generator returns the {@link Summary}.
 *
 * Where the first is kept of clusters around a representative, decisions come as documents do. With `cluster: 'components'` or
 * another `keep` they come when the source has ended, and every document stays in memory until then.
 *
 * At most two batches are in flight, one collected while the other is decided on the pool; texts are copied then. A source
 * that falls silent holds nothing up: what it gave is decided after one turn of the event loop. Leaving the loop cancels
 * what runs and closes the source; an abort rejects with `signal.reason`, also while the source is silent. What the source
 * throws passes through.
 */
export async function* dedup<D extends Doc>(
  docs: Iterable<D> | AsyncIterable<D>,
  options?: DedupOptions<D>,
): AsyncGenerator<Decision<D>, Summary, undefined> {
  const checked = check.checked(options, OPTIONS as check.Checks<DedupOptions<D>>);
  const { batch: size = 256, signal, keep: rule = 'first', ...given } = checked;
  const choose = typeof rule === 'function' ? rule : undefined;
  const kept = typeof rule === 'function' ? { keep: 'chosen' as const } : nativeKeep(rule);
  const atTheEnd = given.cluster === 'components' || kept.keep !== 'first';
  const source = new Source(iteratorOf(docs));
  signal?.throwIfAborted();
  const deduper = native(() => new binding.NativeDeduper({ ...nativeComparison(given), ...kept }));
  const cancel = new binding.Cancel();
  const bell = new Bell();
  const listener =
    signal &&
    addAbortListener(signal, () => {
      cancel.cancel();
      bell.ring();
    });
  let running: Running<D> | undefined;
  const all: D[] = [];
  let failed = false;
  try {
    let batch: D[] = [];
    let first = 0;
    while (running !== undefined || batch.length > 0 || !source.done) {
      signal?.throwIfAborted();
      const decided = running?.outcome?.();
      if (running !== undefined && decided !== undefined) {
        const before = running;
        running = undefined;
        if (atTheEnd) for (const doc of before.docs) all.push(doc);
        else yield* rows(before, decided);
        continue;
      }
      if (batch.length < size && source.take(batch, bell)) continue;
      const idle = source.done || batch.length === size || bell.idle;
      if (running === undefined && batch.length > 0 && idle) {
        const texts = batch.map((doc, row) => textOf(doc, first + row));
        const keys = kept.keepField === undefined ? [] : batch.map(keyOf(kept.keepField));
        running = begin(() => deduper.push(texts, keys, cancel), batch, first, bell);
        first += batch.length;
        batch = [];
        continue;
      }
      await bell.wait(running === undefined && batch.length > 0);
    }
    if (atTheEnd) {
      if (choose !== undefined) {
        const positions = chosen(
          native(() => deduper.clusters()),
          all,
          choose,
        );
        native(() => deduper.choose(positions));
      }
      running = begin(() => deduper.finish(cancel), all, 0, bell);
      while (running.outcome === undefined) {
        await bell.wait(false);
        signal?.throwIfAborted();
      }
      yield* rows(running, running.outcome());
    }
    return native(() => deduper.summary());
  } catch (error) {
    failed = true;
    signal?.throwIfAborted();
    throw error;
  } finally {
    listener?.[Symbol.dispose]();
    cancel.cancel();
    await running?.ended;
    await source.close(failed);
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
  readonly #iterator: Docs<D>;
  /** Gives the iterator's answer, or throws what it threw. */
  #answer: (() => IteratorResult<D, undefined>) | undefined;
  #asked = false;
  done = false;

  constructor(iterator: Docs<D>) {
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
    const next = this.#next();
    if (!(next instanceof Promise)) {
      this.#answer = () => next;
      return;
    }
    const settle = (answer: () => IteratorResult<D, undefined>) => {
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

  #next(): ReturnType<Docs<D>['next']> {
    try {
      return this.#iterator.next();
    } catch (error) {
      this.done = true;
      throw error;
    }
  }

  /** Lets the iterator clean up; one that is silent is told, and not waited for. After a failure what it says does not count. */
  async close(failed: boolean): Promise<void> {
    if (this.done) return;
    this.done = true;
    const silent = this.#asked && this.#answer === undefined;
    const closed = this.#iterator.return();
    if (silent || failed) closed.catch(() => {});
    if (!silent) await closed.catch((error) => failed || Promise.reject(error));
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

function begin<D>(
  job: () => Promise<NativeDecisions>,
  docs: readonly D[],
  first: number,
  bell: Bell,
): Running<D> {
  const decisions = native(job);
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

/** What the keep rule compares in a document; absent where it does not say. */
function keyOf(path: string): (doc: Doc) => number | string | NativeInteger | undefined {
  const keys = path.split('.');
  return (doc) => {
    let value: unknown = doc;
    for (const key of keys) {
      value = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
    }
    if (typeof value === 'bigint') return { decimal: value.toString() };
    if (types.isDate(value)) return value.getTime();
    return typeof value === 'number' || typeof value === 'string' ? value : undefined;
  };
}

/** Positions of the documents that the caller keeps. */
function chosen<D>(
  { offsets, members }: NativeDocumentClusters,
  docs: readonly D[],
  choose: (members: readonly D[]) => number,
): Uint32Array {
  const positions = new Uint32Array(offsets.length - 1);
  for (const row of positions.keys()) {
    const places = members.subarray(offsets[row], offsets[row + 1]);
    const place = choose(Array.from(places, (index) => docs[index] as D));
    const name = 'the result of keep';
    positions[row] = places[check.integer(0, places.length - 1)(place, name)] as number;
  }
  return positions;
}

function* rows<D extends Doc>(
  { docs, first }: Running<D>,
  { duplicateOf, similarity, distance, truncated }: NativeDecisions,
): Generator<Decision<D>> {
  for (const [row, doc] of docs.entries()) {
    yield {
      doc,
      index: first + row,
      ...present('duplicateOf', duplicateOf[row]),
      ...present('similarity', similarity[row]),
      ...present('distance', distance[row]),
      ...(bit(truncated, row) ? { truncated: true as const } : {}),
    };
  }
}

/** A column's NaN is an absent key. */
function present<K extends string>(key: K, value: number | undefined): { [P in K]?: number } {
  return value === undefined || Number.isNaN(value)
    ? {}
    : ({ [key]: value } as { [P in K]: number });
}
