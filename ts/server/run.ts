/** A server from its first request to its last: it listens, opens the index, serves, and ends when it is asked to. */
import type { Engine } from './engine';
import { hostsOf } from './guard';
import type { Limits } from './limits';
import { HttpServer } from './server';
import { comparing, type Token } from './token';

export interface Serving {
  readonly host: string;
  readonly port: number;
  readonly hosts: readonly string[];
  readonly token: Token;
  readonly limits: Limits;
  readonly version: string;
  /** Opens the index. */
  readonly open: (signal: AbortSignal) => Promise<Engine>;
  /** Asks it to end. */
  readonly signal: AbortSignal;
  readonly onListening: (url: string) => void;
  readonly onReady: () => void;
  readonly onDefect: (route: string, error: unknown) => void;
}

/** Settles when the last answer is out and the disk has everything. */
export async function serve(serving: Serving): Promise<void> {
  const { host, port, hosts, token, limits, version, signal, onDefect } = serving;
  const guard = { hosts: hostsOf(host, hosts), hasToken: comparing(token) };
  const server = new HttpServer({ host, port, guard, limits, version, onDefect });
  const { address, family, port: own } = await server.listen();
  serving.onListening(`http://${family === 'IPv6' ? `[${address}]` : address}:${own}`);
  let engine: Engine | undefined;
  try {
    engine = await serving.open(signal);
    server.serve(engine);
    serving.onReady();
    await aborted(signal);
  } catch (error) {
    // Asked to end while the index was being opened.
    if (!signal.aborted) throw error;
  } finally {
    await server.drain();
    await engine?.close();
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((done) => signal.addEventListener('abort', () => done(), { once: true }));
}
