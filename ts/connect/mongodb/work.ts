/**
 * The folder of a run: what was read, and what was decided.
 *
 * ```text
 * source.jsonl    a line for each document: id, text, what the keep rule looks at       grows while the collection is read
 * known.jsonl     those of the known collection
 * decided.jsonl   the lines of source.jsonl, duplicates marked                           appears whole
 * rejected.jsonl  those that have no text; unknown.jsonl of the known collection
 * clusters.jsonl  of which a report is made
 * ```
 */
import { createReadStream } from 'node:fs';
import { chmod, type FileHandle, mkdir, open, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { folderOf } from './stage';

/** Characters that are held before they are written, and bytes of lines that are given together, about. */
const FULL = 8 << 20;
/** Bytes read at once while the last line is looked for. */
const PIECE = 1 << 16;

export class Work {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Makes the folder, for its owner alone, or finds it. */
  async open(): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    await chmod(this.folder, 0o700);
  }

  path(
    name: 'source' | 'rejected' | 'known' | 'unknown' | 'decided' | 'clusters' | 'again',
  ): string {
    return join(this.folder, `${name}.jsonl`);
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Removes the folder that a run has noted. */
export async function removeNoted({
  run,
  folder,
}: {
  run: string;
  folder?: string;
}): Promise<void> {
  // The database may say anything: only what has the name of a run is its folder.
  if (typeof folder === 'string' && basename(folder) === folderOf(run)) {
    await new Work(folder).remove();
  }
}

/** What a file is, so that another one is not taken for it. */
export interface FileMark {
  readonly bytes: number;
  readonly changed: number;
}

/** `undefined`: there is none. */
export async function fileMark(path: string): Promise<FileMark | undefined> {
  const found = await stat(path).catch(() => undefined);
  return found && { bytes: found.size, changed: found.mtimeMs };
}

/** A file of lines that grows; a line that is not whole, of a process that was killed, is cut off. */
export class LineFile {
  readonly #file: FileHandle;
  #end: number;
  #pending: string[] = [];
  #size = 0;

  private constructor(file: FileHandle, end: number) {
    this.#file = file;
    this.#end = end;
  }

  /** Opens it, and gives its last line. */
  static async open(path: string): Promise<{ file: LineFile; last: string | undefined }> {
    const file = await open(path, 'a+', 0o600);
    const size = (await file.stat()).size;
    const end = await lineEnd(file, size);
    if (end < size) await file.truncate(end);
    if (end === 0) return { file: new LineFile(file, 0), last: undefined };
    const start = await lineEnd(file, end - 1);
    const bytes = Buffer.alloc(end - 1 - start);
    await file.read(bytes, 0, bytes.length, start);
    return { file: new LineFile(file, end), last: bytes.toString() };
  }

  /** Adds a line; {@link write} writes it. */
  push(line: string): void {
    this.#pending.push(line);
    this.#size += line.length;
  }

  /** There is so much to be written that it should be now. */
  get isFull(): boolean {
    return this.#size > FULL;
  }

  async write(): Promise<void> {
    if (this.#pending.length === 0) return;
    const bytes = Buffer.from(`${this.#pending.join('\n')}\n`);
    [this.#pending, this.#size] = [[], 0];
    await this.#file.appendFile(bytes);
    this.#end += bytes.length;
  }

  get bytes(): number {
    return this.#end;
  }

  /** Writes what is pending, and waits for the disk. */
  async sync(): Promise<void> {
    await this.write();
    await this.#file.sync();
  }

  /** What is pending is given up. */
  async close(): Promise<void> {
    await this.#file.close();
  }
}

/** Behind the last newline before `end`; 0: there is none. */
async function lineEnd(file: FileHandle, end: number): Promise<number> {
  const piece = Buffer.alloc(PIECE);
  for (let to = end; to > 0; ) {
    const from = Math.max(0, to - PIECE);
    const { bytesRead } = await file.read(piece, 0, to - from, from);
    const at = piece.subarray(0, bytesRead).lastIndexOf(0x0a);
    if (at >= 0) return from + at + 1;
    to = from;
  }
  return 0;
}

/** The lines of a file from an offset on, some at a time, each with the offset behind it. */
export async function* linesFrom(
  path: string,
  start: number,
  batch: number,
): AsyncGenerator<{ lines: string[]; end: number }, void, undefined> {
  let [lines, end, rest, size]: [string[], number, Buffer[], number] = [[], start, [], 0];
  // Not by `readline`, which takes U+2028 for the end of a line too.
  for await (const chunk of createReadStream(path, { start, highWaterMark: 1 << 20 })) {
    const bytes = chunk as Buffer;
    let from = 0;
    for (let at = bytes.indexOf(0x0a); at >= 0; at = bytes.indexOf(0x0a, from)) {
      const line = Buffer.concat([...rest, bytes.subarray(from, at)]);
      [rest, from, end] = [[], at + 1, end + line.length + 1];
      lines.push(line.toString());
      size += line.length;
      if (lines.length === batch || size > FULL) {
        yield { lines, end };
        [lines, size] = [[], 0];
      }
    }
    if (from < bytes.length) rest.push(bytes.subarray(from));
  }
  if (lines.length > 0) yield { lines, end };
}
