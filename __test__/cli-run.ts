/** Runs the built command line as a child process, in a folder of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, vi } from 'vitest';

// Child processes start slowly on a busy machine; the limit is against hanging, not a measurement.
vi.setConfig({ testTimeout: 120_000 });

export const ROOT = resolve(__dirname, '..');
export const BIN = join(ROOT, 'dist', 'cli', 'bin.js');
export const SAMPLE = join(ROOT, 'examples', 'sample.jsonl');

export interface Ended {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A temporary folder that is removed when the test file ends. */
export class Folder {
  readonly path = mkdtempSync(join(tmpdir(), 'simhash-cli-'));

  constructor() {
    afterAll(() => rmSync(this.path, { recursive: true, force: true }));
  }

  join(name: string): string {
    return join(this.path, name);
  }

  write(name: string, content: string | Uint8Array): string {
    writeFileSync(this.join(name), content);
    return name;
  }

  read(name: string): string {
    return readFileSync(this.join(name), 'utf8');
  }

  /** Records of a file of JSON lines. */
  records<T>(name: string): T[] {
    return jsonLines(this.read(name));
  }

  names(): string[] {
    return readdirSync(this.path).sort();
  }

  /** `stdout` is an open file in place of a pipe. */
  start(
    args: readonly string[],
    env: NodeJS.ProcessEnv = {},
    stdout: number | 'pipe' = 'pipe',
  ): ChildProcess {
    return spawn(process.execPath, [BIN, ...args], {
      stdio: ['pipe', stdout, 'pipe'],
      cwd: this.path,
      env: { ...process.env, ...env },
    });
  }

  /** Runs to the end; `input` is standard input. */
  run(args: readonly string[], input: string | Uint8Array = ''): Promise<Ended> {
    const child = this.start(args);
    const end = ended(child);
    // A child that refuses its arguments ends without reading.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
    return end;
  }
}

/** What a child printed and how it ended. */
export function ended(child: ChildProcess): Promise<Ended> {
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((done, failed) => {
    child.on('error', failed);
    child.on('close', (status, signal) => done({ status, signal, stdout, stderr }));
  });
}

export function jsonLines<T>(text: string): T[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}

export interface Cluster {
  readonly representative: string;
  readonly members: readonly { readonly id: string; readonly similarity?: number }[];
}
