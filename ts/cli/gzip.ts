/** Gzip: outputs whose name asks for it, and what is wrong with an input. */
import { once } from 'node:events';
import { createGzip, type Gunzip } from 'node:zlib';
import type { Output } from './output';

/** Byte of the header that names the operating system, and its value for none: the bytes are the same everywhere. */
const SYSTEM = { at: 9, unknown: 255 };

export function isGzip(name: string): boolean {
  return /\.gz$/i.test(name);
}

/** Compresses what goes to another output, as one member without name and time. */
export class GzipOutput implements Output {
  readonly #gzip = createGzip();
  readonly #to: Output;
  readonly #passing: Promise<void>;

  constructor(to: Output) {
    this.#to = to;
    this.#gzip.on('error', () => {});
    this.#passing = this.#pass();
    // Told by `write` and `commit`.
    this.#passing.catch(() => {});
  }

  async write(data: string | Uint8Array): Promise<void> {
    if (data.length === 0 || this.#gzip.write(data)) return;
    await Promise.race([once(this.#gzip, 'drain'), this.#passing]);
  }

  async commit(): Promise<void> {
    this.#gzip.end();
    await this.#passing;
    await this.#to.commit();
  }

  discard(): void {
    this.#gzip.destroy();
    this.#to.discard();
  }

  async #pass(): Promise<void> {
    let first = true;
    for await (const chunk of this.#gzip as AsyncIterable<Buffer>) {
      if (first) chunk[SYSTEM.at] = SYSTEM.unknown;
      first = false;
      await this.#to.write(chunk);
    }
  }
}

/** The same error with the place, where it is one of the decompressor. */
export function located(error: unknown, gunzip: Gunzip): unknown {
  const damaged = error instanceof Error && /^Z_/.test(String((error as { code?: unknown }).code));
  if (!damaged) return error;
  const place = `damaged gzip at byte ${gunzip.bytesWritten}`;
  return new Error(`${place}: ${error.message}`, { cause: error });
}
