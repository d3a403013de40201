/** A server of Redis on loopback, with a port and a folder of its own; it writes every entry to the disk before it says so. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Why there is none. */
export const missing =
  spawnSync('redis-server', ['--version']).status === 0
    ? undefined
    : 'tests of the log over Redis are skipped: redis-server is not installed (apt-get install redis-server)';

// Reporters do not name what is skipped.
if (missing !== undefined) console.warn(missing);

export class RedisServer {
  readonly #folder = mkdtempSync(join(tmpdir(), 'redis-server-'));
  readonly port: number;
  #child: ChildProcess | undefined;

  private constructor(port: number) {
    this.port = port;
  }

  static async open(): Promise<RedisServer> {
    const free = createServer().listen(0, '127.0.0.1');
    await once(free, 'listening');
    const address = free.address();
    free.close();
    if (address === null || typeof address === 'string') throw new Error('no port');
    const server = new RedisServer(address.port);
    await server.start();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const options = `--port ${this.port} --bind 127.0.0.1 --appendonly yes --appendfsync always`;
    const args = [...options.split(' '), '--save', '', '--dir', this.#folder];
    this.#child = spawn('redis-server', args, { stdio: 'ignore' });
    while (!(await this.#answers())) await sleep(20);
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

  /** Whether it has read what it kept. */
  #answers(): Promise<boolean> {
    return new Promise((done) => {
      const socket = connect(this.port, '127.0.0.1');
      socket.on('error', () => done(false));
      socket.on('connect', () => socket.write('PING\r\n'));
      socket.on('data', (data) => {
        socket.destroy();
        done(String(data).startsWith('+PONG'));
      });
    });
  }
}
