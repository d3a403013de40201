/**
 * A run as the database knows it: one document in `TARGET.runs`, which says who works on it and how far it is.
 *
 * Whoever works holds a lease, which ends by itself. Each change of the document asks for the epoch of the lease, so that one who lost it, and does
 * not know it yet, changes nothing.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Collection, MongoServerError } from 'mongodb';
import type { Summary } from '../../comparison';
import { SimHashError } from '../../errors';
import { type Holder, here, mayBeAlive } from './lease';
import { serverOf } from './server';
import type { FileMark } from './work';

/** What is being done. */
export type Phase = 'read' | 'decide' | 'write' | 'pass' | 'done';

/** What came of the documents so far. */
export type Counts = Omit<
  Summary,
  'clusters' | 'truncated' | 'seconds' | 'indexBytes' | 'leftovers'
>;

/** The document. */
export interface RunDocument {
  _id: string;
  /** The id that every document written carries. */
  run: string;
  /** What the run was started with. */
  recipe: string;
  /** The field of its marks; absent: it writes into a target. */
  mark?: string;
  phase: Phase;
  /** Where the process that had it last keeps what it has read. */
  folder?: string;
  /** `until` by the clock of the server. */
  lease: (Holder & { epoch: number; until: Date }) | { epoch: number; until: null };
  /** Of phase `'write'`: the file of decisions, and up to where it is written. */
  decided?: FileMark;
  position: number;
  offset: number;
  /** Of phase `'pass'`: what came of the documents up to `lastId`. */
  counts?: Counts;
  /** Of phase `'pass'`: wall time so far. */
  seconds?: number;
  /** Duplicates that have no mark, and the first of them. */
  unmarked?: number;
  firstUnmarked?: readonly string[];
  /** The last `_id` that was read, as extended JSON, and how many documents the collection had then. */
  lastId?: string;
  countAtEnd?: number;
  summary?: Summary;
  started: Date;
  finished?: Date;
}

/** What is known of a run that has begun. */
export type Change = Partial<
  Omit<RunDocument, '_id' | 'run' | 'recipe' | 'mark' | 'lease' | 'started'>
>;

/** Bytes of the id of a run. */
const RUN_BYTES = 12;

/** Whether this is the id of a run, as it is made here: it becomes the name of a folder. */
function isRun(id: unknown): id is string {
  return typeof id === 'string' && id.length === 2 * RUN_BYTES && /^[0-9a-f]+$/.test(id);
}

/** The name of a run: runs with the same one go on with each other. */
export function nameOf(recipe: string): string {
  return createHash('sha256').update(recipe).digest('hex').slice(0, 32);
}

export class Run {
  readonly #runs: Collection<RunDocument>;
  readonly #term: number;
  readonly #ahead: number;
  readonly #timer: NodeJS.Timeout;
  #document: RunDocument;
  #until: number;
  #lost: unknown;
  /** The change that is under way. */
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(
    runs: Collection<RunDocument>,
    document: RunDocument,
    { term, ahead, until }: { term: number; ahead: number; until: number },
  ) {
    this.#runs = runs;
    this.#document = document;
    this.#term = term;
    this.#ahead = ahead;
    this.#until = until;
    this.#timer = setInterval(() => this.#renew().catch(() => {}), term / 3);
    this.#timer.unref();
  }

  /**
   * The run under this name, if there is one.
   *
   * @throws SimHashError ERR_SIMHASH_TARGET: its id is none that is made here.
   */
  static async find(runs: Collection<RunDocument>, name: string): Promise<RunDocument | null> {
    const found = await runs.findOne({ _id: name });
    // It becomes the name of a folder, which is removed in the end.
    if (found === null || isRun(found.run)) return found;
    const message = `${runs.namespace} holds a run of another program under the name ${name}: its id is none that is made here`;
    throw new SimHashError('ERR_SIMHASH_TARGET', message);
  }

  /**
   * Takes a run to work on it, for `term` milliseconds and as long as it is renewed.
   *
   * @throws SimHashError ERR_SIMHASH_RUN_LOCKED: somebody else works on it.
   */
  static async take(
    runs: Collection<RunDocument>,
    name: string,
    recipe: string,
    term: number,
    mark?: string,
  ): Promise<Run> {
    const run = randomBytes(RUN_BYTES).toString('hex');
    const free = { epoch: 0, until: null };
    const [started, phase] = [new Date(), 'read' as const];
    const made = {
      _id: name,
      run,
      recipe,
      phase,
      lease: free,
      position: 0,
      offset: 0,
      started,
      ...(mark === undefined ? {} : { mark }),
    };
    await runs.insertOne(made).catch((error: MongoServerError) => {
      if (error.code !== 11_000) throw error;
    });
    const found = await Run.find(runs, name);
    if (found === null) throw lost(name);
    const { ahead } = await serverOf(runs as unknown as Collection);
    const held = found.lease;
    if (held.until !== null && held.until.getTime() > Date.now() + ahead && mayBeAlive(held)) {
      const until = held.until.toISOString();
      const message = `run ${name} is at work in process ${held.pid} on ${held.host}, whose lease lasts until ${until}`;
      throw new SimHashError('ERR_SIMHASH_RUN_LOCKED', message);
    }
    const until = Date.now() + term;
    const lease = { epoch: held.epoch + 1, ...here(), until: new Date(until + ahead) };
    const taken = await runs.updateOne(
      { _id: name, 'lease.epoch': held.epoch },
      { $set: { lease } },
    );
    if (taken.matchedCount === 0) throw lost(name);
    return new Run(runs, { ...found, lease }, { term, ahead, until });
  }

  get document(): Readonly<RunDocument> {
    return this.#document;
  }

  /** Returns while the lease is held, which is renewed where it would end soon. */
  async hold(): Promise<void> {
    if (this.#lost !== undefined) throw this.#lost;
    if (Date.now() > this.#until - this.#term / 2) await this.#renew();
  }

  /** Notes how far the run is. */
  async note(change: Change): Promise<void> {
    await this.#set(change);
    this.#document = { ...this.#document, ...change };
  }

  /** Lets go of the run, so that somebody else need not wait for the end of the lease. */
  async release(): Promise<void> {
    clearInterval(this.#timer);
    if (this.#lost !== undefined) return;
    const { _id, lease } = this.#document;
    this.#lost = lost(_id);
    // The next epoch: what is still under way to the server changes nothing any more.
    const free = { $set: { lease: { epoch: lease.epoch + 1, until: null } } };
    await this.#turn;
    await this.#runs.updateOne({ _id, 'lease.epoch': lease.epoch }, free).catch(() => {});
  }

  #renew(): Promise<void> {
    return this.#set({});
  }

  /** One change after the other: not every server changes a document in one step, and of two at a time one may undo the other. */
  #set(change: Change): Promise<void> {
    const done = this.#turn.then(() => this.#put(change));
    this.#turn = done.catch(() => {});
    return done;
  }

  async #put(change: Change): Promise<void> {
    if (this.#lost !== undefined) throw this.#lost;
    const { _id, lease } = this.#document;
    const now = Date.now();
    const set = { ...change, 'lease.until': new Date(now + this.#term + this.#ahead) };
    const done = await this.#runs.updateOne({ _id, 'lease.epoch': lease.epoch }, { $set: set });
    if (done.matchedCount === 0) {
      this.#lost = lost(_id);
      clearInterval(this.#timer);
      throw this.#lost;
    }
    this.#until = now + this.#term;
  }
}

function lost(name: string): SimHashError {
  const message = `run ${name} was taken over by another process; this one has stopped before it wrote anything more`;
  return new SimHashError('ERR_SIMHASH_RUN_LOCKED', message);
}
