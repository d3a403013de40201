/**
 * A server of MongoDB's protocol for tests (`mongo-server/`), which is built once and kept in `node_modules/.cache`. It needs Go;
 * without it the tests that ask for a server say what they skip.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const SOURCE = join(__dirname, 'mongo-server');
const CACHE = join(__dirname, '..', 'node_modules', '.cache', 'mongo-server');

/** Why there is no server of our own; `undefined`: there is. */
export const missing: string | undefined = (() => {
  try {
    execFileSync('go', ['version'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'MongoDB: skipped, a server is built with Go (https://go.dev), which is not installed';
  }
})();

/** The program, built where it is not there yet. */
function program(): string {
  const files = ['main.go', 'go.mod', 'go.sum'].map((name) => readFileSync(join(SOURCE, name)));
  const name = createHash('sha256').update(Buffer.concat(files)).digest('hex').slice(0, 16);
  const path = join(CACHE, name);
  if (existsSync(path)) return path;
  mkdirSync(CACHE, { recursive: true });
  const made = `${path}.${process.pid}`;
  const flags = ['-tags', 'ferretdb_no_postgresql', '-trimpath', '-ldflags', '-s -w'];
  const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false' };
  const options = { cwd: SOURCE, env, stdio: ['ignore', 'ignore', 'inherit'] } as const;
  execFileSync('go', ['build', ...flags, '-o', made, '.'], options);
  // Another process may have built it meanwhile: it is the same.
  renameSync(made, path);
  return path;
}

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
