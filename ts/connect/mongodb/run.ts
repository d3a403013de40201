/**
 * A run as the database knows it: one document in `TARGET.runs`, which says who works on it and how far it is.
 *
 * Whoever works holds a lease, which ends by itself. Each change of the document asks for the epoch of the lease, so that one who lost it, and does
 * not know it yet, changes nothing.
 */
import { createHash, randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Collection, MongoServerError } from 'mongodb';
import type { Summary } from '../../comparison';
import { SimHashError } from '../../errors';
import type { FileMark } from './work';

/** What is being done. */
export type Phase = 'read' | 'decide' | 'write' | 'done';

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
  lease: { epoch: number; host: string; pid: number; until: Date } | { epoch: number; until: null };
  /** Of phase `'write'`: the file of decisions, and up to where it is written. */
  decided?: FileMark;
  position: number;
  offset: number;
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

/** The name of a run: runs with the same one go on with each other. */
export function nameOf(recipe: string): string {
  return createHash('sha256').update(recipe).digest('hex').slice(0, 32);
}

export class Run {
  readonly #runs: Collection<RunDocument>;
  readonly #term: number;
  readonly #timer: NodeJS.Timeout;
  #document: RunDocument;
  #until: number;
  #lost: unknown;

  private constructor(runs: Collection<RunDocument>, document: RunDocument, term: number) {
    this.#runs = runs;
    this.#document = document;
    this.#term = term;
    this.#until = Date.now() + term;
    this.#timer = setInterval(() => this.#renew().catch(() => {}), term / 3);
    this.#timer.unref();
  }

  /** The run under this name, if there is one. */
  static find(runs: Collection<RunDocument>, name: string): Promise<RunDocument | null> {
    return runs.findOne({ _id: name });
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
    const run = randomBytes(12).toString('hex');
    const lease = { epoch: 0, until: null };
    const [started, phase] = [new Date(), 'read' as const];
    const made = {
      _id: name,
      run,
      recipe,
      phase,
      lease,
      position: 0,
      offset: 0,
      started,
      ...(mark === undefined ? {} : { mark }),
    };
    await runs.insertOne(made).catch((error: MongoServerError) => {
      if (error.code !== 11_000) throw error;
    });
    const found = await runs.findOne({ _id: name });
    if (found === null) throw lost(name);
    const held = found.lease;
    if (held.until !== null && held.until.getTime() > Date.now() && isAlive(held)) {
      const until = held.until.toISOString();
      const message = `run ${name} is at work in process ${held.pid} on ${held.host}, whose lease lasts until ${until}`;
      throw new SimHashError('ERR_SIMHASH_RUN_LOCKED', message);
    }
    const own = { epoch: held.epoch + 1, host: hostname(), pid: process.pid };
    const taken = await runs.updateOne(
      { _id: name, 'lease.epoch': held.epoch },
      { $set: { lease: { ...own, until: new Date(Date.now() + term) } } },
    );
    if (taken.matchedCount === 0) throw lost(name);
    const document = { ...found, lease: { ...own, until: new Date(Date.now() + term) } };
    return new Run(runs, document, term);
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
    await this.#runs.updateOne({ _id, 'lease.epoch': lease.epoch }, free).catch(() => {});
  }

  #renew(): Promise<void> {
    return this.#set({});
  }

  async #set(change: Change): Promise<void> {
    if (this.#lost !== undefined) throw this.#lost;
    const { _id, lease } = this.#document;
    const now = Date.now();
    const set = { ...change, 'lease.until': new Date(now + this.#term) };
    const done = await this.#runs.updateOne({ _id, 'lease.epoch': lease.epoch }, { $set: set });
    if (done.matchedCount === 0) {
      this.#lost = lost(_id);
      clearInterval(this.#timer);
      throw this.#lost;
    }
    this.#until = now + this.#term;
  }
}

/** Whether the process that holds a lease may be there: of another machine nobody can tell. */
function isAlive({ host, pid }: { host: string; pid: number }): boolean {
  if (host !== hostname()) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function lost(name: string): SimHashError {
  const message = `run ${name} was taken over by another process; this one has stopped before it wrote anything more`;
  return new SimHashError('ERR_SIMHASH_RUN_LOCKED', message);
}
