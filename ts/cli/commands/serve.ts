import type { SharedState } from '../../connect/log';
import { OPTIONS } from '../../option-table';
import type { Engine } from '../../server/engine';
import { defineCommand } from '../command';
import { codeOf, EXIT, UsageError } from '../exit';
import { Interrupt } from '../interrupt';
import { indexOptionsOf, judged, keeping, limiting, limitsOf, listening } from '../serving';
import { sharedStateLine } from '../shared-state';
import { sharing, sharingOf } from '../sharing';
import { versions } from '../version';

export const serving = defineCommand({
  name: 'serve',
  summary: 'answer checks and searches of one index over HTTP',
  arguments: {
    usage: 'DIR',
    min: 1,
    max: 1,
    help: 'the folder of an index; created if it does not exist',
  },
  options: {
    ...listening,
    ...keeping,
    ...sharing,
    ...limiting,
    ...judged,
    threads: { ...OPTIONS.threads, default: 0 },
    json: { kind: 'flag', help: 'print where it listens as JSON, on standard output' },
    quiet: { kind: 'flag', short: 'q', help: 'no messages, only errors and a generated token' },
  },
  examples: [
    'serve seen.index --max-age 2d --durability commit',
    'serve seen.index --host 0.0.0.0 --token-file token.txt',
  ],
  notes: [
    'One process writes to the folder. Routes: POST /v1/check, /v1/check-many (a line of JSON for each document), /v1/search, /v1/delete; GET /v1/stats, /metrics, /ready, /health, and /openapi.json, which describes them all. All except /health require the header Authorization: Bearer TOKEN.',
    'Checks that arrive at the same time are decided as one batch; with --durability commit they share the flushes of the disk, and answered checks survive the end of the process and a power cut.',
    'With --log the server is one of several services that together keep exactly one of two near-duplicates; each has a folder of its own: see docs/shared-window.md.',
    'Requests from web pages are refused. There is no TLS: put a proxy in front. On SIGTERM and Ctrl-C the server accepts no more requests, answers those in progress, writes everything to the disk and ends with status 0.',
  ],
  async run([path = ''], values, terminal) {
    const { host, port, quiet, json, 'allow-host': hosts = [], 'token-file': tokenFile } = values;
    if (path === '-') throw new UsageError('serve needs DIR, got -', 'an index is a folder');
    const limits = limitsOf(values);
    const share = sharingOf(values);
    const options = indexOptionsOf(path, values);
    const { isLoopback } = await import('../../server/guard.js');
    const { tokenOf } = await import('../../server/token.js');
    const token = tokenOf(tokenFile);
    if (token.isGenerated && !isLoopback(host)) {
      throw new UsageError(
        `--host ${host} can be reached from other machines, and needs a token of your own`,
        'set SIMHASH_TOKEN, SIMHASH_TOKEN_FILE or --token-file',
      );
    }
    const { serve } = await import('../../server/run.js');
    const { Index } = await import('../../index.js');
    const { LocalEngine } = await import('../../server/local.js');
    const interrupt = new Interrupt(terminal);
    try {
      await serve({
        ...{ host, port, hosts, token, limits },
        version: String(versions()['simhash-native']),
        signal: interrupt.signal,
        open: async (signal) => {
          if (share !== undefined) {
            return sharedEngine(path, options, share, limits.queue, signal, {
              onFailure: (error) =>
                terminal.say(`no snapshot was written: ${codeOf(error) ?? 'unknown error'}`),
              onState: (state, error) => {
                const line = sharedStateLine(state, error);
                const isTrouble = error !== undefined;
                if (line !== undefined && (isTrouble || !quiet)) terminal.say(line);
              },
            });
          }
          const index = await Index.open(path, { ...options, signal });
          return new LocalEngine(index, {
            most: 4096,
            underWay: 2,
            room: limits.queue,
            weight: limits.bodies,
          });
        },
        onListening: (url) => {
          if (json) void terminal.write(`${JSON.stringify({ url, index: path })}\n`);
          if (!quiet) terminal.say(`listening on ${url}`);
          if (token.isGenerated) terminal.say(`token, shown this once: ${token.value}`);
        },
        onReady: () => {
          if (!quiet) terminal.say(`${path} is open`);
        },
        onDefect: (route, error) => terminal.say(`defect at ${route}: ${place(error)}`),
      });
    } finally {
      interrupt.release();
    }
    if (!quiet) terminal.say('ended; the disk has everything');
    return EXIT.done;
  },
});

/** Told what happens to a shared index. */
interface Listening {
  /** No snapshot was written. */
  readonly onFailure: (error: unknown) => void;
  readonly onState: (state: SharedState, error: Error | undefined) => void;
}

/** The engine of one of several services. */
async function sharedEngine(
  path: string,
  options: object,
  { connect, service, every }: NonNullable<ReturnType<typeof sharingOf>>,
  maxWaiting: number,
  signal: AbortSignal,
  { onFailure, onState }: Listening,
): Promise<Engine> {
  const { SharedIndex } = await import('../../connect/log.js');
  const { SharedEngine } = await import('../../server/shared.js');
  // Of a shared index they are as they must be.
  const { keys: _, onSameKey: __, ...deciding } = options as Record<string, unknown>;
  const all = { ...deciding, ...service, maxWaiting, onState };
  const log = await connect(signal);
  try {
    return new SharedEngine(await SharedIndex.open(path, log, all as never), every, onFailure);
  } catch (error) {
    await log.close?.();
    throw error;
  }
}

/** What an error is and where it came from, without its message, in which a text may stand. */
function place(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const frames = error.stack?.split('\n').filter((line) => /^\s+at /.test(line)) ?? [];
  return [codeOf(error) ?? error.name, ...frames].join('\n');
}
