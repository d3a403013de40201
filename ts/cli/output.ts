/** Where a command's data goes: standard output as it comes, or a file that appears whole or not at all. */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
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
  const output = about(name)?.isFIFO() ? new PipeOutput(name, signal) : new FileOutput(name);
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

/**
 * A file in the making: written under another name in the folder of its target, moved over it by `commit`. The name is
 * removed if the process ends before.
 */
export class Draft {
  readonly path: string;
  readonly #name: string;
  readonly #target: string;
  readonly #onExit = () => this.discard();

  /** @throws OutputError where something else than a file has the name, or its folder does not exist. */
  constructor(name: string) {
    this.#name = name;
    const existing = about(name);
    if (existing?.isFile() === false) throw new OutputError(name, new Error('not a file'));
    // A link keeps pointing at its file, whose content is what is replaced.
    this.#target = existing === undefined ? name : attempt(name, () => realpathSync(name));
    const unique = randomBytes(6).toString('hex');
    const folder = dirname(this.#target);
    const around = attempt(name, () => statSync(folder, { throwIfNoEntry: false }));
    if (around?.isDirectory() !== true) {
      throw new OutputError(name, new Error(`there is no folder ${folder}; make it first`));
    }
    this.path = join(folder, `.simhash-${unique}.tmp`);
    process.on('exit', this.#onExit);
  }

  commit(): void {
    attempt(this.#name, () => {
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

class FileOutput implements Output {
  readonly #name: string;
  readonly #file: number;
  readonly #draft: Draft | undefined;
  #open = true;

  constructor(name: string) {
    this.#name = name;
    const existing = about(name);
    // A device is written to directly: replacing it by a file would not be what was meant.
    this.#draft = existing === undefined || existing.isFile() ? new Draft(name) : undefined;
    this.#file = attempt(name, () => openSync(this.#draft?.path ?? name, 'w'));
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
