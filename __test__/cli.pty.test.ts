/** The command line on a terminal: width of the progress line, colours, the second Ctrl-C. Terminals are made by Python. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { BIN, Folder, ROOT, SAMPLE } from './cli-run';

vi.setConfig({ testTimeout: 240_000 });

const isThere = spawnSync('python3', ['-c', 'import fcntl, pty, termios']).status === 0;
if (!isThere) console.log('not tested: no python3 with pty on this machine');

const folder = new Folder();
const CTRL_C = '\u0003';
const ERASE = '\r\u001B[2K';

interface OnTerminal {
  readonly columns?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** What is typed when something has been printed. */
  readonly keys?: readonly (readonly [wait: string, type: string])[];
}

/** Runs Node on a terminal; what it printed, standard output and error as one, and how it ended. */
function onTerminal(args: readonly string[], { columns = 80, env = {}, keys = [] }: OnTerminal) {
  const given = {
    args: [process.execPath, ...args],
    cwd: folder.path,
    // What the environment of the tests says about colours is not what is tested.
    env: { NO_COLOR: '', FORCE_COLOR: '', TERM: 'xterm', ...env },
    ...{ columns, keys, seconds: 120 },
  };
  const script = join(ROOT, '__test__', 'terminal.py');
  const { stdout, stderr, status } = spawnSync('python3', [script, JSON.stringify(given)], {
    encoding: 'utf8',
  });
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  return JSON.parse(stdout) as { status: number; printed: string };
}

/** What was drawn over the line, one picture after the other. */
function pictures(printed: string): string[] {
  return printed
    .split(ERASE)
    .slice(1, -1)
    .map((picture) => picture.split(/[\r\n]/)[0] ?? '')
    .filter((picture) => picture !== '');
}

describe.runIf(isThere)('on a terminal', () => {
  // Enough for many blocks, so that the first picture comes long before all is read.
  folder.write('many.jsonl', readFileSync(SAMPLE, 'utf8').repeat(80));

  test.each([40, 80, 120])(
    'of %i columns the progress line fits, and tells the time left',
    (columns) => {
      const args = [BIN, 'dedup', 'many.jsonl', '--dry-run'];
      const { status, printed } = onTerminal(args, { columns });
      expect(status).toBe(0);
      const drawn = pictures(printed);
      expect(drawn.length).toBeGreaterThan(0);
      for (const picture of drawn) {
        expect(picture.length).toBeLessThan(columns);
        expect(picture).toMatch(
          /(^| )(\d+:\d\d left|all read, finishing for \d+:\d\d|working {2}\d+:\d\d)$/,
        );
      }
      expect(drawn.some((picture) => picture.endsWith(' left'))).toBe(true);
      // The last of it is removed before the summary.
      const [last = ''] = printed.split(ERASE).slice(-1);
      expect(last).toMatch(/^read 24,240 = kept /);
    },
  );

  test('an error is red, and plain with NO_COLOR', () => {
    const args = [BIN, 'dedup', 'missing', '-o', 'out'];
    const { status, printed } = onTerminal(args, {});
    expect(printed).toContain('\u001B[31merror:\u001B[39m cannot read missing');
    expect(status).toBe(3);
    const plain = onTerminal(args, { env: { NO_COLOR: '1' } });
    expect(plain.printed).toContain('error: cannot read missing');
    expect(plain.printed).not.toContain('\u001B[31m');
  });

  test('no progress is drawn between data on the same screen', () => {
    folder.write('few.jsonl', readFileSync(SAMPLE, 'utf8'));
    const { printed } = onTerminal([BIN, 'segment', 'few.jsonl'], {});
    expect(printed).not.toContain(ERASE);
    expect(printed).toContain('read 303 = documents 303 + rejected 0');
  });

  /** A step that does not end when it is told to. */
  const DEAF = `
    const { interruptible } = require(${JSON.stringify(join(ROOT, 'dist/cli/interrupt.js'))});
    const { Terminal } = require(${JSON.stringify(join(ROOT, 'dist/cli/terminal.js'))});
    interruptible(new Terminal(), undefined, () => {
      console.log('started');
      return new Promise((done) => setTimeout(done, 100_000));
    });`;

  test('the first Ctrl-C asks, the second stops at once', () => {
    const keys = [
      ['started', CTRL_C],
      ['once more stops at once', CTRL_C],
    ] as const;
    const { status, printed } = onTerminal(['-e', DEAF], { keys });
    expect(printed).toContain('stopping; once more stops at once');
    expect(status).toBe(130);
  });

  test('one Ctrl-C ends a run, which says how to go on', () => {
    // The terminal itself is standard input: nothing ever comes from it.
    const args = [BIN, 'dedup', '-', '-o', 'out'];
    const keys = [['working', CTRL_C]] as const;
    const { status, printed } = onTerminal(args, { keys });
    expect(printed).toContain('stopping; once more stops at once');
    expect(printed).toContain('interrupted; no output was written');
    expect(status).toBe(130);
    expect(folder.names()).not.toContain('out');
  });
});
