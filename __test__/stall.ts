/** A way to a server that can be stopped: from then on nothing goes through, and nothing is closed. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export class Stall {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isStopped = false;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** Before a server of this machine. */
  static async before(port: number): Promise<Stall> {
    const server = createServer();
    const stall = new Stall(server);
    server.on('connection', (from) => {
      const to = connect(port, '127.0.0.1');
      for (const [one, other] of [
        [from, to],
        [to, from],
      ] as const) {
        stall.#sockets.add(one);
        one.on('data', (bytes) => {
          if (!stall.#isStopped) other.write(bytes);
        });
        one.on('error', () => {}).on('close', () => other.destroy());
      }
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return stall;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Nothing goes through any more. */
  stop(): void {
    this.#isStopped = true;
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}
