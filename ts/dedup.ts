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
 * At most two batches are in flight, one collected while the other is decided on the pool; texts are copied then. Leaving
 * the loop cancels what runs and closes the source; an abort rejects with `signal.reason`.
 */
export async function* dedup<D extends Doc>(
  docs: Iterable<D> | AsyncIterable<D>,
  options?: DedupOptions,
): AsyncGenerator<Decision<D>, Summary, undefined> {
  const { batch: size = 256, signal, ...given } = check.checked(options, OPTIONS);
  const source = iteratorOf(docs);
  signal?.throwIfAborted();
  const deduper = native(() => new binding.NativeDeduper(nativeComparison(given)));
  const cancel = new binding.Cancel();
  const listener = signal && addAbortListener(signal, () => cancel.cancel());
  let done = false;
  let running: Running<D> | undefined;
  try {
    for (let first = 0; !done || running !== undefined; ) {
      const batch: D[] = [];
      while (!done && batch.length < size) {
        // Nothing may wait for a source that has fallen silent: decisions that are ready go out first.
        signal?.throwIfAborted();
        const next = await source.next();
        if (next.done) done = true;
        else batch.push(next.value);
      }
      const texts = batch.map((doc, row) => textOf(doc, first + row));
      const before = running;
      const decided = before && (await before.decisions);
      running = batch.length > 0 ? start(deduper, batch, texts, first, cancel) : undefined;
      first += batch.length;
      if (before !== undefined && decided !== undefined) yield* rows(before, decided);
    }
    return native(() => deduper.summary());
  } catch (error) {
    signal?.throwIfAborted();
    throw fromNative(error);
  } finally {
    listener?.[Symbol.dispose]();
    cancel.cancel();
    await running?.decisions.catch(() => {});
    if (!done) await source.return?.();
  }
}

interface Running<D> {
  readonly docs: readonly D[];
  readonly first: number;
  readonly decisions: Promise<NativeDecisions>;
}

function start<D>(
  deduper: InstanceType<typeof binding.NativeDeduper>,
  docs: readonly D[],
  texts: readonly Text[],
  first: number,
  cancel: Cancel,
): Running<D> {
  const decisions = deduper.push(texts, cancel);
  // Awaited one batch later; until then a rejection is not unhandled.
  decisions.catch(() => {});
  return { docs, first, decisions };
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
