/** A server of the command line in a process of its own, and a client of it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterAll } from 'vitest';
import { BIN, type Ended, ended } from './cli-run';

export { textOf } from './log-texts.mjs';

export const TOKEN = 'a-token-for-tests-only';

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: whatever a server says
  readonly json: any;
}

export class Served {
  readonly child: ChildProcess;
  readonly end: Promise<Ended>;
  readonly url: string;

  private constructor(child: ChildProcess, end: Promise<Ended>, url: string) {
    this.child = child;
    this.end = end;
    this.url = url;
  }

  /** Starts it; it listens, and its index may not be open yet. */
  static async start(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Served> {
    const all = ['serve', ...args, '--port', '0', '--json'];
    const child = spawn(process.execPath, [BIN, ...all], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, SIMHASH_TOKEN: TOKEN, ...env },
    });
    afterAll(() => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    });
    const end = ended(child);
    const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
    const first = once(lines, 'line') as Promise<[string]>;
    const line = await Promise.race([first, end.then(({ stderr }) => [stderr] as const)]);
    return new Served(child, end, JSON.parse(line[0]).url);
  }

  /** {@link start}, until documents are taken. */
  static async open(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Served> {
    const served = await Served.start(args, env);
    await served.ready();
    return served;
  }

  async ready(): Promise<void> {
    while ((await this.get('/ready')).status !== 200) {
      if (this.child.exitCode !== null) throw new Error((await this.end).stderr);
      await new Promise((done) => setTimeout(done, 20));
    }
  }

  async ask(path: string, options: RequestInit = {}): Promise<Reply> {
    const headers = { Authorization: `Bearer ${TOKEN}`, ...options.headers };
    const answer = await fetch(`${this.url}${path}`, { ...options, headers });
    const text = await answer.text();
    const isJson = answer.headers.get('content-type') === 'application/json';
    const { status } = answer;
    return { status, headers: answer.headers, text, json: isJson ? JSON.parse(text) : undefined };
  }

  get(path: string): Promise<Reply> {
    return this.ask(path);
  }

  post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    const json = { 'Content-Type': 'application/json', ...headers };
    return this.ask(path, { method: 'POST', body: JSON.stringify(body), headers: json });
  }

  /** A line for each value; the lines that come back. */
  // biome-ignore lint/suspicious/noExplicitAny: whatever a server says
  async many(items: readonly unknown[]): Promise<any[]> {
    const { status, text } = await this.lines(items.map((item) => JSON.stringify(item)).join('\n'));
    if (status !== 200) throw new Error(`${status}: ${text}`);
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  }

  lines(body: string): Promise<Reply> {
    const headers = { 'Content-Type': 'application/x-ndjson' };
    return this.ask('/v1/check-many', { method: 'POST', body, headers });
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Ended> {
    this.child.kill(signal);
    return this.end;
  }
}
