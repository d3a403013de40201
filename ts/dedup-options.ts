/** The options of `dedup`, and what the loop makes of them. */
import {
  COMPARISON,
  type ComparisonOptions,
  type Keep,
  keep,
  mustBe,
  nativeComparison,
  nativeKeep,
} from './comparison';
import type { DocKey } from './decisions';
import type { Progress } from './dedup-files';
import { DedupState, insideOf } from './dedup-state';
import {
  type Doc,
  type Documents,
  fieldOf,
  iterable,
  type Missing,
  type Text,
  type TextSelector,
  textBy,
} from './documents';
import { about, typeError } from './errors';
import { JOB, type JobOptions } from './fingerprinter';
import { Index as LiveIndex } from './live-index';
import { methodOf, OWN } from './method';
import type { NativeDedupOptions } from './native';
import * as check from './options';

/** Where a document's own id is: in a field, `a.b` for nested ones, or what a function gives for it. */
export type KeySelector<D> = string | ((doc: D) => DocKey | undefined);

/** Options that go together: of clusters with known documents the first is kept, of those around a representative. */
type Coherent =
  | { known?: undefined; state?: undefined }
  | { keep?: 'first' | undefined; cluster?: 'representative' | undefined; state?: undefined }
  | ({ keep?: undefined; known?: undefined } & {
      [K in keyof ComparisonOptions]?: undefined;
    });

/** How a stream is deduplicated. */
export type DedupOptions<D = Doc> = StreamOptions<D> & Coherent;

/** Every option of `dedup`; {@link DedupOptions} says which go together. */
export interface StreamOptions<D = Doc> extends ComparisonOptions, JobOptions {
  /** Where the text of a document is. Default the document itself, or its field `text`. */
  text?: TextSelector<D> | undefined;
  /**
   * What becomes of a document without a text: it ends the loop with a `TypeError` that names it (`'throw'`, default), or its
   * decision is `'rejected'` and says why. A rejected document of `known` is left out.
   */
  onMissing?: 'throw' | 'reject' | undefined;
  /**
   * Where a document's own id is. Decisions then have `key`, and those of duplicates `duplicateKey`. Called once per document; keys
   * of kept documents stay in memory, 16 bytes each beside the key. `undefined` and `null` are no key. Beside `state`, which stores them, strings must be well-formed Unicode. Default none.
   */
  key?: KeySelector<D> | undefined;
  /**
   * Which document of a cluster is kept: a rule, or a function that is given the members of a cluster in input order and returns the
   * place of the one to keep, from 0. Default `'first'`. With `cluster: 'representative'` the members resemble the kept document
   * for every rule; with a function they resemble the first.
   */
  keep?: Keep | ((members: readonly D[]) => number) | undefined;
  /**
   * Documents that are there already, or an `Index` of them. Decisions are those of deduplicating them and then `docs`; only those
   * of `docs` are yielded, and the summary counts only them: `clusters` are those in which one of `docs` is a duplicate. Read to
   * the end first. For `keep: 'first'` and `cluster: 'representative'`, the defaults. Default none.
   *
   * An index must have been made with the options of this run, `method` too, and store the texts of all its documents (by
   * `'exact'` it need not); another is refused, and the message names the option. Its documents are those that are alive when the loop
   * begins, by id. It stays as it is, and is not looked at again but for keys: their texts are held in memory until the loop ends.
   */
  known?: Documents<D extends string ? string : D> | LiveIndex | undefined;
  /**
   * The stream so far, by `openState`: `docs` are those that come after its `position`, and decisions are those of a stream that was never
   * interrupted, their positions too. How documents are compared was said when it was opened. One loop at a time. The summary and `onProgress` count the
   * documents of this loop. Default none: the stream begins here.
   */
  state?: DedupState | undefined;
  /**
   * Whether decisions carry the fingerprint of the text. Default false. Only `'simhash'` makes fingerprints: without a method, and without an option of one, `true` chooses it in place of the
   * default `'minhash'`, with its own `maxDistance`, and other documents may be found. An error beside another method.
   */
  fingerprint?: boolean | undefined;
  /**
   * Documents per batch, 1 to 65536. Default 2048. Larger is a little faster and holds more documents in memory. A batch is not waited for: what a
   * slow source gave is decided after one turn of the event loop. Changes no result.
   */
  batch?: number | undefined;
  /**
   * Called after a batch, at most 20 times a second, and once with stage `'finish'` when the source has ended. Known documents do not count. What
   * it throws ends the loop, which throws the same.
   */
  onProgress?: ((progress: Progress) => void) | undefined;
}

/** Documents per batch by default. */
const BATCH = 2048;

const OPTIONS: check.Checks<StreamOptions> = {
  ...COMPARISON,
  ...JOB,
  text: check.selector,
  onMissing: check.choice('throw', 'reject'),
  key: check.selector,
  keep: (value, name) =>
    typeof value === 'function'
      ? check.callback<(members: readonly Doc[]) => number>(value, name)
      : keep(value, name),
  known: (value, name) =>
    value instanceof LiveIndex ? value : iterable(value as Documents<Doc>, name),
  state: (value, name) => {
    if (value instanceof DedupState) return value;
    throw check.wrongType(name, 'a DedupState, which openState gives', value);
  },
  fingerprint: check.boolean,
  batch: check.integer(1, 65_536),
  onProgress: check.callback,
};

/** A {@link KeySelector} that says which document has something else for a key. */
export type KeyOf<D> = (doc: D, index: number) => DocKey | undefined;

/** Checked options as the loop takes them. */
export interface Settings<D> {
  readonly native: NativeDedupOptions;
  readonly size: number;
  readonly signal: AbortSignal | undefined;
  readonly text: (doc: D) => Text | Missing;
  readonly rejects: boolean;
  /** Of documents of the argument with this name. */
  readonly keyOf: ((name: string) => KeyOf<D>) | undefined;
  readonly choose: ((members: readonly D[]) => number) | undefined;
  readonly known: Documents<D> | LiveIndex | undefined;
  readonly state: DedupState | undefined;
  readonly fingerprint: boolean;
  readonly onProgress: ((progress: Progress) => void) | undefined;
  /** Whether decisions come when the source has ended. */
  readonly atTheEnd: boolean;
}

/**
 * Checks options.
 *
 * @throws TypeError, RangeError for options that are unknown, of the wrong type, out of range, or do not go together.
 */
export function settings<D>(options: StreamOptions<D> | undefined): Settings<D> {
  const checked = check.checked(options, OPTIONS as unknown as check.Checks<StreamOptions<D>>);
  const {
    text,
    onMissing = 'throw',
    key,
    keep: rule = 'first',
    known,
    onProgress,
    state,
  } = checked;
  if (state !== undefined) refuseBeside(checked);
  const { batch: size = BATCH, signal, fingerprint = false } = checked;
  const choose = typeof rule === 'function' ? rule : undefined;
  const kept = typeof rule === 'function' ? { keep: 'chosen' as const } : nativeKeep(rule);
  const atTheEnd = checked.cluster === 'components' || kept.keep !== 'first';
  if (known !== undefined && atTheEnd) {
    const [option, only] =
      checked.cluster === 'components' ? ['cluster', 'representative'] : ['keep', 'first'];
    const message = `known is for ${option} '${only}': with another a known document could be a duplicate of a later one`;
    throw typeError(message, 'ERR_INVALID_ARG_VALUE');
  }
  const inside = state && insideOf(state).native;
  const isOwn = OWN.some(([option]) => checked[option] !== undefined);
  const chosen = fingerprint && !isOwn ? (checked.method ?? 'simhash') : methodOf(checked);
  const method = inside?.method ?? chosen;
  if (fingerprint) mustBe('simhash', method, 'fingerprint');
  return {
    native: { ...(inside ?? nativeComparison({ ...checked, method })), ...kept },
    size,
    signal,
    text: textBy(text),
    rejects: onMissing === 'reject',
    keyOf: key === undefined ? undefined : (name) => keyBy(key, name, state !== undefined),
    choose,
    known: known as Documents<D> | LiveIndex | undefined,
    state,
    fingerprint,
    onProgress,
    atTheEnd,
  };
}

/** Refuses what a state has been opened with, or cannot have. */
function refuseBeside(checked: object): void {
  const refused = [...Object.keys(COMPARISON), 'keep', 'known'];
  const option = refused.find((name) => name in checked);
  if (option === undefined) return;
  const why = option === 'known' ? 'a state holds what was there' : 'openState has been given it';
  const message = `${option} must be left out beside state: ${why}`;
  throw about(typeError(message, 'ERR_INVALID_ARG_VALUE'), option);
}

function keyBy<D>(selector: KeySelector<D>, name: string, isStored: boolean): KeyOf<D> {
  const select: (doc: D) => unknown = typeof selector === 'string' ? fieldOf(selector) : selector;
  return (doc, index) => {
    const key = select(doc);
    // In a state they become UTF-8.
    if (isStored && typeof key === 'string')
      return check.wellFormed(key, `key of ${name}[${index}]`);
    if (typeof key === 'string' || typeof key === 'number') return key;
    if (key === undefined || key === null) return undefined;
    const expected = 'must have a string or a number for a key';
    throw typeError(`${name}[${index}] ${expected}, got ${check.show(key)}`);
  };
}
