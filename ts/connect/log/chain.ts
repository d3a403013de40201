/**
 * How far a service has come in a log, and which history that was. The hashes of the last entries are in memory and in a file, written before
 * each batch is applied, so that for whatever position the index has after a crash its history is known; a snapshot has them, too.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { putFile } from './durable';
import { HISTORY, hashOf, type Mark, START } from './entry';

/** A mark, and the hash before it: by both the entry itself can be checked. */
export interface Link extends Mark {
  readonly previous: string;
}

/** Links that are kept: after a crash the index may be behind the last of them, and needs its own history. */
const RECENT = 2 * HISTORY;
/** Bytes of the file beyond which it is written anew; the links that are kept are about a third of it. */
const LONGEST = 2 << 20;

/** Before the first entry. */
export const BEGINNING: Link = { ...START, previous: START.hash };

export class Chain {
  readonly #file: string;
  readonly #recent = new Map<number, Link>();
  #head: Link = BEGINNING;
  /** Links that are not in the file yet. */
  #unwritten: Link[] = [];
  /** Bytes of the file that are links; `undefined`: it has to be written anew. */
  #bytes: number | undefined;
  /** The file, while links are added to it: to open it for each batch would take longer than to write. */
  #handle: FileHandle | undefined;
  #isForgotten = false;

  constructor(file: string) {
    this.#file = file;
  }

  /** The last entry that was applied, or is about to be. */
  get head(): Link {
    return this.#head;
  }

  /** The hash at a position; `undefined`: it is too long ago. */
  at(position: number): string | undefined {
    return position === 0 ? START.hash : this.#recent.get(position)?.hash;
  }

  /** What follows the head where an entry comes. */
  next(entry: string): Link {
    const { position, hash } = this.#head;
    return { position: position + 1, previous: hash, hash: hashOf(hash, position + 1, entry) };
  }

  /** Goes on by one entry, in memory. */
  add(link: Link): void {
    this.#head = link;
    this.#recent.set(link.position, link);
    this.#recent.delete(link.position - RECENT);
    this.#unwritten.push(link);
  }

  /** Whether {@link forget} was called, and nothing was written since. */
  get isForgotten(): boolean {
    return this.#isForgotten;
  }

  /**
   * Writes down what was added: the next batch ends there. `sync`: resolves when the disk has it. Where it fails nothing has changed, and it can
   * be called again.
   */
  async write(sync: boolean): Promise<void> {
    const lines = this.#unwritten.map(lineOf).join('');
    if (this.#bytes === undefined || this.#bytes + lines.length > LONGEST) {
      await this.#rewrite();
    } else await this.#append(lines, this.#bytes, sync);
    this.#unwritten = [];
  }

  /** The history at the head, as the file of a snapshot. */
  text(): string {
    const all = [...this.#recent.values()];
    return all.slice(-HISTORY).map(lineOf).join('');
  }

  /** Reads what was written; whether the history of a position is known. */
  open(position: number): boolean {
    const links = linksOf(this.#file, position);
    if (links === undefined) return false;
    this.#take(links);
    return true;
  }

  /** The folder is not to go on from where it is: who opens it begins again. */
  forget(): void {
    rmSync(this.#file, { force: true });
    this.#bytes = undefined;
    this.#isForgotten = true;
  }

  /** Begins at the last of some links, or before the first entry, and forgets what was before. */
  async begin(links: readonly Link[]): Promise<void> {
    this.#take(links);
    await mkdir(dirname(this.#file), { recursive: true, mode: 0o700 });
    await this.#rewrite();
  }

  /** Lets go of the file. */
  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }

  /** Goes on from some links; the file has others, and is written anew before the next batch. */
  #take(links: readonly Link[]): void {
    this.#recent.clear();
    for (const link of links) this.#recent.set(link.position, link);
    this.#head = links.at(-1) ?? BEGINNING;
    this.#unwritten = [];
    this.#bytes = undefined;
  }

  /** Not on the event loop: where another file of the disk is being flushed, it may wait for that. */
  async #append(lines: string, bytes: number, sync: boolean): Promise<void> {
    // Where it fails a part of a line may be there, behind which nothing is to come.
    this.#bytes = undefined;
    this.#handle ??= await open(this.#file, 'a');
    await this.#handle.writeFile(lines);
    if (sync) await this.#handle.datasync();
    this.#bytes = bytes + lines.length;
  }

  async #rewrite(): Promise<void> {
    await this.close();
    const lines = [...this.#recent.values()].map(lineOf).join('');
    await putFile(this.#file, lines);
    this.#bytes = lines.length;
    this.#isForgotten = false;
  }
}

/** The history of a position, as a file has it; `undefined`: it has less than all must have. */
export function linksOf(file: string, position: number): readonly Link[] | undefined {
  const links = readLinks(file);
  const history: Link[] = [];
  for (let at = position; at > 0 && history.length < RECENT; at--) {
    const link = links.get(at);
    const after = history.at(-1);
    if (link === undefined || (after !== undefined && after.previous !== link.hash)) break;
    history.push(link);
  }
  if (history.length < Math.min(position, HISTORY)) return undefined;
  return history.reverse();
}

const lineOf = ({ position, previous, hash }: Link) => `${position} ${previous} ${hash}\n`;

/** All links of a file; a line that was torn is none. */
function readLinks(file: string): Map<number, Link> {
  const links = new Map<number, Link>();
  if (!existsSync(file)) return links;
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const [, at, previous, hash] = /^(\d+) ([0-9a-f]{32}) ([0-9a-f]{32})$/.exec(line) ?? [];
    if (at === undefined || previous === undefined || hash === undefined) continue;
    links.set(Number(at), { position: Number(at), previous, hash });
  }
  return links;
}
