/** A server of Redis on loopback, with a port and a folder of its own; it writes every entry to the disk before it says so. */
import { spawn, spawnSync } from 'node:child_process';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, ServerProcess } from './server-process';

/** Why there is none. */
export const missing =
  spawnSync('redis-server', ['--version']).status === 0
    ? undefined
    : 'tests of the log over Redis are skipped: redis-server is not installed (apt-get install redis-server)';

// Reporters do not name what is skipped.
if (missing !== undefined) console.warn(missing);

export class RedisServer extends ServerProcess {
  readonly #options: readonly string[];

  private constructor(port: number, options: readonly string[]) {
    super('redis-server', port);
    this.#options = options;
  }

  /** `options` of the program, for example `--requirepass`. */
  static async open(options: readonly string[] = []): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), options);
    await server.start();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const options = `--port ${this.port} --bind 127.0.0.1 --appendonly yes --appendfsync always`;
    const args = [...options.split(' '), '--save', '', '--dir', this.folder, ...this.#options];
    this.child = spawn('redis-server', args, { stdio: 'ignore' });
    while (!(await this.#answers())) await sleep(20);
  }

  /** Whether it has read what it kept. */
  #answers(): Promise<boolean> {
    return new Promise((done) => {
      const socket = connect(this.port, '127.0.0.1');
      socket.on('error', () => done(false));
      socket.on('connect', () => socket.write('PING\r\n'));
      socket.on('data', (data) => {
        socket.destroy();
        done(String(data).startsWith('+PONG') || String(data).startsWith('-NOAUTH'));
      });
    });
  }
}
