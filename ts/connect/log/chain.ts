/**
 * How far a service has come in a log, and which history that was. The hashes of the last entries are in memory; the last ones before each
 * batch are in a file, written before the batch is applied, so that for whatever position the index has after a crash its hash is known.
 */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { hashOf, type Mark, START } from './entry';

/** A mark, and the hash before it: by both the entry itself can be checked. */
export interface Link extends Mark {
  readonly previous: string;
}

/** Entries whose hashes are kept in memory: a writer that is further behind has let its checks time out long before. */
const RECENT = 65_536;
/** Bytes of the file beyond which it is written anew. */
const LONGEST = 1 << 20;

/** Before the first entry. */
export const BEGINNING: Link = { ...START, previous: START.hash };

export class Chain {
  readonly #file: string;
  readonly #recent = new Map<number, string>();
  #head: Link = BEGINNING;
  #written: Link = BEGINNING;
  #bytes = 0;

  constructor(file: string) {
    this.#file = file;
  }

  /** The last entry that was applied, or is about to be. */
  get head(): Link {
    return this.#head;
  }

  /** The hash at a position; `undefined`: it is too long ago. */
  at(position: number): string | undefined {
    return position === 0 ? START.hash : this.#recent.get(position);
  }

  /** What follows the head where an entry comes. */
  next(entry: string): Link {
    const { position, hash } = this.#head;
    return { position: position + 1, previous: hash, hash: hashOf(hash, position + 1, entry) };
  }

  /** Goes on by one entry, in memory. */
  add(link: Link): void {
    this.#head = link;
    this.#recent.set(link.position, link.hash);
    this.#recent.delete(link.position - RECENT);
  }

  /** Writes the head down: the next batch ends there. `sync`: resolves when the disk has it. */
  async write(sync: boolean): Promise<void> {
    const line = lineOf(this.#head);
    // The index is still where the last line says.
    if (this.#bytes + line.length > LONGEST) this.#rewrite(this.#written);
    appendFileSync(this.#file, line);
    this.#bytes += line.length;
    this.#written = this.#head;
    if (!sync) return;
    const file = await open(this.#file, 'r+');
    await file.datasync().finally(() => file.close());
  }

  /** Reads what was written; whether the link of a position is known. */
  open(position: number): boolean {
    const link = position === 0 ? BEGINNING : readLinks(this.#file).get(position);
    if (link === undefined) return false;
    this.begin(link);
    return true;
  }

  /** The folder is not to go on from where it is: who opens it begins again. */
  forget(): void {
    rmSync(this.#file, { force: true });
  }

  /** Begins at a link, and forgets what was before. */
  begin(link: Link): void {
    this.#recent.clear();
    this.#head = link;
    if (link.position > 0) this.#recent.set(link.position, link.hash);
    mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
    this.#rewrite(link);
  }

  #rewrite(link: Link): void {
    const line = lineOf(link);
    writeFileSync(`${this.#file}.new`, line, { mode: 0o600 });
    renameSync(`${this.#file}.new`, this.#file);
    this.#bytes = line.length;
    this.#written = link;
  }
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
