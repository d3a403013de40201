/**
 * The state of a stream of deduplication in a folder, so that it can stop and go on in another process.
 *
 * Decisions follow from the documents in their order, so the state is these: an `Index` of all that were decided, originals and
 * duplicates, with their texts, where the id of a document is its position in the stream. Who goes on lets them be decided again, which
 * takes about as long as it took the first time. The key of a document says what else has to be known of it:
 *
 * ```text
 * POSITION:s KEY   its own id, a string     POSITION:n KEY   a number     POSITION:r   it was rejected
 * ```
 */
import { resolve } from 'node:path';
import { COMPARISON, type ComparisonOptions, nativeComparison } from './comparison';
import type { Decision, DocKey } from './decisions';
import { DIRECTORY, type DirectoryOptions } from './directory';
import type { Text } from './documents';
import { about, rangeError, SimHashError, typeError } from './errors';
import { JOB, type JobOptions } from './fingerprinter';
import { given } from './given';
import { Index } from './live-index';
import { defaultDistance, type IndexMethod, methodOf } from './method';
import type { NativeDedupOptions } from './native';
import * as check from './options';
import { type Path, path as pathOf } from './path';

/**
 * How the documents of a stream are compared: the options of `dedup`, which then takes none of them. Decisions come as documents do, so
 * `keep` is `'first'` and `cluster` `'representative'`; `'brute-force'` has no index.
 */
export interface StateOptions
  extends Omit<ComparisonOptions, 'cluster' | 'method'>,
    Pick<DirectoryOptions, 'durability' | 'flushInterval' | 'create'>,
    JobOptions {
  /** As for `dedup`, but for `'brute-force'`. */
  method?: IndexMethod | undefined;
}

const { durability, flushInterval, create } = DIRECTORY;
const STATE: check.Checks<StateOptions> = {
  ...COMPARISON,
  cluster: check.notHere(
    'must be left out: a state is for clusters around a representative, whose decisions come as documents do',
  ),
  keep: check.notHere(
    'must be left out: a state is for the first of a cluster; another rule decides when the stream has ended',
  ),
  durability,
  flushInterval,
  create,
  ...JOB,
} as unknown as check.Checks<StateOptions>;

/** The longest text that an index stores, in bytes. */
const LONGEST = 2 ** 24;

/** What `dedup` needs of a state. */
interface Inside {
  readonly index: Index;
  readonly native: NativeDedupOptions;
  /** Takes the state for a loop; what is returned gives it back. */
  take(): Disposable;
}

let inside: (state: DedupState) => Inside;

/** What `dedup` needs of a state. */
export const insideOf = (state: DedupState): Inside => inside(state);

/** A stream of deduplication so far, by {@link openState}. */
export class DedupState implements AsyncDisposable {
  readonly #index: Index;
  readonly #native: NativeDedupOptions;
  #taken = false;

  static {
    inside = (state) => ({
      index: state.#index,
      native: state.#native,
      take: () => state.#take(),
    });
  }

  /** @internal */
  constructor(index: Index, native: NativeDedupOptions) {
    this.#index = index;
    this.#native = native;
  }

  /**
   * How many documents of the stream are in the state, rejected ones included: the place from which a source goes on. A document is in it when its
   * decision was given out and the next was asked for, or the loop was left; documents go in by batches.
   */
  get position(): number {
    return this.#index.position ?? 0;
  }

  /** Writes the state as it is now to a folder of its own, which must not exist, or be empty: {@link openState} opens it. */
  async saveState(folder: Path, options?: JobOptions): Promise<void> {
    await this.#index.snapshot(folder, options);
  }

  /** Settles when the disk has all documents of the state. */
  async flush(options?: JobOptions): Promise<void> {
    await this.#index.flush(options);
  }

  /** Lets go of the folder. A loop that is under way ends with `ERR_SIMHASH_CLOSED`. Closing twice is fine. */
  async close(): Promise<void> {
    await this.#index.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #take(): Disposable {
    if (this.#taken) {
      throw typeError(
        'state must not be in another loop at the same time',
        'ERR_INVALID_ARG_VALUE',
      );
    }
    this.#taken = true;
    return {
      [Symbol.dispose]: () => {
        this.#taken = false;
      },
    };
  }
}

/**
 * Opens the state of a stream, or makes it: for `dedup(docs, { state })`, where `docs` begin at its `position`. Decisions and positions are those of
 * a stream that was never interrupted. Opening takes as long as opening an index of all documents so far; a loop
 * begins with deciding them again, which takes about as long as it took the first time, and holds them in memory beside the index.
 *
 * The folder is an {@link Index} of all documents with their texts; on the disk it takes what such an index takes. Nothing but `dedup` may change it.
 *
 * @throws SimHashError ERR_SIMHASH_INDEX_MISMATCH for other options than it was made with, or for another index;
 *   ERR_SIMHASH_INDEX_LOCKED, ERR_SIMHASH_INDEX_DAMAGED.
 */
export async function openState(folder: Path, options?: StateOptions): Promise<DedupState> {
  const checked = check.checked(options, STATE);
  const { durability, flushInterval, create, signal, ...compared } = checked;
  const method = methodOf<'brute-force' | IndexMethod>(compared);
  if (method === 'brute-force') {
    const why =
      "must be another than 'brute-force': a state is an index, and no index compares with everything";
    throw about(typeError(`method ${why}`, 'ERR_INVALID_ARG_VALUE'), 'method');
  }
  const native = nativeComparison({ ...compared, method });
  const index = await Index.open(folder, {
    ...compared,
    ...indexOptions(method, compared),
    ...given({ durability, flushInterval, create, signal }),
  });
  if (index.size !== (index.position ?? 0)) {
    const file = resolve(pathOf(folder, 'folder'));
    const found = `${index.size} documents, and the position ${index.position}`;
    await index.close();
    const message = `${file}: the index was made by itself (${found}) and is opened as the state of a stream`;
    throw new SimHashError('ERR_SIMHASH_INDEX_MISMATCH', message);
  }
  return new DedupState(index, native);
}

/** What the index of a state is made with: defaults are spelled out where an index has others than `dedup`. */
function indexOptions(
  method: IndexMethod,
  compared: Pick<
    ComparisonOptions,
    'maxDistance' | 'verify' | 'minSimilarity' | 'maxVerifications'
  >,
) {
  if (method === 'exact') return { method, keys: true };
  const { verify, minSimilarity = verify === false ? 0 : 0.8 } = compared;
  const { maxVerifications = 1000 } = compared;
  const { maxDistance = defaultDistance(minSimilarity !== 0) } = compared;
  return {
    method,
    keys: true,
    texts: { maxLength: LONGEST },
    ...(minSimilarity === 0 ? {} : { minSimilarity, maxVerifications }),
    ...(method === 'simhash' ? { maxDistance } : {}),
    ...(method === 'sentences' ? { common: false as const } : {}),
  };
}

/** The key of a document in the index. */
function written(position: number, key: DocKey | undefined, isRejected: boolean) {
  if (isRejected) return `${position}:r`;
  if (key === undefined) return undefined;
  return `${position}:${typeof key === 'string' ? 's' : 'n'}${key}`;
}

/** The document's own id again. */
export function keyWritten(key: string | undefined): DocKey | undefined {
  const at = key?.indexOf(':') ?? -1;
  if (key === undefined || at < 0) return undefined;
  const own = key.slice(at + 2);
  return { s: own, n: Number(own) }[key[at + 1] ?? ''];
}

/** The text as it is now, whatever its owner does with it later. */
export function kept(text: Text, name: string): Text {
  // A code unit has at most three bytes.
  const most = typeof text === 'string' ? text.length * 3 : text.length;
  if (most > LONGEST && Buffer.byteLength(text as string) > LONGEST) {
    throw rangeError(
      `${name} must have a text of at most ${LONGEST} bytes, in a stream with a state`,
    );
  }
  return typeof text === 'string' ? text : Uint8Array.from(text);
}

/** Puts documents into a state as their decisions are given out. */
export class Recorder {
  readonly #index: Index;
  #position: number;
  /** Of the batch under way; none of a rejected document. */
  #texts: readonly (Text | undefined)[] = [];
  /** Of those that were given out. */
  #keys: (DocKey | undefined)[] = [];

  constructor(index: Index) {
    this.#index = index;
    this.#position = index.position ?? 0;
  }

  /** The decisions of a batch, whose texts these are, on their way out. */
  async *recorded<D>(
    decisions: Iterable<Decision<D>>,
    texts: readonly (Text | undefined)[],
  ): AsyncGenerator<Decision<D>, void, undefined> {
    [this.#texts, this.#keys] = [texts, []];
    for (const decision of decisions) {
      this.#keys.push(decision.key);
      yield decision;
    }
    await this.keep();
  }

  /** Puts those in whose decisions were given out. */
  async keep(): Promise<void> {
    const [own, texts] = [this.#keys, this.#texts];
    // What fails is not tried again: the state stays what it is.
    [this.#texts, this.#keys] = [[], []];
    if (own.length === 0) return;
    const [first, position] = [this.#position, this.#position + own.length];
    const keys = own.map((key, row) => written(first + row, key, texts[row] === undefined));
    const given = texts.slice(0, own.length).map((text) => text ?? '');
    await this.#index.addManyAsync(given, { keys, position });
    this.#position = position;
  }
}
