/**
 * Who may ask: requests that name this server and come from no web page, with the token. A page in somebody's browser can reach a server on
 * loopback, by its address or by a name of its own that it lets point there; `Origin` betrays the one, `Host` the other.
 */
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { Problem } from './problem';
import type { Route } from './routes';

const LOOPBACK: readonly string[] = ['localhost', '127.0.0.1', '::1'];

export interface Guard {
  /** Names of this server, beside the addresses that requests come to. */
  readonly hosts: ReadonlySet<string>;
  readonly hasToken: (authorization: string | undefined) => boolean;
}

/** The names that a server is called by. */
export const hostsOf = (host: string, others: readonly string[]): ReadonlySet<string> =>
  new Set([...LOOPBACK, host, ...others].map((name) => name.toLowerCase()));

/** @throws Problem where the request may not be answered. */
export function guarded(request: IncomingMessage, route: Route | undefined, guard: Guard): void {
  const { host, origin, authorization, 'sec-fetch-site': site } = request.headers;
  if (!isOurs(nameOf(host), request, guard)) {
    throw new Problem(421, 'wrong-host', 'Host is not a name of this server: see --allow-host');
  }
  if (origin !== undefined || site === 'cross-site' || site === 'same-site') {
    throw new Problem(403, 'from-a-page', 'requests of web pages are not answered');
  }
  if (route?.open !== true && !guard.hasToken(authorization)) {
    throw new Problem(401, 'no-token', 'the header Authorization must be: Bearer TOKEN', {
      'WWW-Authenticate': 'Bearer',
    });
  }
}

/** `[::1]:80` -> `::1`. */
function nameOf(host = ''): string {
  const [, bracketed, name] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(host) ?? [];
  return (bracketed ?? name ?? '').toLowerCase();
}

function isOurs(name: string, { socket }: IncomingMessage, { hosts }: Guard): boolean {
  if (hosts.has(name)) return true;
  // An address cannot be made to point elsewhere; that of this end is right.
  const own = socket.localAddress?.replace(/^::ffff:/, '');
  return isIP(name) !== 0 && name === own;
}

/** Whether an address is reached from this machine alone. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
