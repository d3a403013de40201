/**
 * The folder of a service: its index, how far it is in which log, and how it begins again from a snapshot.
 *
 * ```text
 * FOLDER/index/        the index, with the position of the last entry that was applied
 * FOLDER/chain         hashes of the last entries
 * FOLDER/shared.json   identity of the log, recipe, name of the folder
 * ```
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { SimHashError } from '../../errors';
import { Index } from '../../index';
import type { SnapshotAbout } from '../log';
import { Chain, type Link, linksOf } from './chain';
import { parsed, putFile, syncAll } from './durable';
import type { Service } from './options';

/** An `Index` of any method, as far as it is used. */
export type AnyIndex = Index<never, never> & {
  checkAndAddManyAsync(items: readonly unknown[], options: object): Promise<Iterable<unknown>>;
};

/** A snapshot that was fetched, and found to be what it is said to be. */
export interface Fetched {
  readonly about: SnapshotAbout;
  readonly folder: string;
  readonly links: readonly Link[];
}

/** Files of a snapshot. */
const [INDEX, CHAIN] = ['index', 'chain'] as const;
/** What is known of the log. */
const ABOUT = 'shared.json';

export class State {
  readonly chain: Chain;
  readonly #folder: string;
  readonly #service: Service;
  #index: AnyIndex | undefined;
  #identity: string | undefined;
  #owner: string = randomUUID();
  #isReplacing = false;

  private constructor(folder: string, service: Service) {
    this.#folder = folder;
    this.#service = service;
    this.chain = new Chain(join(folder, CHAIN));
  }

  /** Opens what is there; where the history of its position is not known, nothing is (`isKnown` is false). */
  static async open(folder: string, service: Service): Promise<{ state: State; isKnown: boolean }> {
    const state = new State(folder, service);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await state.#identify();
    state.#index = await state.#opened(join(folder, INDEX));
    // The index is open in no other process, so these are what a process has left that was killed while it fetched or copied a snapshot.
    const left = (await readdir(folder)).filter((name) => /^(fetched|old|copied)-/.test(name));
    for (const name of left) await rm(join(folder, name), { recursive: true, force: true });
    const isKnown = state.chain.open(state.index.position ?? 0);
    return { state, isKnown };
  }

  /** @throws SimHashError `ERR_SIMHASH_CLOSED`: it was closed, or another takes its place just now */
  get index(): AnyIndex {
    if (this.#index !== undefined) return this.#index;
    const why = this.#isReplacing
      ? 'a snapshot takes the place of the index just now; ask again a little later'
      : 'this SharedIndex is closed; open it again';
    throw new SimHashError('ERR_SIMHASH_CLOSED', why);
  }

  /** Where it is. */
  get path(): string {
    return this.#folder;
  }

  /** Identity of the log; `undefined`: no log has been read yet. */
  get identity(): string | undefined {
    return this.#identity;
  }

  /** Names this folder, also after a restart, as soon as there is a log. */
  get owner(): string {
    return this.#owner;
  }

  /** A new folder for the copy of the index. */
  async copying(): Promise<string> {
    const folder = join(this.#folder, `copied-${randomUUID()}`);
    await mkdir(folder, { mode: 0o700 });
    return folder;
  }

  /** Keeps the identity of the log. */
  async identify(log: string): Promise<void> {
    const about = { log, recipe: this.#service.recipe, owner: this.#owner };
    await putFile(join(this.#folder, ABOUT), `${JSON.stringify(about)}\n`);
    this.#identity = log;
  }

  /**
   * Fetches a snapshot, opens it and looks whether it is what it is said to be. Nothing that is there changes.
   *
   * @throws SimHashError `ERR_SIMHASH_INDEX_…`: it is not; what the store throws; the reason of the signal, when what has arrived is removed
   */
  async fetch(about: SnapshotAbout, signal: AbortSignal): Promise<Fetched> {
    const folder = join(this.#folder, `fetched-${randomUUID()}`);
    try {
      await this.#service.snapshots?.fetch(about.name, folder);
      signal.throwIfAborted();
      const links = linksOf(join(folder, CHAIN), about.position);
      const last = links?.at(-1);
      if (links === undefined || last?.hash !== about.hash || last.previous !== about.previous) {
        throw damaged(about, 'has not the history that its description says');
      }
      const index = await this.#opened(join(folder, INDEX));
      const { position = 0 } = index;
      await index.close();
      if (position !== about.position) {
        const why = `has position ${position}, and its description says ${about.position}`;
        throw damaged(about, why);
      }
      signal.throwIfAborted();
      return { about, folder, links };
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** Takes a snapshot in place of what is there, or begins anew (`undefined`). */
  async replace(fetched: Fetched | undefined): Promise<void> {
    const [own, old] = [join(this.#folder, INDEX), join(this.#folder, `old-${randomUUID()}`)];
    this.#isReplacing = true;
    try {
      await this.close();
      // Where the process ends in between, the next finds no history that belongs to the index, and begins again.
      this.chain.forget();
      // It is not there where an attempt before this one found no room.
      if (existsSync(own)) await rename(own, old);
      if (fetched !== undefined) {
        await syncAll(fetched.folder);
        await rename(join(fetched.folder, INDEX), own);
      }
      this.#index = await this.#opened(own);
    } finally {
      this.#isReplacing = false;
    }
    await this.chain.begin(fetched?.links ?? []);
    if (fetched !== undefined) await this.identify(fetched.about.log);
    await rm(old, { recursive: true, force: true });
    if (fetched !== undefined) await rm(fetched.folder, { recursive: true, force: true });
  }

  async close(): Promise<void> {
    const index = this.#index;
    this.#index = undefined;
    await this.chain.close();
    await index?.close();
  }

  #opened(path: string): Promise<AnyIndex> {
    const open = Index.open as (path: string, options: object) => Promise<unknown>;
    return open(path, this.#service.index) as Promise<AnyIndex>;
  }

  async #identify(): Promise<void> {
    const file = join(this.#folder, ABOUT);
    if (!existsSync(file)) return;
    const { log, recipe, owner } = parsed(await readFile(file, 'utf8'));
    if (typeof log !== 'string' || typeof recipe !== 'string') {
      const then = `remove the folder ${this.#folder}: the service starts over from a snapshot, or from the first entry of the log`;
      const why = `${file} is not whole, and does not say of which log the folder is; ${then}`;
      throw new SimHashError('ERR_SIMHASH_INDEX_DAMAGED', why);
    }
    if (recipe !== this.#service.recipe) {
      const why = 'was filled by another recipe: other options of the index, or another release';
      throw new SimHashError('ERR_SIMHASH_LOG_RECIPE', `${this.#folder} ${why}`);
    }
    this.#identity = log;
    if (typeof owner === 'string' && /^[\w-]+$/.test(owner)) this.#owner = owner;
  }
}

function damaged({ name }: SnapshotAbout, why: string): SimHashError {
  return new SimHashError('ERR_SIMHASH_INDEX_DAMAGED', `the snapshot ${name} ${why}`);
}
