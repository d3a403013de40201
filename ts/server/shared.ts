/** An index that several services share through a log, as the routes ask it. */
import type { Found, IndexMethod, Match, Stats } from '..';
import type { SharedIndex } from '../connect/log';
import { tooLong } from '../connect/log/items';
import { SimHashError } from '../errors';
import type { Asked, Decided, Engine, Item, Named } from './engine';
import { FOR_GOOD, stuck } from './local';
import { isMisuse, tooLarge } from './problem';
import { type Searched, searched } from './search';

/** What readiness says of a state. */
const REASONS = {
  ready: [],
  'catching-up': ['catching-up'],
  lost: ['log-lost'],
  full: ['disk-full'],
  broken: ['log-broken'],
  closed: ['draining'],
} as const;

export class SharedEngine implements Engine {
  /** Times come from the log. */
  readonly takes = { keys: true, times: false };
  readonly #shared: SharedIndex<IndexMethod>;
  readonly #snapshots: NodeJS.Timeout | undefined;

  /** `every`: milliseconds between two snapshots; `undefined`: none are taken here. */
  constructor(
    shared: SharedIndex<IndexMethod>,
    every: number | undefined,
    onFailure: (error: unknown) => void,
  ) {
    this.#shared = shared;
    if (every === undefined) return;
    let isWriting = false;
    this.#snapshots = setInterval(() => {
      // One that takes longer than the interval is not followed by a second beside it.
      if (isWriting || shared.state !== 'ready') return;
      isWriting = true;
      void shared
        .snapshot()
        .catch(onFailure)
        .finally(() => {
          isWriting = false;
        });
    }, every);
  }

  async check(items: readonly Item[]): Promise<readonly Decided[]> {
    const keys = items.map(({ key }) => key);
    try {
      return await this.#shared.checkMany(
        items.map(({ text }) => text),
        { keys },
      );
    } catch (error) {
      // Nothing was appended: which of them it is, is found by asking for each half alone, in their order.
      if (isMisuse(error) && items.length > 1) {
        const middle = items.length >> 1;
        const before = await this.check(items.slice(0, middle));
        return [...before, ...(await this.check(items.slice(middle)))];
      }
      return items.map(() => sayable(error));
    }
  }

  search(text: string, asked: Asked): Promise<Found<Match>> {
    return searched(this.#shared as Searched, text, asked);
  }

  delete(named: Named): Promise<boolean> {
    return this.#shared.delete(named);
  }

  stats(): object {
    const { durable: _, ...stats } = this.#counts() ?? {};
    const { state, position, behind } = this.#shared;
    return { ...stats, shared: { state, position, behind } };
  }

  gauges(): Readonly<Record<string, number>> {
    const counts = this.#counts();
    return {
      ...(counts && { simhash_documents: counts.live, simhash_index_bytes: counts.bytes }),
      simhash_waiting_documents: this.#shared.waiting,
      simhash_shared_position: this.#shared.position,
      simhash_shared_behind: this.#shared.behind,
    };
  }

  /** Counts of the index; `undefined` while another takes its place. */
  #counts(): Stats<IndexMethod> | undefined {
    try {
      return this.#shared.stats();
    } catch (error) {
      if (error instanceof SimHashError && error.code === 'ERR_SIMHASH_CLOSED') return undefined;
      throw error;
    }
  }

  async reasons(): Promise<readonly string[]> {
    const { state, error } = this.#shared;
    // It is not always the log that is to blame.
    const { code = '' } = (error ?? {}) as { code?: string };
    const own = state === 'broken' ? FOR_GOOD[code] : undefined;
    const all = [...(own === undefined ? REASONS[state] : [own]), ...stuck(this.#counts() ?? {})];
    return [...new Set(all)];
  }

  async close(): Promise<void> {
    clearInterval(this.#snapshots);
    await this.#shared.close();
  }
}

/** Why an item has no outcome. */
function sayable(error: unknown): Error {
  // It is named by the request that it came in.
  const must = tooLong(error);
  if (must !== undefined) return tooLarge(`the document ${must}`);
  return error instanceof Error ? error : new Error(String(error));
}
