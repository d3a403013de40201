/** The loop behind `dedup`: documents in, decisions out. */
import { addAbortListener } from 'node:events';
import { types } from 'node:util';
import { binding } from './binding';
import type { Summary } from './comparison';
import {
  type Batch,
  type Context,
  type Decision,
  decisions,
  Keys,
  type KnownPlaces,
  noteKeys,
  Places,
} from './decisions';
import type { Progress } from './dedup-files';
import { type DedupOptions, type Settings, settings } from './dedup-options';
import { insideOf, kept, keyWritten, Recorder } from './dedup-state';
import { type Documents, fieldOf, iteratorOf, Missing, type Text } from './documents';
import { fromNative, native, typeError } from './errors';
import { Index, leased } from './live-index';
import type {
  NativeDecisions,
  NativeDeduper,
  NativeDocumentClusters,
  NativeInteger,
} from './native';
import * as check from './options';
import { Bell, Source } from './source';

/** How the promise of the summary is settled; what comes first counts. */
interface Settle {
  readonly resolve: (summary: Summary) => void;
  readonly reject: (reason: unknown) => void;
}

/** Why there is no summary of a loop that was left. */
export function left(): Error {
  return new DOMException('The loop was left before it ended', 'AbortError');
}

/** See `dedup`. */
export async function* decide<D>(
  docs: Documents<D>,
  options: DedupOptions<D> | undefined,
  settle: Settle,
): AsyncGenerator<Decision<D>, Summary, undefined> {
  const [cancel, bell] = [new binding.Cancel(), new Bell()];
  const sources: Source<D>[] = [];
  let signal: AbortSignal | undefined;
  let listener: Disposable | undefined;
  let running: Running<D> | undefined;
  let recorder: Recorder | undefined;
  let taken: Disposable | undefined;
  let failed = false;
  try {
    const given = settings(options);
    signal = given.signal;
    const state = given.state && insideOf(given.state);
    taken = state?.take();
    recorder = state && new Recorder(state.index);
    const base = given.state?.position ?? 0;
    sources.push(new Source(iteratorOf(docs)));
    const index = given.known instanceof Index ? given.known : undefined;
    if (given.known !== undefined && !(given.known instanceof Index))
      sources.unshift(new Source(iteratorOf(given.known, 'known')));
    signal?.throwIfAborted();
    const deduper = native(() => new binding.NativeDeduper(given.native, given.fingerprint));
    listener =
      signal &&
      addAbortListener(signal, () => {
        cancel.cancel();
        bell.ring();
      });
    const { size, atTheEnd, native: rule } = given;
    const rank = rule.keepField === undefined ? undefined : rankBy(rule.keepField);
    const report = given.onProgress && new Reporter(given.onProgress, deduper);
    const keys = new Keys();
    const all: D[] = [];
    const reasons = new Map<number, string>();
    let known: KnownPlaces = new Places(0);
    let places = new Places(0);
    if (index !== undefined) known = await indexed(index, deduper, cancel);
    if (state !== undefined) known = await before(state.index, deduper, cancel);
    signal?.throwIfAborted();
    for (const source of sources) {
      const isKnown = source !== sources.at(-1);
      const name = isKnown ? 'known' : 'docs';
      places = new Places(known.next, isKnown ? 0 : base);
      const context: Context<D> = { places, known, keyOf: given.keyOf?.(name), keys };
      let batch: D[] = [];
      let first = places.base;
      while (running !== undefined || batch.length > 0 || !source.done) {
        signal?.throwIfAborted();
        const decided = running?.outcome?.();
        if (running !== undefined && decided !== undefined) {
          const { batch, number, texts }: Running<D> = running;
          running = undefined;
          if (isKnown) noteKeys(batch, number, decided, context);
          else {
            report?.tell('dedup', places.rejected);
            if (atTheEnd) gather(batch, all, reasons);
            else {
              const made = decisions(batch, number, decided, context);
              yield* recorder && texts ? recorder.recorded(made, texts) : made;
            }
          }
          continue;
        }
        if (batch.length < size && source.take(batch, bell)) continue;
        const idle = source.done || batch.length === size || bell.idle;
        if (running === undefined && batch.length > 0 && idle) {
          const number = places.next;
          const { docs, texts, reasons, all } = take(batch, { name, first, places, given });
          const ranks = rank === undefined ? [] : docs.map(rank);
          const push = () => deduper.push(texts, ranks, cancel);
          const pushed = { docs: batch, first, reasons };
          running = begin(push, pushed, number, bell);
          running.texts = all;
          first += batch.length;
          batch = [];
          continue;
        }
        await bell.wait(running === undefined && batch.length > 0);
      }
      if (isKnown) {
        native(() => deduper.endKnown());
        known = places;
      }
    }
    report?.tell('finish', places.rejected);
    if (atTheEnd) {
      if (given.choose !== undefined) {
        const clusters = native(() => deduper.clusters());
        const positions = chosen(clusters, (number) => all[places.at(number)] as D, given.choose);
        native(() => deduper.choose(positions));
      }
      const batch = { docs: all, first: 0, reasons };
      running = begin(() => deduper.finish(cancel), batch, 0, bell);
      while (running.outcome === undefined) {
        await bell.wait(false);
        signal?.throwIfAborted();
      }
      const context = { places, known, keyOf: given.keyOf?.('docs'), keys };
      yield* decisions(batch, 0, running.outcome(), context);
    }
    const { rejected } = places;
    const figures = native(() => deduper.summary());
    const summary = { ...figures, read: figures.read + rejected, rejected };
    settle.resolve(summary);
    return summary;
  } catch (error) {
    failed = true;
    const thrown: unknown = signal?.aborted ? signal.reason : error;
    settle.reject(thrown);
    throw thrown;
  } finally {
    listener?.[Symbol.dispose]();
    cancel.cancel();
    await running?.ended;
    const ends = sources.map((source) => source.close(failed));
    const closed = await Promise.allSettled([...ends, recorder?.keep()]);
    taken?.[Symbol.dispose]();
    for (const end of closed) {
      if (end.status === 'fulfilled') continue;
      settle.reject(end.reason);
      // biome-ignore lint/correctness/noUnsafeFinally: what a source throws when it is closed is thrown, as by for await
      throw end.reason;
    }
  }
}

/** The documents of an index as known ones. */
async function indexed(
  index: Index,
  deduper: NativeDeduper,
  cancel: InstanceType<typeof binding.Cancel>,
  isState = false,
): Promise<KnownPlaces> {
  const ids = await leased(index, (native) => deduper.pushIndex(native, isState, cancel)).catch(
    (error: unknown) => {
      throw fromNative(error);
    },
  );
  const at = (number: number) => ids[number] as number;
  return {
    next: ids.length,
    at,
    // Closed meanwhile, or without it: the document has no key that anybody could use.
    keyAt: (number) => (index.isClosed ? undefined : index.keyOf(at(number))),
  };
}

/** The documents of a state as those that came before in the stream. */
async function before(
  index: Index,
  deduper: NativeDeduper,
  cancel: InstanceType<typeof binding.Cancel>,
): Promise<KnownPlaces> {
  const known = await indexed(index, deduper, cancel, true);
  const keyAt = (number: number) => keyWritten(known.keyAt?.(number) as string | undefined);
  return { ...known, isStream: true, keyAt };
}

/** Where the documents of a batch stand. */
interface Taking<D> {
  readonly name: string;
  readonly first: number;
  readonly places: Places;
  readonly given: Settings<D>;
}

/** What the addon is given of a batch: the documents that have a text. */
interface Taken<D> {
  readonly docs: readonly D[];
  readonly texts: readonly Text[];
  readonly reasons: ReadonlyMap<number, string> | undefined;
  /** For a state: every text of the batch, none of a rejected document. */
  readonly all: readonly (Text | undefined)[] | undefined;
}

function take<D>(batch: readonly D[], { name, first, places, given }: Taking<D>): Taken<D> {
  const texts: Text[] = [];
  const all: (Text | undefined)[] | undefined = given.state && [];
  let reasons: Map<number, string> | undefined;
  for (const [row, doc] of batch.entries()) {
    const text = given.text(doc);
    if (!(text instanceof Missing)) {
      texts.push(text);
      all?.push(kept(text, `${name}[${first + row}]`));
      places.next += 1;
      continue;
    }
    all?.push(undefined);
    if (!given.rejects) throw typeError(`${name}[${first + row}] ${text.reason}`);
    reasons ??= new Map();
    reasons.set(row, text.reason);
    places.reject();
  }
  const docs = reasons === undefined ? batch : batch.filter((_, row) => !reasons.has(row));
  return { docs, texts, reasons, all };
}

/** Keeps a batch until the end. */
function gather<D>(batch: Batch<D>, all: D[], reasons: Map<number, string>): void {
  for (const doc of batch.docs) all.push(doc);
  for (const [row, reason] of batch.reasons ?? []) reasons.set(batch.first + row, reason);
}

/** Tells the caller how far the loop is. */
class Reporter {
  /** Milliseconds: 20 times a second looks continuous. */
  static readonly #INTERVAL = 50;
  #last = Number.NEGATIVE_INFINITY;

  constructor(
    readonly onProgress: (progress: Progress) => void,
    readonly deduper: NativeDeduper,
  ) {}

  /** Tells, unless it has just been told; a new stage always. No batch may be under way. */
  tell(stage: Progress['stage'], rejected: number): void {
    const now = performance.now();
    if (stage === 'dedup' && now - this.#last < Reporter.#INTERVAL) return;
    this.#last = now;
    const { read, bytes, duplicates } = native(() => this.deduper.summary());
    this.onProgress({ stage, documents: read + rejected, bytes, duplicates });
  }
}

interface Running<D> {
  readonly batch: Batch<D>;
  /** The number of its first document in the addon. */
  readonly number: number;
  /** Gives the decisions, or throws what went wrong; absent while the batch is being decided. */
  outcome: (() => NativeDecisions) | undefined;
  /** Settles, without error, when the job has ended. */
  readonly ended: Promise<void>;
  /** For a state: every text of the batch. */
  texts?: readonly (Text | undefined)[] | undefined;
}

function begin<D>(
  job: () => Promise<NativeDecisions>,
  batch: Batch<D>,
  number: number,
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
  return Object.assign(running, { batch, number, ended });
}

/** What the keep rule compares in a document; absent where it does not say. */
function rankBy(path: string): (doc: unknown) => number | string | NativeInteger | undefined {
  const field = fieldOf(path);
  return (doc) => {
    const value = field(doc);
    if (typeof value === 'bigint') return { decimal: value.toString() };
    if (types.isDate(value)) return value.getTime();
    return typeof value === 'number' || typeof value === 'string' ? value : undefined;
  };
}

/** The numbers of the documents that the caller keeps. */
function chosen<D>(
  { offsets, members }: NativeDocumentClusters,
  docOf: (number: number) => D,
  choose: (members: readonly D[]) => number,
): Uint32Array {
  const positions = new Uint32Array(offsets.length - 1);
  for (const row of positions.keys()) {
    const places = members.subarray(offsets[row], offsets[row + 1]);
    const place = choose(Array.from(places, docOf));
    const name = 'the result of keep';
    positions[row] = places[check.integer(0, places.length - 1)(place, name)] as number;
  }
  return positions;
}
