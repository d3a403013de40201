/** A service of a shared window in a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll } from 'vitest';
import type { Checked } from '..';
import type { Folder } from './cli-run';
import type { LogKind } from './log-servers';

interface Said {
  readonly call?: number;
  readonly ready?: number;
  readonly code?: string;
  readonly answer?: unknown;
}

/** Where a service is, and which log it applies. */
export interface Place {
  readonly kind: LogKind;
  readonly url: string;
  readonly stream: string;
  readonly folder: Folder;
}

export class Service {
  readonly #child: ChildProcess;
  readonly #calls = new Map<number, (said: Said) => void>();
  #next = 0;
  /** Position at which it was ready. */
  readonly ready: Promise<number | undefined>;

  constructor({ kind, url, stream, folder }: Place, name: string) {
    const own = [folder.join(`${stream}-${name}`), folder.join(`${stream}-snapshots`)];
    const args = [join(__dirname, 'log-child.mjs'), kind.name.toLowerCase(), url, stream, ...own];
    this.#child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    afterAll(() => void this.#child.kill('SIGKILL'));
    this.#child.stdin?.on('error', () => {});
    const lines = createInterface({ input: this.#child.stdout as NodeJS.ReadableStream });
    this.ready = once(lines, 'line').then(([line]) => (JSON.parse(line) as Said).ready);
    lines.on('line', (line) => {
      const said = JSON.parse(line) as Said;
      if (said.call === undefined) return;
      this.#calls.get(said.call)?.(said);
      this.#calls.delete(said.call);
    });
    this.#child.on('exit', () => {
      for (const done of this.#calls.values()) done({ code: 'KILLED' });
    });
  }

  ask(what: string, body: object = {}): Promise<Said> {
    const call = this.#next++;
    return new Promise((done) => {
      this.#calls.set(call, done);
      this.#child.stdin?.write(`${JSON.stringify({ call, what, ...body })}\n`);
      if (this.#child.signalCode !== null) done({ code: 'KILLED' });
    });
  }

  /** The answer. @throws Error where there is none */
  async told<T>(what: string, body: object = {}): Promise<T> {
    const { answer, code } = await this.ask(what, body);
    if (code !== undefined) throw new Error(code);
    return answer as T;
  }

  /** Outcomes, or why there are none. */
  async check(texts: readonly string[], keys: readonly string[]): Promise<Checked[] | string> {
    const { answer, code } = await this.ask('check', { texts, keys });
    return code ?? (answer as Checked[]);
  }

  async kill(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }
}
