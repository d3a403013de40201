/**
 * A server of MongoDB's protocol for tests (`mongo-server/`), which is built once and kept in `node_modules/.cache`. It needs Go;
 * without it the tests that ask for a server say what they skip.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { missing, program } from './mongo-server/program.mjs';
import { freePort, ServerProcess } from './server-process';

export { missing };

// Reporters do not name what is skipped.
if (missing !== undefined) console.warn(missing);

export class MongoServer extends ServerProcess {
  static async open(): Promise<MongoServer> {
    const server = new MongoServer('mongo-server', await freePort());
    await server.start();
    return server;
  }

  get uri(): string {
    return `mongodb://127.0.0.1:${this.port}/?serverSelectionTimeoutMS=60000`;
  }

  /** The address of a collection. */
  at(name: string): string {
    return `mongodb://127.0.0.1:${this.port}/${name}?serverSelectionTimeoutMS=60000`;
  }

  async start(): Promise<void> {
    const args = ['-dir', this.folder, '-listen', `127.0.0.1:${this.port}`, '-stdin'];
    const child = spawn(program(), args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.child = child;
    await once(createInterface({ input: child.stdout }), 'line');
  }
}
