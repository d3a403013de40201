/** Where a command's data goes: standard output as it comes, or a file that appears whole or not at all. */
import {
  chmodSync,
  closeSync,
  fsyncSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { OutputError, UsageError } from './exit';
import { GzipOutput, isGzip } from './gzip';
import { PipeOutput } from './pipe';
import type { Terminal } from './terminal';

export interface Output {
  write(data: string | Uint8Array): Promise<void>;
  /** Everything is written: the file appears. */
  commit(): Promise<void>;
  /** Nothing is to appear, unless `commit` came before. */
  discard(): void;
}

/**
 * Opens an output; `-` is standard output, a name that ends in `.gz` is compressed. The signal ends a wait for a reader.
 *
 * @throws UsageError where the file is also an input.
 */
export function openOutput(
  name: string,
  inputs: readonly string[],
  terminal: Terminal,
  signal?: AbortSignal,
): Output {
  if (name === '-') {
    return {
      write: (data) => terminal.write(data, signal),
      commit: async () => {},
      discard: () => {},
    };
  }
  checkDistinct(name, inputs);
  const output = about(name)?.isFIFO()
    ? new PipeOutput(name, signal)
    : new FileOutput(name, terminal);
  return isGzip(name) ? new GzipOutput(output) : output;
}

/** @throws UsageError where a file that would be replaced is also read. */
export function checkDistinct(output: string, inputs: readonly string[]): void {
  const target = about(output);
  if (target?.isFile() !== true) return;
  for (const input of inputs) {
    const source = input === '-' ? undefined : about(input);
    if (source?.ino === target.ino && source.dev === target.dev) {
      throw new UsageError(`${output} is an input, and would be replaced`);
    }
  }
}

/** Drafts of this process so far: several outputs may have one target, one after the other. */
let drafts = 0;

/**
 * A file in the making: written under another name in the folder of its target, moved over it by `commit`, with the
 * permissions of the file that it replaces. The name is removed if the process ends before; where it was killed, by the next
 * draft of the same target on this host.
 */
export class Draft {
  readonly path: string;
  readonly #name: string;
  readonly #target: string;
  readonly #mode: number | undefined;
  readonly #onExit = () => this.discard();

  /** @throws OutputError where something else than a file has the name, or its folder does not exist. */
  constructor(name: string, terminal: Terminal) {
    this.#name = name;
    const existing = about(name);
    if (existing?.isFile() === false) throw new OutputError(name, new Error('not a file'));
    // A link keeps pointing at its file, whose content is what is replaced.
    this.#target = existing === undefined ? name : attempt(name, () => realpathSync(name));
    this.#mode = existing && existing.mode & 0o7777;
    const folder = dirname(this.#target);
    const around = attempt(name, () => statSync(folder, { throwIfNoEntry: false }));
    if (around?.isDirectory() !== true) {
      throw new OutputError(name, new Error(`there is no folder ${folder}; make it first`));
    }
    const mine = draftsOf(this.#target);
    for (const path of sweep(folder, mine))
      terminal.say(`removed ${path}, which a killed run had left`);
    this.path = join(folder, `${mine}${process.pid}-${drafts++}.tmp`);
    process.on('exit', this.#onExit);
  }

  commit(): void {
    attempt(this.#name, () => {
      if (this.#mode !== undefined) chmodSync(this.path, this.#mode);
      sync(this.path, 'r+');
      renameSync(this.path, this.#target);
      // Makes the rename durable; where folders cannot be opened, the file system orders it itself.
      if (process.platform !== 'win32') sync(dirname(this.#target), 'r');
    });
    process.off('exit', this.#onExit);
  }

  discard(): void {
    process.off('exit', this.#onExit);
    rmSync(this.path, { force: true });
  }
}

/** What the names of drafts of this target on this host begin with; a process id follows. */
function draftsOf(target: string): string {
  // Names have at most 255 bytes.
  const [name, host] = [basename(target), hostname()].map((part) =>
    [...part].slice(0, 40).join(''),
  );
  return `.${name}.simhash-${host}-`;
}

/** Removes the drafts of processes that are no more. */
function sweep(folder: string, mine: string): string[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    // A folder that cannot be listed can be written to all the same.
    return [];
  }
  const left = names.filter((name) => {
    const pid = name.startsWith(mine)
      ? /^(\d+)-\d+\.tmp$/.exec(name.slice(mine.length))?.[1]
      : undefined;
    return pid !== undefined && !isAlive(Number(pid));
  });
  const paths = left.map((name) => join(folder, name));
  for (const path of paths) rmSync(path, { force: true });
  return paths;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

class FileOutput implements Output {
  readonly #name: string;
  readonly #file: number;
  readonly #draft: Draft | undefined;
  #open = true;

  constructor(name: string, terminal: Terminal) {
    this.#name = name;
    const existing = about(name);
    // A device is written to directly: replacing it by a file would not be what was meant.
    this.#draft =
      existing === undefined || existing.isFile() ? new Draft(name, terminal) : undefined;
    // Not readable by others before it has the permissions of the file that it replaces.
    const mode = existing?.isFile() ? 0o600 : undefined;
    this.#file = attempt(name, () => openSync(this.#draft?.path ?? name, 'w', mode));
  }

  async write(data: string | Uint8Array): Promise<void> {
    // What was still on its way when everything was given up.
    if (!this.#open) return;
    attempt(this.#name, () => {
      let bytes = typeof data === 'string' ? Buffer.from(data) : data;
      while (bytes.length > 0) bytes = bytes.subarray(writeSync(this.#file, bytes));
    });
  }

  async commit(): Promise<void> {
    this.#close();
    this.#draft?.commit();
  }

  discard(): void {
    this.#close();
    this.#draft?.discard();
  }

  #close(): void {
    if (this.#open) closeSync(this.#file);
    this.#open = false;
  }
}

/** What is there; nothing where that cannot be seen, and then opening it says why. */
function about(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

function sync(path: string, flags: string): void {
  const file = openSync(path, flags);
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** @throws OutputError where `work` fails. */
function attempt<T>(name: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw new OutputError(name, cause);
  }
}
