/** An index of this process alone, in a folder. */
import { statfs } from 'node:fs/promises';
import type { Checked, Found, Match } from '..';
import { Batcher, type Batching } from '../batcher';
import { SimHashError } from '../errors';
import type { Asked, Decided, Engine, Item, Named } from './engine';
import { invalid, isMisuse } from './problem';
import { type Searched, searched } from './search';

/** As much of an `Index` as is used, whatever its method. */
export interface ServedIndex extends Searched {
  readonly size: number;
  checkAndAddManyAsync(
    texts: readonly string[],
    options: { keys?: readonly (string | undefined)[]; at?: readonly number[] },
  ): Promise<Iterable<Checked>>;
  idOf(key: string): number | undefined;
  deleteAsync(id: number): Promise<boolean>;
  stats(): {
    live: number;
    bytes: number;
    /** Of method `simhash`. */
    mergeFailed?: boolean;
    durable?: { path: string; logBytes: number; checkpointError?: string };
  };
  toJSON(): object;
  close(): Promise<void>;
}

/** Bytes that must have become free before documents are taken again after the disk was full. */
const FREED = 1 << 20;

/** Errors after which nothing more is taken until somebody has looked: readiness stays false. */
export const FOR_GOOD: Readonly<Record<string, string>> = {
  ERR_SIMHASH_OUTPUT: 'cannot-write',
  ERR_SIMHASH_MERGE: 'merge-failed',
  ERR_SIMHASH_INTERNAL: 'defect',
};

/** What has failed behind the additions, which go on: what is answered is right, and memory or the log grow until somebody has looked. */
export function stuck(
  stats: Pick<ReturnType<ServedIndex['stats']>, 'mergeFailed' | 'durable'>,
): readonly string[] {
  return [
    ...(stats.mergeFailed === true ? ['merge-failed'] : []),
    ...(stats.durable?.checkpointError === undefined ? [] : ['checkpoint-failed']),
  ];
}

export class LocalEngine implements Engine {
  readonly takes: { readonly keys: boolean; readonly times: boolean };
  readonly #index: ServedIndex;
  readonly #batcher: Batcher<Item, Decided>;
  /** Bytes that were free when the disk was full. */
  #full: number | undefined;
  #broken: string | undefined;

  constructor(index: ServedIndex, how: Batching) {
    this.#index = index;
    const { keys } = index.toJSON() as { keys?: boolean };
    this.takes = { keys: keys === true, times: true };
    this.#batcher = new Batcher((items) => this.#decide(items), how);
  }

  check(items: readonly Item[]): Promise<readonly Decided[]> {
    const weight = items.reduce((sum, { text }) => sum + text.length, 0);
    return this.#batcher.add(items, weight);
  }

  search(text: string, asked: Asked): Promise<Found<Match>> {
    return searched(this.#index, text, asked);
  }

  async delete(named: Named): Promise<boolean> {
    if ('key' in named && !this.takes.keys) throw invalid('this index keeps no keys: give an id');
    const id = 'id' in named ? named.id : this.#index.idOf(named.key);
    if (id === undefined) return false;
    try {
      return await this.#batcher.beside(() => this.#index.deleteAsync(id));
    } catch (error) {
      await this.#noted(error);
      throw error;
    }
  }

  stats(): object {
    const { durable, ...stats } = this.#index.stats();
    // Where the folder is concerns nobody outside.
    const { path: _, checkpointError, ...disk } = durable ?? {};
    const failed = checkpointError === undefined ? {} : { checkpointFailed: true };
    return {
      ...this.#index.toJSON(),
      ...stats,
      ...(durable && { durable: { ...disk, ...failed } }),
    };
  }

  gauges(): Readonly<Record<string, number>> {
    const { live, bytes, durable } = this.#index.stats();
    return {
      simhash_documents: live,
      simhash_index_bytes: bytes,
      simhash_log_bytes: durable?.logBytes ?? 0,
      simhash_waiting_documents: this.#batcher.items,
      simhash_batches_total: this.#batcher.batches,
    };
  }

  async reasons(): Promise<readonly string[]> {
    if (this.#full !== undefined) await this.#hasRoom();
    const all = [
      ...(this.#full === undefined ? [] : ['disk-full']),
      ...(this.#broken === undefined ? [] : [this.#broken]),
      ...stuck(this.#index.stats()),
    ];
    return [...new Set(all)];
  }

  async close(): Promise<void> {
    await this.#batcher.idle();
    await this.#index.close();
  }

  /**
   * Decides items; each has its outcome or its own error. An item that is refused says so alone: those before it are decided, and those
   * behind it are asked again.
   */
  async #decide(items: readonly Item[]): Promise<Decided[]> {
    const decided: Decided[] = [];
    while (decided.length < items.length) {
      const rest = decided.length === 0 ? items : items.slice(decided.length);
      try {
        decided.push(...(await this.#asked(rest)));
        this.#full = undefined;
      } catch (error) {
        const done = error instanceof SimHashError ? (error.done as Iterable<Checked>) : undefined;
        decided.push(...(done ?? []));
        if (done !== undefined && (error as SimHashError).code === 'ERR_SIMHASH_SAME_KEY') {
          decided.push(error as Error);
        } else if (isMisuse(error) && rest.length > 1) {
          // Nothing was changed: which of them it is, is found by asking for each half alone.
          const middle = rest.length >> 1;
          decided.push(...(await this.#decide(rest.slice(0, middle))));
          decided.push(...(await this.#decide(rest.slice(middle))));
        } else {
          await this.#noted(error);
          // The others would find what this one has found.
          while (decided.length < items.length) decided.push(asError(error));
        }
      }
    }
    return decided;
  }

  async #asked(items: readonly Item[]): Promise<Iterable<Checked>> {
    const texts = items.map(({ text }) => text);
    const hasTimes = items.some(({ at }) => at !== undefined);
    const now = Date.now();
    return await this.#index.checkAndAddManyAsync(texts, {
      ...(this.takes.keys && { keys: items.map(({ key }) => key) }),
      ...(hasTimes && { at: items.map(({ at }) => at ?? now) }),
    });
  }

  /** Remembers an error that says that nothing more is taken. */
  async #noted(error: unknown): Promise<void> {
    if (!(error instanceof SimHashError)) return;
    if (error.code === 'ERR_SIMHASH_DISK_FULL') this.#full ??= (await this.#free()) ?? 0;
    this.#broken ??= FOR_GOOD[error.code];
  }

  /** Forgets that the disk was full where there is room again. */
  async #hasRoom(): Promise<void> {
    const free = await this.#free();
    if (free !== undefined && free >= (this.#full ?? 0) + FREED) this.#full = undefined;
  }

  async #free(): Promise<number | undefined> {
    const path = this.#index.stats().durable?.path;
    if (path === undefined) return undefined;
    try {
      const { bavail, bsize } = await statfs(path);
      return bavail * bsize;
    } catch {
      return undefined;
    }
  }
}

const asError = (error: unknown) => (error instanceof Error ? error : new Error(String(error)));
