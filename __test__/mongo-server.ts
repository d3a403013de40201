/**
 * A server of MongoDB's protocol for tests (`mongo-server/`), which is built once and kept in `node_modules/.cache`. It needs Go;
 * without it the tests that ask for a server say what they skip.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { missing, program } from './mongo-server/program.mjs';

export { missing };

// Reporters do not name what is skipped.
if (missing !== undefined) console.warn(missing);

/** A server whose databases outlive it: killed, it starts again under the same address. */
export class MongoServer {
  readonly #folder = mkdtempSync(join(tmpdir(), 'mongo-server-'));
  readonly #port: number;
  #child: ChildProcess | undefined;

  private constructor(port: number) {
    this.#port = port;
  }

  static async open(): Promise<MongoServer> {
    const server = new MongoServer(await freePort());
    await server.start();
    return server;
  }

  get port(): number {
    return this.#port;
  }

  get uri(): string {
    return `mongodb://127.0.0.1:${this.#port}/?serverSelectionTimeoutMS=60000`;
  }

  /** The address of a collection. */
  at(name: string): string {
    return `mongodb://127.0.0.1:${this.#port}/${name}?serverSelectionTimeoutMS=60000`;
  }

  async start(): Promise<void> {
    const args = ['-dir', this.#folder, '-listen', `127.0.0.1:${this.#port}`, '-stdin'];
    const child = spawn(program(), args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#child = child;
    await once(createInterface({ input: child.stdout }), 'line');
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  async close(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true });
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
