/**
 * The folder of a service: its index, how far it is in which log, and how it begins again from a snapshot.
 *
 * ```text
 * FOLDER/index/        the index, with the position of the last entry that was applied
 * FOLDER/chain         hashes of the entries before the batches
 * FOLDER/shared.json   identity of the log, recipe
 * ```
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SimHashError } from '../../errors';
import { Index } from '../../index';
import type { SnapshotAbout } from '../log';
import { BEGINNING, Chain, type Link } from './chain';
import type { Service } from './options';

/** An `Index` of any method, as far as it is used. */
export type AnyIndex = Index<never, never> & {
  checkAndAddManyAsync(texts: readonly string[], options: object): Promise<Iterable<unknown>>;
};

export class State {
  readonly chain: Chain;
  readonly #folder: string;
  readonly #service: Service;
  #index: AnyIndex | undefined;
  #identity: string | undefined;

  private constructor(folder: string, service: Service) {
    this.#folder = folder;
    this.#service = service;
    this.chain = new Chain(join(folder, 'chain'));
  }

  /** Opens what is there; where the history of its position is not known, nothing is (`isKnown` is false). */
  static async open(folder: string, service: Service): Promise<{ state: State; isKnown: boolean }> {
    const state = new State(folder, service);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    // What a process that was killed while it fetched a snapshot has left.
    const left = (await readdir(folder)).filter((name) => name.startsWith('fetched-'));
    for (const name of left) await rm(join(folder, name), { recursive: true, force: true });
    await state.#identify();
    state.#index = await state.#opened();
    const isKnown = state.chain.open(state.index.position ?? 0);
    return { state, isKnown };
  }

  get index(): AnyIndex {
    if (this.#index !== undefined) return this.#index;
    throw new SimHashError('ERR_SIMHASH_CLOSED', 'this SharedIndex is closed; open it again');
  }

  /** Identity of the log; `undefined`: no log has been read yet. */
  get identity(): string | undefined {
    return this.#identity;
  }

  /** Keeps the identity of the log. */
  async identify(log: string): Promise<void> {
    const about = { log, recipe: this.#service.recipe };
    const file = join(this.#folder, 'shared.json');
    await writeFile(`${file}.new`, `${JSON.stringify(about)}\n`, { mode: 0o600 });
    await rename(`${file}.new`, file);
    this.#identity = log;
  }

  /** Takes a snapshot in place of what is there, or begins anew (`undefined`). */
  async replace(about: SnapshotAbout | undefined): Promise<void> {
    const fetched = join(this.#folder, `fetched-${randomUUID()}`);
    const { snapshots } = this.#service;
    if (about !== undefined) await snapshots?.fetch(about.name, fetched);
    await this.close();
    const own = join(this.#folder, 'index');
    await rm(own, { recursive: true, force: true });
    if (about !== undefined) await rename(fetched, own);
    this.#index = await this.#opened();
    const link: Link = about ?? BEGINNING;
    if ((this.index.position ?? 0) !== link.position) {
      const why = `has position ${this.index.position}, and its description says ${link.position}`;
      throw new SimHashError('ERR_SIMHASH_INDEX_DAMAGED', `the snapshot ${about?.name} ${why}`);
    }
    this.chain.begin(link);
    if (about !== undefined) await this.identify(about.log);
  }

  async close(): Promise<void> {
    const index = this.#index;
    this.#index = undefined;
    await index?.close();
  }

  #opened(): Promise<AnyIndex> {
    const open = Index.open as (path: string, options: object) => Promise<unknown>;
    return open(join(this.#folder, 'index'), this.#service.index) as Promise<AnyIndex>;
  }

  async #identify(): Promise<void> {
    const file = join(this.#folder, 'shared.json');
    if (!existsSync(file)) return;
    const { log, recipe } = JSON.parse(await readFile(file, 'utf8'));
    if (recipe !== this.#service.recipe) {
      const why = 'was filled by another recipe: other options of the index, or another release';
      throw new SimHashError('ERR_SIMHASH_LOG_RECIPE', `${this.#folder} ${why}`);
    }
    this.#identity = log;
  }
}
