/**
 * One window for several services: each has the whole index, all apply one ordered log, and each answers from its own applied entry.
 *
 * A check is appended to the log, with others of the same moment. When it comes back, in its place between those of the other services, it is
 * decided, at the time that the log has given it. All services see the same entries in the same order and decide by the same rules, so of two
 * copies that arrive at two of them all agree which came first.
 */
import { setMaxListeners } from 'node:events';
import { Batcher } from '../../batcher';
import { rangeError, SimHashError, typeError } from '../../errors';
import type {
  Checked,
  Found,
  IndexMethod,
  JobOptions,
  Match,
  Matches,
  SearchOptions,
  Stats,
} from '../../index';
import { keyString } from '../../index-calls';
import * as check from '../../options';
import type { LogPart, OrderedLog, SharedOptions, SharedState, SnapshotAbout } from '../log';
import { Appender } from './appender';
import { Applier, behind, forked, gap } from './applier';
import { Asked } from './asked';
import { type Checking, type Deed, HISTORY } from './entry';
import { given, grouped, weighed } from './items';
import { type Service, serviceOf } from './options';
import { Probe } from './probe';
import { published } from './published';
import { late, type Read, reading, rested, within } from './reach';
import { newest } from './recent';
import { full, isFull, mustHaveRoom, partly } from './room';
import { State } from './state';

/** Entries of one read. */
const PART = 256;
/** Milliseconds that a read waits for the next entry; after them the end of the log is looked at. */
const WAIT = 1000;
/** Documents of one entry. */
const MOST = 256;
/** Entries on their way at once. */
const UNDER_WAY = 8;
/** Bytes of an entry beside its documents. */
const HEAD = 512;
/** Bytes of documents that wait. */
const MOST_WAITING = 64 << 20;
/** Milliseconds between two attempts to reach a log, the least and the most. */
const [SOON, LATE] = [50, 2000] as const;
/** Milliseconds between two attempts to write to a disk that is full. */
const FULL = 250;

/** Errors after which a service may begin again, from a snapshot of the same log. */
const BEGINS_AGAIN: readonly string[] = [
  'ERR_SIMHASH_LOG_BEHIND',
  'ERR_SIMHASH_LOG_CHAIN',
  'ERR_SIMHASH_LOG_GAP',
  'ERR_SIMHASH_LOG_IDENTITY',
];
/** Attempts to get beyond one entry. */
const ATTEMPTS = 3;

/** What is behind a `SharedIndex`. */
export class Shared<M extends IndexMethod> {
  readonly #log: OrderedLog;
  readonly #service: Service;
  readonly #held: State;
  readonly #batcher: Batcher<Checking, unknown>;
  readonly #asked: Asked;
  readonly #probe = new Probe();
  readonly #appender: Appender;
  readonly #ending = new AbortController();
  readonly #read: Read;
  /** What has to come between two batches. */
  #between: (() => void)[] = [];
  /** Whether the log was read, and found to be the one that was applied. */
  #isVerified = false;
  /** Why the log takes nothing, and why nothing comes from it. */
  #unappended: Error | undefined;
  #unread: Error | undefined;
  #snapshot: Promise<unknown>;
  /** What is fetched for this service to begin from. */
  #fetching: Promise<unknown> = Promise.resolve();
  #waitsForReady: (() => void)[] = [];
  #isApplying = false;
  #applied: number;
  #last = 0;
  /** The last entry that the read before this one has named, since the log was reached. */
  #named = 0;
  #state: SharedState = 'catching-up';
  #error: Error | undefined;
  #running: Promise<void>;
  #closed: Promise<void> | undefined;

  private constructor(log: OrderedLog, service: Service, state: State, isKnown: boolean) {
    this.#log = log;
    this.#service = service;
    this.#held = state;
    const { signal } = this.#ending;
    // One for each entry that is under way.
    setMaxListeners(0, signal);
    this.#asked = new Asked(service.timeout);
    this.#read = reading(log, signal);
    this.#appender = new Appender(log, service, state, signal, (error) => this.#noted(error));
    this.#applied = state.chain.head.position;
    this.#batcher = new Batcher((items) => this.#append({ items }) as Promise<unknown[]>, {
      most: MOST,
      heaviest: service.maxEntry - HEAD,
      underWay: UNDER_WAY,
      room: service.maxWaiting,
      weight: MOST_WAITING,
    });
    // What was left of the last snapshot goes before there is another; where it cannot be reached it stays.
    const tidied = Promise.resolve().then(() => service.snapshots?.tidy?.(state.owner));
    this.#snapshot = tidied.catch(() => {});
    this.#running = this.#run(isKnown).catch((error) => this.#break(error));
  }

  /**
   * Opens the folder of this service, or makes it, and begins to apply the log. `state` says when it has caught up, and so does the promise of
   * {@link ready}; what is asked before is answered when its entry has come back.
   *
   * @throws SimHashError `ERR_SIMHASH_LOG_RECIPE`: the folder was filled by another recipe; what `Index.open` throws.
   */
  static async open<M extends IndexMethod>(
    folder: string,
    log: OrderedLog,
    options?: SharedOptions<M>,
  ): Promise<Shared<M>> {
    check.string(folder, 'folder');
    const can = (name: string) => typeof Reflect.get(Object(log), name) === 'function';
    if (!['append', 'read', 'trim'].every(can)) {
      throw check.wrongType('log', 'a log with append, read and trim', log);
    }
    const service = serviceOf(options);
    const { state, isKnown } = await State.open(folder, service);
    return new Shared<M>(log, service, state, isKnown);
  }

  /** What it is doing; `error` says why it is `'lost'`, `'full'` or `'broken'`. */
  get state(): SharedState {
    return this.#state;
  }

  /** Why checks are not answered now. */
  get error(): Error | undefined {
    return this.#error;
  }

  /** Position of the last entry that was applied. */
  get position(): number {
    return this.#applied;
  }

  /** Entries of the log that were not applied, as far as is known. */
  get behind(): number {
    return Math.max(0, this.#last - this.position);
  }

  /** Documents that wait for the log. */
  get waiting(): number {
    return this.#batcher.items;
  }

  /** Settles when it is ready; rejects where it never will be. */
  async ready(): Promise<void> {
    while (this.#state !== 'ready') {
      // A full disk is waited for.
      if (this.#state !== 'full') this.#mustTake();
      await new Promise<void>((done) => this.#waitsForReady.push(done));
    }
  }

  /**
   * Checks a text and adds it where no service has one that matches. A key that was checked before, by whichever service, has its first answer
   * again, with `repeated: true`: who does not know what became of a check asks again with the same key.
   *
   * @throws SimHashError `ERR_SIMHASH_LOG_TIMEOUT`, `ERR_SIMHASH_LOG_LOST`: the outcome is unknown; `ERR_SIMHASH_BUSY`: too many wait, nothing was
   * done; `ERR_SIMHASH_LOG_…`: the log is not what it was. RangeError: the text is longer than an entry may be.
   */
  async check(
    text: string,
    options: { readonly key?: string | undefined } = {},
  ): Promise<Checked<M>> {
    const [checked] = await this.checkMany([text], { keys: [options.key] });
    return checked as Checked<M>;
  }

  /** {@link check} for many texts, in order; other services' may come between. */
  async checkMany(
    texts: readonly string[],
    options: { readonly keys?: readonly (string | undefined)[] | undefined } = {},
  ): Promise<Checked<M>[]> {
    check.array(texts, 'texts');
    const { keys } = options;
    if (keys !== undefined && keys.length !== texts.length) {
      throw rangeError(`keys must be as many as texts, ${texts.length}, got ${keys.length}`);
    }
    const own = given(texts, keys);
    this.#mustAccept();
    const { sketch, maxEntry } = this.#service;
    return this.#asked.inTime(async (over) => {
      const room = this.#service.maxWaiting - this.#batcher.items;
      const weigh = () => weighed(own, sketch, maxEntry - HEAD);
      const items = await this.#asked.whileHeld(texts, room, weigh);
      this.#mustTake();
      const groups = grouped(items, { most: MOST, heaviest: maxEntry - HEAD });
      return (await this.#batcher.addAll(groups, over)).flat() as Checked<M>[];
    });
  }

  /** Takes a document away in all services, by its id or by its key; whether it was there when the entry came. */
  async delete(named: { readonly id: number } | { readonly key: string }): Promise<boolean> {
    const isKey = 'key' in named;
    const own = isKey ? { key: keyString(named.key, 'key') } : { id: check.id(named.id, 'id') };
    this.#mustAccept();
    const append = () => this.#append({ delete: own });
    const [deleted] = await this.#asked.inTime(() => this.#batcher.beside(append));
    return deleted === true;
  }

  /** All live documents near a text, as far as this service has applied the log. */
  search(text: string, options?: SearchOptions<M>): Found<Match<M>> {
    const index = this.#held.index as unknown as {
      search(text: string, options?: object): Found<Match<M>>;
    };
    return index.search(text, options);
  }

  /** {@link search} for many texts, off the JavaScript thread. */
  async searchManyAsync(
    texts: readonly string[],
    options?: SearchOptions<M> & JobOptions,
  ): Promise<Matches<M>> {
    return this.#held.index.searchManyAsync(texts as never, options as never) as never;
  }

  /** Id of the latest live document with a key. */
  idOf(key: string): number | undefined {
    return this.#held.index.idOf(key);
  }

  /** Live documents. */
  get size(): number {
    return this.#held.index.size;
  }

  /** Counts and bytes of the index. */
  stats(): Stats<M> {
    return this.#held.index.stats() as unknown as Stats<M>;
  }

  /**
   * Publishes the index as it is between two entries, for services that begin, lets go of the snapshots beyond `keepSnapshots`, and of the
   * entries before the oldest that stays. Several services may do so at once. The log goes on meanwhile.
   *
   * @throws TypeError where no `snapshots` were given
   */
  async snapshot(): Promise<SnapshotAbout> {
    const { snapshots } = this.#service;
    if (snapshots === undefined) {
      throw typeError(
        'snapshot needs the option snapshots: where to keep them',
        'ERR_INVALID_ARG_VALUE',
      );
    }
    this.#mustAccept();
    const publish = () =>
      published(snapshots, {
        ...{ state: this.#held, service: this.#service, read: this.#read },
        mustTake: () => this.#mustTake(),
        atRest: (work) => this.#atRest(work),
        trim: (before) => this.#appender.trim(before),
      });
    const ended = (error: unknown) => {
      // What it says then of the log is only that nobody reads it any more.
      throw this.#ending.signal.aborted ? closed() : error;
    };
    // One after the other: two at once would take each other's away.
    const next = this.#snapshot.then(publish).catch(ended);
    this.#snapshot = next.catch(() => {});
    return next;
  }

  /** Takes nothing more, waits for what is on its way, each time for `timeout` at most, and closes index and log. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const { timeout: milliseconds } = this.#service;
    const ended = (work: Promise<unknown>) =>
      within(work, { milliseconds, late: () => undefined }).catch(() => {});
    if (this.#state === 'ready' || this.#state === 'catching-up') {
      const answered = this.#asked.answered().then(() => this.#batcher.idle());
      await ended(Promise.all([answered, this.#snapshot]));
    }
    this.#ending.abort();
    await this.#running;
    // What nobody can stop is waited for: it writes into the folder.
    await ended(Promise.allSettled([this.#snapshot, this.#fetching]));
    this.#become('closed', undefined);
    this.#appender.giveUp(this.#refusal());
    await this.#held.close();
    if (this.#log.close !== undefined) await ended(this.#log.close());
  }

  /** Appends an entry, and waits until it has been applied here. */
  async #append(deed: Deed): Promise<readonly unknown[]> {
    await this.#verified();
    return this.#appender.append(deed);
  }

  /** The log takes entries, or why it does not. */
  #noted(error: Error | undefined): void {
    this.#unappended = error;
    if (this.#state === 'ready' || this.#state === 'catching-up') {
      if (error !== undefined) this.#become('lost', error);
    } else if (this.#state === 'lost' && error === undefined && this.#isVerified) this.#settle();
  }

  /** Where the log took nothing: appends an entry that does nothing; whether that was so. */
  async #attempt(): Promise<boolean> {
    if (this.#unappended === undefined || !this.#isVerified) return false;
    await this.#appender.put({ items: [] }).catch(() => {});
    return true;
  }

  /** Waits until the log was found to be the one that was applied, and so much of it was applied that others accept what is appended here. */
  async #verified(): Promise<void> {
    const until = performance.now() + this.#service.timeout;
    for (;;) {
      this.#mustTake();
      if (this.#isVerified && this.#last - this.#held.chain.head.position < HISTORY / 2) return;
      if (performance.now() > until) throw late();
      await new Promise((done) => setTimeout(done, 5));
    }
  }

  /** @throws Error where nothing more is taken; what was taken before it was closed goes on */
  #mustAccept(): void {
    if (this.#closed !== undefined) throw closed();
    this.#mustTake();
  }

  /** @throws Error where nothing is taken, for good or for want of room on the disk */
  #mustTake(): void {
    if (['full', 'broken', 'closed'].includes(this.#state)) throw this.#refusal();
  }

  #refusal(): Error {
    if (this.#state !== 'closed' && this.#error !== undefined) return this.#error;
    return closed();
  }

  #become(state: SharedState, error: Error | undefined): void {
    if (this.#state === state && isSame(this.#error, error)) return;
    this.#state = state;
    this.#error = error;
    for (const wake of this.#waitsForReady.splice(0)) wake();
    try {
      this.#service.onState(state, error);
    } catch {
      // What a listener throws concerns neither the log nor the index.
    }
  }

  /** Runs `work` between two batches. */
  #atRest<T>(work: () => T): Promise<T> {
    return new Promise((done, failed) => {
      const run = () => {
        try {
          done(work());
        } catch (error) {
          failed(error);
        }
      };
      // While the disk is full it may be a long time until a batch ends: `work` refuses.
      if (this.#isApplying && this.#state !== 'full') this.#between.push(run);
      else run();
    });
  }

  /** The disk takes nothing: nothing is taken here until it does. @throws the error where the service is about to end */
  async #whileFull(error: Error): Promise<void> {
    if (this.#state !== 'full') {
      const why = full(error);
      this.#become('full', why);
      // They were appended, and the others decide them meanwhile.
      this.#appender.giveUp(why);
      for (const run of this.#between.splice(0)) run();
    }
    await rested(FULL, this.#ending.signal);
    if (this.#ending.signal.aborted) throw error;
  }

  /** Applies the log until it is closed, or broken for good. */
  async #run(isKnown: boolean): Promise<void> {
    const { signal } = this.#ending;
    const { position } = this.#held.chain.head;
    void this.#probe.run(() => this.#attempt(), signal);
    let [pause, attempts, failedAt]: [number, number, number] = [SOON, 0, 0];
    // A service that has nothing begins from the newest snapshot, if there is one.
    let isNew = position === 0;
    let failure = isKnown
      ? undefined
      : forked(`the history of position ${this.#held.index.position} is not known`);
    while (!signal.aborted) {
      try {
        if (isNew) await this.#fromNewest();
        isNew = false;
        if (failure !== undefined && !(await this.#beginAgain(failure)))
          return this.#break(failure);
        failure = undefined;
        const before = this.#held.chain.head.position;
        this.#applied = before;
        // Until the log is known to be as it should be nobody is answered.
        const isSure = this.#isVerified && this.#unread === undefined;
        const part = await this.#read(before, isSure ? WAIT : 0, PART);
        pause = SOON;
        await this.#apply(part);
        const { position } = this.#held.chain.head;
        if (position >= failedAt) attempts = 0;
        // A log that does not wait must not take the event loop for itself.
        if (position === before) await rested(1, signal);
      } catch (error) {
        if (signal.aborted) return;
        const { code } = error as { code?: string };
        this.#named = 0;
        if (code === 'ERR_SIMHASH_LOG_LOST') {
          this.#unread = error as Error;
          this.#become('lost', this.#unread);
          await rested(pause, signal);
          pause = Math.min(LATE, pause * 2);
        } else if (isFull(error)) {
          if (this.#held.chain.isForgotten) failure = partly(error);
          await this.#whileFull(error).catch(() => {});
        } else if (code !== undefined && BEGINS_AGAIN.includes(code) && attempts < ATTEMPTS) {
          attempts += 1;
          failedAt = Math.min(this.#held.chain.head.position + 1, this.#last);
          failure = error as SimHashError;
        } else return this.#break(error);
      }
    }
  }

  /** Nothing is applied or answered any more. */
  #break(error: unknown): void {
    this.#isVerified = false;
    this.#become('broken', error as Error);
    this.#appender.giveUp(error);
    const { code } = error as { code?: string };
    if (code?.startsWith('ERR_SIMHASH_LOG_') === true) return;
    try {
      // A batch that failed half way may have left a part of it: the folder must not go on from there.
      this.#held.chain.forget();
    } catch {
      // The disk takes nothing: then the index has not changed either.
    }
  }

  /** Verifies and applies what was read. */
  async #apply({ entries, last }: LogPart): Promise<void> {
    this.#last = last;
    if (last === 0) {
      // Nobody has begun this log. Of several who do the first counts.
      const { position } = this.#held.chain.head;
      if (position > 0) throw behind(0, position);
      await this.#appender.begin();
      return;
    }
    let refused: SimHashError | undefined;
    const told = (id: string, outcomes: readonly unknown[] | SimHashError) => {
      const isAwaited = this.#appender.told(id, outcomes);
      if (!(outcomes instanceof SimHashError) || !isAwaited) return;
      if (BEGINS_AGAIN.includes(outcomes.code)) refused ??= outcomes;
    };
    const applier = new Applier(this.#held, this.#service, told, (error) => this.#whileFull(error));
    const { position: before } = this.#held.chain.head;
    this.#isApplying = true;
    try {
      await applier.apply(entries, last);
    } finally {
      this.#isApplying = false;
      this.#applied = this.#held.chain.head.position;
      for (const run of this.#between.splice(0)) run();
    }
    // The others make nothing of an entry of this service: its history is another.
    if (refused !== undefined) throw refused;
    const named = this.#named;
    this.#named = last;
    if (this.#applied === before && last > before) {
      // Appended while this was read, they come with the next read; those that the last one has named are gone.
      if (named > before) throw gap(before + 1, Math.min(named, last));
      return;
    }
    this.#isVerified = true;
    if (this.#unread !== undefined) this.#probe.now();
    this.#unread = undefined;
    this.#settle();
  }

  /** Says how far it is where the log is as it should be. */
  #settle(): void {
    const lost = this.#unread ?? this.#unappended;
    if (lost !== undefined) {
      this.#become('lost', lost);
      return;
    }
    const limit = this.#state === 'ready' ? this.#service.maxBehind : 0;
    this.#become(this.behind <= limit ? 'ready' : 'catching-up', undefined);
  }

  /** Begins again from a snapshot that belongs to the log as it is now, or from its first entry; whether that could be done. */
  async #beginAgain(failure: Error): Promise<boolean> {
    this.#isVerified = false;
    if (this.#state === 'full') await mustHaveRoom(this.#held.path);
    this.#become('catching-up', failure);
    this.#appender.giveUp(failure);
    if (await this.#fromNewest()) return true;
    const { entries } = await this.#read(0, 0, 2);
    const [first] = entries;
    if (first === undefined || !Applier.begins(first, this.#held.identity)) return false;
    await this.#held.replace(undefined);
    return true;
  }

  /** Takes the newest snapshot from which the log goes on; whether there is one. */
  async #fromNewest(): Promise<boolean> {
    const { signal } = this.#ending;
    const found = newest(this.#held, this.#service, this.#read, signal);
    this.#fetching = found.catch(() => {});
    const fetched = await within(found, { signal, late: closed });
    if (fetched !== undefined) await this.#held.replace(fetched);
    return fetched !== undefined;
  }
}

/** Whether two errors say the same: a log that is lost for long has a new one with each attempt. */
function isSame(one: Error | undefined, other: Error | undefined): boolean {
  const { code, message } = Object(one) as { code?: unknown; message?: string };
  const next = Object(other) as { code?: unknown; message?: string };
  return code === next.code && message === next.message;
}

const closed = () =>
  new SimHashError('ERR_SIMHASH_CLOSED', 'this SharedIndex is closed; open it again');
