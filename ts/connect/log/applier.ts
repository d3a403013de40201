/** Entries of a log, verified and applied in their order. */
import { SimHashError } from '../../errors';
import type { LogEntry, LogPart, SnapshotAbout } from '../log';
import { type Checking, decoded, type Entry, HISTORY, hashOf } from './entry';
import type { Service } from './options';
import { type Full, isFull, mustHaveRoom, whenRoom } from './room';
import { itemOf } from './sketch';
import type { State } from './state';

/** Documents after which a batch is applied: its entries are answered then. */
const MOST = 2048;

/** Told what became of the items of an entry, or why nothing was made of it. */
type Told = (id: string, outcomes: readonly unknown[] | SimHashError) => void;

export class Applier {
  readonly #state: State;
  readonly #service: Service;
  readonly #told: Told;
  readonly #full: Full;
  #items: Checking[] = [];
  #times: number[] = [];
  #entries: {
    readonly id: string;
    readonly count: number;
    readonly isVoid: SimHashError | undefined;
  }[] = [];

  constructor(state: State, service: Service, told: Told, full: Full) {
    this.#state = state;
    this.#service = service;
    this.#told = told;
    this.#full = full;
  }

  /**
   * Applies what follows the head of the chain; what came before is only compared with it.
   *
   * @throws SimHashError `ERR_SIMHASH_LOG_…`: the log is not what it was. What came before that is applied.
   */
  async apply(entries: readonly LogEntry[], last: number): Promise<void> {
    const { chain } = this.#state;
    if (last < chain.head.position) throw behind(last, chain.head.position);
    this.#goesOn(entries[0]);
    try {
      for (const one of entries) {
        if (one.position > chain.head.position) await this.#follow(one);
        else this.#known(one);
        if (this.#items.length >= MOST) await this.#flush();
      }
    } finally {
      await this.#flush();
    }
  }

  /** Whether a log, read from the position of a snapshot, goes on from it. */
  static follows(about: SnapshotAbout, { entries, last }: LogPart): boolean {
    const { position, previous, hash } = about;
    const [first] = entries;
    if (last < position) return false;
    if (first === undefined) return last === position;
    if (first.position === position) return hashOf(previous, position, first.entry) === hash;
    if (first.position !== position + 1) return false;
    // Its own entry was let go of: what the next one says has to do.
    const { log, after } = decoded(first.position, first.entry);
    return log === about.log && after.position === position && after.hash === hash;
  }

  /** Whether an entry is the first of a log. */
  static begins({ position, entry }: LogEntry, identity: string | undefined): boolean {
    if (position !== 1) return false;
    const first = decoded(1, entry);
    return 'begin' in first && (identity === undefined || first.log === identity);
  }

  /**
   * Where the entry that was applied last is not there any more, that what comes next was written by one who had applied the same. A writer
   * that was behind says nothing of that entry: the log may have lost it and have grown again.
   */
  #goesOn(next: LogEntry | undefined): void {
    const { position, hash } = this.#state.chain.head;
    if (next === undefined || position === 0 || next.position !== position + 1) return;
    const { log, after } = decoded(next.position, next.entry);
    if (log !== this.#state.identity) throw another(next.position, log, this.#state.identity);
    if (after.position !== position) throw gap(position, position);
    if (after.hash !== hash) {
      throw forked(`entry ${next.position} of the log does not follow the one that was applied`);
    }
  }

  /** An entry that was applied already. */
  #known({ position, entry }: LogEntry): void {
    const { chain } = this.#state;
    const [previous, hash] = [
      position === chain.head.position ? chain.head.previous : chain.at(position - 1),
      chain.at(position),
    ];
    if (previous === undefined || hash === undefined) return;
    if (hashOf(previous, position, entry) === hash) return;
    // The most that can be said of it: another log has taken the place of this one.
    const { log } = decoded(position, entry);
    if (log !== this.#state.identity) throw another(position, log, this.#state.identity);
    throw forked(`entry ${position} of the log is not the one that was applied`);
  }

  async #follow({ position, time, entry: text }: LogEntry): Promise<void> {
    const { chain } = this.#state;
    const { head } = chain;
    if (position !== head.position + 1) throw gap(head.position + 1, position - 1);
    const entry = decoded(position, text);
    const isFirst = position === 1 && 'begin' in entry;
    const isVoid = isFirst ? undefined : this.#isVoid(entry, position);
    if (isVoid === undefined && (isFirst || !('begin' in entry)))
      await this.#agreed(entry, position);
    const link = chain.next(text);
    if (isVoid === undefined && 'delete' in entry) {
      await this.#flush();
      chain.add(link);
      await this.#delete(entry);
      return;
    }
    chain.add(link);
    const items = isVoid === undefined && 'items' in entry ? entry.items : [];
    this.#items.push(...items);
    for (const _ of items) this.#times.push(time);
    this.#entries.push({ id: entry.id, count: items.length, isVoid });
  }

  /**
   * Why nothing is made of an entry: its writer has another history, or was too far behind. It depends on the log alone, so every service makes
   * nothing of the same entries, and none stops for them.
   */
  #isVoid({ log, after }: Entry, position: number): SimHashError | undefined {
    const { identity, chain } = this.#state;
    if (identity === undefined) {
      const why = `entry ${position} of the log stands where the log should begin`;
      throw new SimHashError('ERR_SIMHASH_LOG_IDENTITY', why);
    }
    if (log !== identity) return another(position, log, identity);
    const lag = position - after.position;
    if (lag > HISTORY) {
      const why = `was appended more than ${HISTORY} entries after the last that its writer had applied`;
      const then = 'nothing was done: ask again with the same key';
      return new SimHashError('ERR_SIMHASH_LOG_TIMEOUT', `entry ${position} ${why}; ${then}`);
    }
    if (lag > 0 && after.position >= 0 && chain.at(after.position) === after.hash) return undefined;
    const why = `the writer of entry ${position} has seen another history up to ${after.position}`;
    return forked(why);
  }

  /** @throws SimHashError where its writer decides by other rules */
  async #agreed(entry: Entry, position: number): Promise<void> {
    const { identity } = this.#state;
    if ('begin' in entry && identity !== undefined && identity !== entry.log) {
      throw another(position, entry.log, identity);
    }
    if (entry.recipe !== this.#service.recipe) {
      const why =
        'was written by a service that decides by another recipe: other options of the index, or another release';
      throw new SimHashError('ERR_SIMHASH_LOG_RECIPE', `entry ${position} of the log ${why}`);
    }
    if ('begin' in entry && identity === undefined) await this.#state.identify(entry.log);
  }

  async #delete(entry: Entry & { delete: { id?: number; key?: string } }): Promise<void> {
    const { index, chain } = this.#state;
    const { id, key } = entry.delete;
    const own = key === undefined ? id : index.idOf(key);
    await this.#written();
    // Done twice after a crash in between it changes nothing.
    const isDone = own !== undefined && (await whenRoom(() => index.deleteAsync(own), this.#full));
    const at = { position: chain.head.position };
    await whenRoom(() => index.checkAndAddManyAsync([], at), this.#full);
    this.#told(entry.id, [isDone]);
  }

  /** Decides what was collected, as one batch that counts with its position or not at all. */
  async #flush(): Promise<void> {
    const [items, times, entries] = [this.#items, this.#times, this.#entries];
    if (entries.length === 0) return;
    [this.#items, this.#times, this.#entries] = [[], [], []];
    await both(this.#hasRoom(items), this.#written());
    const outcomes = await this.#decided(items, times);
    let from = 0;
    for (const { id, count, isVoid } of entries) {
      this.#told(id, isVoid ?? outcomes.slice(from, from + count));
      from += count;
    }
  }

  /** Writes down the history of what is applied next. */
  #written(): Promise<void> {
    return whenRoom(() => this.#state.chain.write(this.#service.sync), this.#full);
  }

  /** Waits until the disk has room for items. */
  #hasRoom(items: readonly Checking[]): Promise<void> {
    return whenRoom(() => mustHaveRoom(this.#state.path, roomFor(items)), this.#full);
  }

  /** What becomes of items. */
  async #decided(items: readonly Checking[], times: readonly number[]): Promise<unknown[]> {
    const { index, chain } = this.#state;
    const texts = items.map(([text]) => itemOf(text));
    const keys = items.map(([, key]) => key);
    const { position } = chain.head;
    const at = this.#service.keepsTimes && items.length > 0 ? { at: times } : {};
    for (;;) {
      try {
        return [...(await index.checkAndAddManyAsync(texts, { keys, position, ...at }))];
      } catch (error) {
        if (!isFull(error)) throw error;
        if (items.length > 1) {
          // The items before the one that found no room are there, without their position, and how many they are nobody says.
          chain.forget();
          throw error;
        }
        await this.#full(error);
      }
    }
  }
}

/** Waits until both have ended, also where one fails: what writes is never left behind. */
async function both(one: Promise<void>, other: Promise<void>): Promise<void> {
  const ends = await Promise.allSettled([one, other]);
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

/** Bytes that a batch takes at most, in the log of the index. */
function roomFor(items: readonly Checking[]): number {
  const units = items.reduce((sum, [text, key = '']) => {
    return sum + (typeof text === 'string' ? text.length : 0) + key.length;
  }, 0);
  // Three bytes of UTF-8 each; and what is made of a text, a signature of 128 numbers for example.
  return 3 * units + 2048 * items.length;
}

/** The log ends before what was applied. */
export function behind(last: number, position: number): SimHashError {
  const why = 'it was restored from an older copy, or has lost entries';
  const message = `the log ends at entry ${last}, and ${position} were applied: ${why}`;
  return new SimHashError('ERR_SIMHASH_LOG_BEHIND', message);
}

/** Entries that are not there any more. */
export function gap(first: number, last: number): SimHashError {
  const why = 'it was trimmed, or they were removed';
  const message = `entries ${first} to ${last} of the log are missing: ${why}`;
  return new SimHashError('ERR_SIMHASH_LOG_GAP', message);
}

/** A history that is not the one that was applied. */
export function forked(what: string): SimHashError {
  return new SimHashError('ERR_SIMHASH_LOG_CHAIN', what);
}

/** An entry of another log. */
export function another(position: number, log: string, own: string | undefined): SimHashError {
  const message = `entry ${position} is of the log ${log}, and this service has applied the log ${own}`;
  return new SimHashError('ERR_SIMHASH_LOG_IDENTITY', message);
}
