/**
 * Requests that come at the same time become one batch: under `durability: 'commit'` they share the flushes of the disk, and otherwise the
 * way to the addon and back. While batches are under way, what comes is collected for the next.
 */
import { SimHashError } from './errors';

/** How batches are made. */
export interface Batching {
  /** Items after which a batch is full; a group that is larger is a batch of its own. */
  readonly most: number;
  /** What the items of a batch weigh together at most; one item may weigh more. Default anything. */
  readonly heaviest?: number;
  /** Batches at once: one is decided while another waits for the disk. */
  readonly underWay: number;
  /** Items that may wait or be under way. */
  readonly room: number;
  /** What the items may weigh together, for example in characters. */
  readonly weight: number;
}

interface Group<I, O> {
  readonly items: readonly I[];
  readonly weight: number;
  readonly over: () => Error | undefined;
  readonly done: (outcomes: readonly O[]) => void;
  readonly failed: (error: unknown) => void;
}

/** Collects groups of items; each is answered with as many outcomes, in their order. */
export class Batcher<I, O> {
  readonly #decide: (items: readonly I[]) => Promise<readonly O[]>;
  readonly #how: Batching;
  #waiting: Group<I, O>[] = [];
  #underWay = 0;
  #items = 0;
  #weight = 0;
  #isDue = false;
  #idle: (() => void)[] = [];
  /** Batches so far. */
  batches = 0;

  constructor(decide: (items: readonly I[]) => Promise<readonly O[]>, how: Batching) {
    this.#decide = decide;
    this.#how = how;
  }

  /** Items that wait or are under way, and what is done beside them. */
  get items(): number {
    return this.#items;
  }

  /**
   * Decides a group with others.
   *
   * @throws SimHashError ERR_SIMHASH_BUSY where there is no room for it
   */
  async add(items: readonly I[], weight: number): Promise<readonly O[]> {
    const [outcomes = []] = await this.addAll([{ items, weight }]);
    return outcomes;
  }

  /**
   * Decides several groups with others: there is room for all of them, or none is taken. A group whose turn comes when `over` says why nobody
   * waits for it any more is not decided, and fails with that.
   *
   * @throws SimHashError ERR_SIMHASH_BUSY where there is no room for them
   */
  addAll(
    groups: readonly { readonly items: readonly I[]; readonly weight: number }[],
    over: () => Error | undefined = () => undefined,
  ): Promise<(readonly O[])[]> {
    const count = groups.reduce((sum, { items }) => sum + items.length, 0);
    const weight = groups.reduce((sum, group) => sum + group.weight, 0);
    const { room, weight: most } = this.#how;
    if (this.#items + count > room || (this.#items > 0 && this.#weight + weight > most)) {
      return Promise.reject(busy());
    }
    return Promise.all(groups.map(({ items, weight }) => this.#queued(items, weight, over)));
  }

  /**
   * Does something that is no part of a batch, and takes the room of one item as long as it is under way.
   *
   * @throws SimHashError ERR_SIMHASH_BUSY where there is none
   */
  async beside<T>(work: () => Promise<T>): Promise<T> {
    if (this.#items >= this.#how.room) throw busy();
    this.#items += 1;
    try {
      return await work();
    } finally {
      this.#items -= 1;
      this.#rest();
    }
  }

  #queued(
    items: readonly I[],
    weight: number,
    over: () => Error | undefined,
  ): Promise<readonly O[]> {
    if (items.length === 0) return Promise.resolve([]);
    this.#items += items.length;
    this.#weight += weight;
    return new Promise((done, failed) => {
      this.#waiting.push({ items, weight, over, done, failed });
      this.#soon();
    });
  }

  /** Settles when nothing waits and nothing is under way. */
  async idle(): Promise<void> {
    while (this.#items > 0) await new Promise<void>((done) => this.#idle.push(done));
  }

  /** After what this turn of the event loop brings, which is then one batch. */
  #soon(): void {
    if (this.#isDue || this.#underWay >= this.#how.underWay) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      while (this.#waiting.length > 0 && this.#underWay < this.#how.underWay) void this.#run();
    });
  }

  async #run(): Promise<void> {
    const groups = this.#take();
    if (groups.length === 0) return this.#rest();
    const items = groups.length === 1 ? (groups[0]?.items ?? []) : groups.flatMap((g) => g.items);
    this.#underWay += 1;
    this.batches += 1;
    try {
      const outcomes = await this.#decide(items);
      let from = 0;
      for (const { items, done } of groups) {
        done(outcomes.slice(from, from + items.length));
        from += items.length;
      }
    } catch (error) {
      for (const { failed } of groups) failed(error);
    } finally {
      this.#underWay -= 1;
      for (const group of groups) this.#leave(group);
      if (this.#waiting.length > 0) this.#soon();
      else this.#rest();
    }
  }

  #rest(): void {
    if (this.#items === 0) for (const done of this.#idle.splice(0)) done();
  }

  #take(): Group<I, O>[] {
    const { most, heaviest = Number.POSITIVE_INFINITY } = this.#how;
    const taken: Group<I, O>[] = [];
    let [count, weight, end] = [0, 0, 0];
    for (const group of this.#waiting) {
      const over = group.over();
      if (over !== undefined) {
        this.#leave(group);
        group.failed(over);
      } else {
        count += group.items.length;
        weight += group.weight;
        if (taken.length > 0 && (count > most || weight > heaviest)) break;
        taken.push(group);
      }
      end += 1;
    }
    this.#waiting.splice(0, end);
    return taken;
  }

  #leave({ items, weight }: Group<I, O>): void {
    this.#items -= items.length;
    this.#weight -= weight;
  }
}

function busy(): SimHashError {
  const why = 'too many documents are waiting; ask again a little later';
  return new SimHashError('ERR_SIMHASH_BUSY', why);
}
