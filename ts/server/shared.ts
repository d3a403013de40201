/** An index that several services share through a log, as the routes ask it. */
import type { Found, IndexMethod, Match } from '..';
import type { SharedIndex } from '../connect/log';
import type { Asked, Decided, Engine, Item, Named } from './engine';
import { isMisuse } from './problem';

/** What readiness says of a state. */
const REASONS = {
  ready: [],
  'catching-up': ['catching-up'],
  lost: ['log-lost'],
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
    this.#snapshots = setInterval(() => {
      if (shared.state === 'ready') shared.snapshot().catch(onFailure);
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
      // Nothing was appended: which of them it is, is found by asking for each alone.
      if (isMisuse(error) && items.length > 1) {
        const all = await Promise.all(items.map((item) => this.check([item])));
        return all.flat();
      }
      return items.map(() => (error instanceof Error ? error : new Error(String(error))));
    }
  }

  async search(text: string, asked: Asked): Promise<Found<Match>> {
    return this.#shared.search(text, asked) as Found<Match>;
  }

  delete(named: Named): Promise<boolean> {
    return this.#shared.delete(named);
  }

  stats(): object {
    const { durable: _, ...stats } = this.#shared.stats();
    const { state, position, behind } = this.#shared;
    return { ...stats, shared: { state, position, behind } };
  }

  gauges(): Readonly<Record<string, number>> {
    const { live, bytes } = this.#shared.stats();
    return {
      simhash_documents: live,
      simhash_index_bytes: bytes,
      simhash_waiting_documents: this.#shared.waiting,
      simhash_shared_position: this.#shared.position,
      simhash_shared_behind: this.#shared.behind,
    };
  }

  async reasons(): Promise<readonly string[]> {
    return REASONS[this.#shared.state];
  }

  async close(): Promise<void> {
    clearInterval(this.#snapshots);
    await this.#shared.close();
  }
}
