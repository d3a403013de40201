/** Named pipes: opened and written so that whoever is at the other end never holds up an abort. */
import { addAbortListener, once } from 'node:events';
import { closeSync, constants, open, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { finished } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { codeOf, OutputError } from './exit';

type Signal = AbortSignal | undefined;

const { O_NONBLOCK, O_WRONLY } = constants;
/** Between two looks for the other end. */
const POLL_MS = 10;

/** A pipe to be read. A read of it as a file would block a thread of Node until somebody writes; a socket can be given up. */
export async function openReader(name: string, signal: Signal): Promise<Socket> {
  signal?.throwIfAborted();
  const opening = promisify(open)(name, 'r');
  let waking: NodeJS.Timeout | undefined;
  // Opening waits for a writer, in a thread that the end of the process would wait for: an abort is that writer.
  const listener =
    signal &&
    addAbortListener(signal, () => {
      waking = setInterval(() => wake(name), POLL_MS);
    });
  try {
    const fd = await opening;
    if (signal?.aborted) closeSync(fd);
    signal?.throwIfAborted();
    return new Socket({ fd, readable: true, writable: false });
  } finally {
    clearInterval(waking);
    listener?.[Symbol.dispose]();
  }
}

function wake(name: string): void {
  try {
    closeSync(openSync(name, O_WRONLY | O_NONBLOCK));
  } catch {
    // Nobody waits at the other end yet.
  }
}

/** A pipe to be written. */
export class PipeOutput {
  readonly #name: string;
  readonly #signal: Signal;
  #opening: Promise<Socket> | undefined;
  #socket: Socket | undefined;
  #failed: Error | undefined;
  #discarded = false;

  constructor(name: string, signal: Signal) {
    this.#name = name;
    this.#signal = signal;
  }

  async write(data: string | Uint8Array): Promise<void> {
    const socket = await this.#open();
    // The reader has gone: nothing drains any more.
    if (this.#failed !== undefined) throw new OutputError(this.#name, this.#failed);
    if (!socket.write(data)) await this.#attempt(once(socket, 'drain', { signal: this.#signal }));
  }

  async commit(): Promise<void> {
    const socket = await this.#open();
    await this.#attempt(finished(socket.end(), { readable: false, signal: this.#signal }));
  }

  discard(): void {
    this.#discarded = true;
    this.#socket?.destroy();
  }

  #open(): Promise<Socket> {
    this.#opening ??= this.#opened();
    return this.#opening;
  }

  async #opened(): Promise<Socket> {
    while (!this.#discarded) {
      try {
        // Without blocking: it fails while nobody reads.
        const fd = openSync(this.#name, O_WRONLY | O_NONBLOCK);
        this.#socket = new Socket({ fd, readable: false, writable: true });
        this.#socket.on('error', (error) => {
          this.#failed = error;
        });
        return this.#socket;
      } catch (cause) {
        if (codeOf(cause) !== 'ENXIO') throw new OutputError(this.#name, cause);
      }
      await setTimeout(POLL_MS, undefined, { signal: this.#signal });
    }
    throw new OutputError(this.#name, new Error('it was given up before anybody read it'));
  }

  async #attempt(writing: Promise<unknown>): Promise<void> {
    try {
      await writing;
    } catch (cause) {
      this.#signal?.throwIfAborted();
      throw new OutputError(this.#name, this.#failed ?? cause);
    }
  }
}
