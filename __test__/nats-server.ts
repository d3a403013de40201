/** A server of NATS with JetStream on loopback, with a port and a folder of its own. */
import { spawn, spawnSync } from 'node:child_process';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, ServerProcess } from './server-process';

/** Debian has it where only its administrator looks. */
const PROGRAM = ['nats-server', '/usr/sbin/nats-server'].find(
  (name) => spawnSync(name, ['--version']).status === 0,
);

/** Why there is none. */
export const missing =
  PROGRAM !== undefined
    ? undefined
    : 'tests of the log over NATS are skipped: nats-server is not installed (apt-get install nats-server)';

// Reporters do not name what is skipped.
if (missing !== undefined) console.warn(missing);

export class NatsServer extends ServerProcess {
  readonly #options: readonly string[];

  private constructor(port: number, options: readonly string[]) {
    super('nats-server', port);
    this.#options = options;
  }

  /** `options` of the program, for example `--user`. */
  static async open(options: readonly string[] = []): Promise<NatsServer> {
    const server = new NatsServer(await freePort(), options);
    await server.start();
    return server;
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const args = ['-a', '127.0.0.1', '-p', `${this.port}`, '-js', '-sd', this.folder];
    this.child = spawn(PROGRAM ?? '', [...args, ...this.#options], { stdio: 'ignore' });
    while (!(await this.#answers())) await sleep(20);
  }

  /** Servers of one cluster, of which the first ones are started. */
  static async cluster(count: number, started = count): Promise<NatsServer[]> {
    const ports = await Promise.all(Array.from({ length: count }, freePort));
    const routes = ports.map((port) => `nats://127.0.0.1:${port}`);
    const options = ['--cluster_name', 'tests', '--routes', routes.join(',')];
    const servers = await Promise.all(
      routes.map(async (route, at) => {
        const own = [...options, '--cluster', route, '-n', `n${at}`];
        return new NatsServer(await freePort(), own);
      }),
    );
    await Promise.all(servers.slice(0, started).map((server) => server.start()));
    return servers;
  }

  /** Whether it has read what it kept: it takes connections then. */
  #answers(): Promise<boolean> {
    return new Promise((done) => {
      const socket = connect(this.port, '127.0.0.1');
      socket.on('error', () => done(false));
      socket.on('data', (data) => {
        socket.destroy();
        done(String(data).startsWith('INFO'));
      });
    });
  }
}
