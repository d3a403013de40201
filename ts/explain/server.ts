/**
 * The page of two texts, served to a browser of this machine by the command that opened it, which ends with it.
 *
 * On loopback alone. The page itself says nothing, and whoever names this server gets it; what it asks for needs the token, which it has from
 * the fragment of its address and no request line shows, and comes from no page of somebody else: `Host` and `Origin` are this server's.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { comparing } from '../server/token';
import type { PairTold } from './told';

/** Bytes of a request with two texts. */
const MOST = 8 << 20;
/** Milliseconds for a page that is loaded again to be back. */
const BACK = 1_500;

export interface PairOptions {
  readonly page: string;
  /** What stands in the fields first. */
  readonly texts: { readonly a?: string; readonly b?: string };
  /** What it throws is told in the page. */
  readonly compare: (a: string, b: string) => PairTold;
  readonly signal: AbortSignal;
}

export interface PairServer {
  /** With the token. */
  readonly url: string;
  /** Until the page has gone, the signal came, or it was ended. */
  readonly closed: Promise<void>;
  readonly end: () => void;
}

/** Begins to listen, at any free port. */
export async function serve({ page, texts, compare, signal }: PairOptions): Promise<PairServer> {
  const token = randomBytes(24).toString('base64url');
  const hasToken = comparing({ value: token, isGenerated: true });
  const server = createServer({ requestTimeout: 10_000 }, (request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.listen({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
  let pages = 0;
  let leaving: NodeJS.Timeout | undefined;
  const end = () => {
    clearTimeout(leaving);
    server.close();
    server.closeAllConnections();
  };
  const closed = once(server, 'close').then(() => signal.removeEventListener('abort', end));
  signal.addEventListener('abort', end);
  // It may have come while this began to listen.
  if (signal.aborted) end();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { host = '', origin, authorization, 'sec-fetch-site': site = 'none' } = request.headers;
    if (!hosts.includes(host)) return told(response, 421, 'Host is not a name of this server');
    // It holds no secret, and the file that a browser is given is another site.
    if (request.method === 'GET' && request.url === '/') {
      return send(response, 200, 'text/html; charset=utf-8', page);
    }
    const isOwn = origin === undefined || origin === `http://${host}`;
    if (!isOwn || (site !== 'none' && site !== 'same-origin')) {
      return told(response, 403, 'requests of other pages are not answered');
    }
    if (!hasToken(authorization)) {
      return told(response, 401, 'open the address that the command printed');
    }
    switch (`${request.method} ${request.url}`) {
      case 'GET /alive':
        return stay(response);
      case 'GET /texts':
        return send(response, 200, JSON_TYPE, JSON.stringify(texts));
      case 'POST /compare': {
        const given = await read(request);
        if (given === undefined) return told(response, 413, `more than ${MOST >> 20} MiB of text`);
        return compared(response, given);
      }
      default:
        return told(response, 404, 'there is nothing here');
    }
  }

  function compared(response: ServerResponse, body: string): void {
    try {
      const { a, b }: { readonly a?: unknown; readonly b?: unknown } = JSON.parse(body);
      if (typeof a !== 'string' || typeof b !== 'string') throw new Error('two texts are needed');
      send(response, 200, JSON_TYPE, JSON.stringify(compare(a, b)));
    } catch (error) {
      told(response, 400, (error as Error).message);
    }
  }

  /** A page is there until this connection closes. */
  function stay(response: ServerResponse): void {
    pages++;
    clearTimeout(leaving);
    response.writeHead(200, { 'content-type': 'text/plain', 'cache-control': 'no-store' });
    response.flushHeaders();
    response.on('close', () => {
      if (--pages === 0) leaving = setTimeout(end, BACK);
    });
  }

  return { url: `http://127.0.0.1:${port}/#${token}`, closed, end };
}

const JSON_TYPE = 'application/json';

function told(response: ServerResponse, status: number, error: string): void {
  send(response, status, JSON_TYPE, JSON.stringify({ error }));
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
  });
  response.end(body);
}

/** The body; `undefined` where it is too long: the rest is read and forgotten, so that the answer arrives. */
async function read(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += (chunk as Buffer).length;
    if (bytes <= MOST) chunks.push(chunk as Buffer);
  }
  if (bytes > MOST) return undefined;
  return Buffer.concat(chunks).toString('utf8');
}
