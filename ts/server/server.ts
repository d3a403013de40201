/** The server: requests to routes, within limits, until it is asked to end. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Bodies } from './body';
import type { Engine } from './engine';
import { type Guard, guarded } from './guard';
import type { Limits } from './limits';
import { Metrics } from './metrics';
import { page } from './openapi';
import { Problem, problemOf, unavailable } from './problem';
import { type Answer, type Call, JSON_TYPE, ROUTES, type Route } from './routes';

export interface ServerOptions {
  readonly host: string;
  readonly port: number;
  readonly guard: Guard;
  readonly limits: Limits;
  /** Of the package, for the page of the API. */
  readonly version: string;
  /** Told of what nobody expected, with the path of the route; no text is in it. */
  readonly onDefect: (route: string, error: unknown) => void;
}

export class HttpServer {
  readonly #options: ServerOptions;
  readonly #server: Server;
  readonly #bodies: Bodies;
  readonly #metrics = new Metrics();
  readonly #routes = new Map(ROUTES.map((route) => [`${route.method} ${route.path}`, route]));
  #engine: Engine | undefined;
  #isDraining = false;
  #refused = 0;
  #connections = 0;

  constructor(options: ServerOptions) {
    this.#options = options;
    const { connections, headerTime, requestTime } = options.limits;
    this.#bodies = new Bodies(options.limits);
    this.#server = createServer(
      {
        headersTimeout: headerTime,
        requestTimeout: requestTime,
        keepAliveTimeout: 75_000,
        // How often the two limits above are looked at.
        connectionsCheckingInterval: Math.min(1000, headerTime),
        requireHostHeader: true,
      },
      (request, response) => void this.#answer(request, response),
    );
    this.#server.maxConnections = connections;
    this.#server.on('drop', () => (this.#refused += 1));
    this.#server.on('connection', (socket) => {
      this.#connections += 1;
      socket.on('close', () => (this.#connections -= 1));
    });
  }

  /** Listens; until an index is there, requests that need one are told that it is being opened. */
  async listen(): Promise<AddressInfo> {
    const { host, port } = this.#options;
    this.#server.listen(port, host);
    await once(this.#server, 'listening');
    return this.#server.address() as AddressInfo;
  }

  /** The index is open. */
  serve(engine: Engine): void {
    this.#engine = engine;
  }

  /**
   * Takes no more connections and no more requests, and answers those under way, for as long as the limits allow. The index is closed by
   * whoever opened it.
   */
  async drain(): Promise<void> {
    this.#isDraining = true;
    const closed = new Promise<void>((done) => this.#server.close(() => done()));
    this.#server.closeIdleConnections();
    const late = setTimeout(
      () => this.#server.closeAllConnections(),
      this.#options.limits.drainTime,
    );
    // A connection whose answer went out just now is idle a moment later.
    const idle = setInterval(() => this.#server.closeIdleConnections(), 50);
    await closed;
    clearTimeout(late);
    clearInterval(idle);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const start = performance.now();
    const [path = ''] = (request.url ?? '').split('?');
    const route = this.#routes.get(`${request.method} ${path}`);
    let answer: Answer & { readonly headers?: Readonly<Record<string, string>> };
    try {
      guarded(request, route, this.#options.guard);
      answer = await this.#run(request, route ?? this.#missing(path));
    } catch (error) {
      const problem = problemOf(error);
      const { status, headers } = problem;
      if (status === 500) this.#options.onDefect(route?.path ?? 'none', error);
      answer = { status, headers, body: JSON.stringify(problem) };
    }
    const { status = 200, type = JSON_TYPE, body, headers = {} } = answer;
    if (!response.destroyed) {
      response.writeHead(status, {
        'Content-Type': type,
        'Content-Length': Buffer.byteLength(body),
        'Cache-Control': 'no-store',
        'X-Content-Type-Options': 'nosniff',
        ...(this.#isDraining && { Connection: 'close' }),
        ...headers,
      });
      this.#ends(response);
      response.end(body);
      if (!request.complete) this.#discard(request);
    }
    this.#metrics.answered(route?.path ?? 'none', status, (performance.now() - start) / 1000);
  }

  async #run(request: IncomingMessage, route: Route): Promise<Answer> {
    if (this.#isDraining && route.path !== '/health' && route.path !== '/ready') {
      throw unavailable('draining', 'the server is about to end');
    }
    const engine = this.#engine;
    if (engine === undefined && route.early !== true) {
      throw unavailable('opening', 'the index is being opened');
    }
    const body = await this.#bodies.read(request, route);
    const call: Call = {
      // Routes that do without it are marked as such.
      engine: engine as Engine,
      limits: this.#options.limits,
      reasons: () => this.#reasons(),
      page: () => page(this.#options.version),
      metrics: () => this.#measured(),
      counted: (decided) => this.#metrics.decided(decided),
    };
    return route.run(call, body);
  }

  async #reasons(): Promise<readonly string[]> {
    if (this.#isDraining) return ['draining'];
    return this.#engine === undefined ? ['opening'] : await this.#engine.reasons();
  }

  async #measured(): Promise<string> {
    const reasons = await this.#reasons();
    return this.#metrics.text({
      simhash_ready: reasons.length === 0 ? 1 : 0,
      simhash_connections: this.#connections,
      simhash_connections_refused_total: this.#refused,
      ...this.#engine?.gauges(),
    });
  }

  /** Ends the connection of a client that does not take an answer: it holds memory, and its connection, for as long as it likes. */
  #ends(response: ServerResponse): void {
    const { requestTime } = this.#options.limits;
    const ended = () => {
      // Behind the answer to a request before it, it has no connection yet.
      if (response.socket === null) late = setTimeout(ended, requestTime).unref();
      else response.socket.destroy();
    };
    let late = setTimeout(ended, requestTime).unref();
    // `finish`: the system has all of it.
    for (const event of ['finish', 'close']) response.on(event, () => clearTimeout(late));
  }

  /** Reads on for a while what is answered already, so that the client sees the answer; beyond a limit the connection ends. */
  #discard(request: IncomingMessage): void {
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > this.#options.limits.body) request.socket.destroy();
    });
    request.on('error', () => {});
  }

  #missing(path: string): never {
    const methods = ROUTES.filter((route) => route.path === path).map(({ method }) => method);
    if (methods.length === 0) throw new Problem(404, 'not-found', 'there is no such route');
    const allow = methods.join(', ');
    throw new Problem(405, 'wrong-method', `this route takes ${allow}`, { Allow: allow });
  }
}
