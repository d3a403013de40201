/** A connection in between, on loopback, which can go without a word: nothing more comes through it, and it is not closed. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export class TcpProxy {
  readonly #server: Server;
  /** Each connection, and the one behind it. */
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  /** The port behind it, for connections that are made from now on. */
  target: number;
  /** Whether connections that are made from now on bring anything. */
  isSilent = false;
  /** Bytes of a second that come back through a connection that is made from now on. Default any. */
  rate = Number.POSITIVE_INFINITY;
  /** Connections that were made. */
  made = 0;
  /** Connections that were silent when they were made. */
  silent = 0;

  private constructor(server: Server, target: number) {
    this.#server = server;
    this.target = target;
  }

  static async open(target: number): Promise<TcpProxy> {
    const server = createServer();
    const proxy = new TcpProxy(server, target);
    server.on('connection', (socket) => proxy.#forward(socket));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The connections that there are bring nothing any more. */
  silence(): void {
    for (const [near, far] of this.#pairs) {
      near.unpipe(far).resume();
      far.unpipe(near).resume();
    }
  }

  /** Nor do those that are made from now on. */
  silenceAll(): void {
    this.isSilent = true;
    this.silence();
  }

  /** All connections end. */
  cut(): void {
    for (const pair of this.#pairs) for (const one of pair) one.destroy();
  }

  close(): void {
    this.cut();
    this.#server.close();
  }

  #forward(near: Socket): void {
    near.on('error', () => {});
    this.made += 1;
    if (this.isSilent) {
      this.silent += 1;
      near.resume();
      this.#pairs.add([near, near]);
      return;
    }
    const far = connect(this.target, '127.0.0.1');
    far.on('error', () => {});
    const pair = [near, far] as const;
    this.#pairs.add(pair);
    near.pipe(far);
    const { rate } = this;
    if (rate === Number.POSITIVE_INFINITY) far.pipe(near);
    else {
      far.on('data', (data) => {
        near.write(data);
        far.pause();
        setTimeout(() => far.resume(), (1000 * data.length) / rate);
      });
    }
    for (const one of pair) {
      one.on('close', () => {
        this.#pairs.delete(pair);
        for (const each of pair) each.destroy();
      });
    }
  }
}
