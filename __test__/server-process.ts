/** A server that a test starts: on loopback, with a port and a folder of its own. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What it keeps outlives it: killed, it starts again under the same address. */
export abstract class ServerProcess {
  protected readonly folder: string;
  protected child: ChildProcess | undefined;

  protected constructor(
    name: string,
    readonly port: number,
  ) {
    this.folder = mkdtempSync(join(tmpdir(), `${name}-`));
  }

  /** Resolves when it answers. */
  abstract start(): Promise<void>;

  /** SIGKILL. */
  async kill(): Promise<void> {
    const { child } = this;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  /** Keeps a copy of what it has written; it is started again for that. */
  async copy(): Promise<void> {
    await this.kill();
    rmSync(this.#kept, { recursive: true, force: true });
    cpSync(this.folder, this.#kept, { recursive: true });
    await this.start();
  }

  /** Starts again with what the copy has. */
  async restore(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true });
    cpSync(this.#kept, this.folder, { recursive: true });
    await this.start();
  }

  async close(): Promise<void> {
    await this.kill();
    for (const path of [this.folder, this.#kept]) rmSync(path, { recursive: true, force: true });
  }

  get #kept(): string {
    return `${this.folder}-copy`;
  }
}

/** A port that nothing listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
