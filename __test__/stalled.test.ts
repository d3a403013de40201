/** An interrupted or aborted run ends, whatever its reader and its writer do. Nothing is timed: what waits for them never ends. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, vi } from 'vitest';
import { dedupFiles } from '..';
import { Interrupt } from '../ts/cli/interrupt';
import type { Terminal } from '../ts/cli/terminal';
import { Folder, ROOT } from './cli-run';
import { posix } from './posix';

/** All of them. */
const test = posix('named pipes and signals');

const reason = new Error('enough');
const FIRST = '{"id":1,"text":"今天多云转小雨，请带伞。"}\n';

/** Records that no two are duplicates, more than a pipe and all queues hold. */
const MANY = Array.from(
  { length: 6_000 },
  (_, n) => `${JSON.stringify({ text: String.fromCodePoint(0x4e00 + n).repeat(130) })}\n`,
).join('');

function fifos(...names: readonly string[]): Folder {
  const folder = new Folder();
  for (const name of names) execFileSync('mkfifo', [folder.join(name)]);
  folder.write('many', MANY);
  return folder;
}

describe('Ctrl-C', () => {
  test.each([
    ['dedup', 'many', '-o', '-', '-q'],
    ['dedup', 'many', '-o', '-', '-q', '--cluster', 'components'],
    ['match', 'many', '--against', 'many', '-q'],
  ])('%s %s %s %s ends behind a reader that does not read', async (...args) => {
    const child = fifos().start(args);
    // The first bytes are there, and no more are taken.
    if (child.stdout === null) throw new Error('the child has no standard output');
    await once(child.stdout, 'readable');
    await setTimeout(300);
    child.kill('SIGINT');
    expect((await once(child, 'exit'))[0]).toBe(130);
    child.stdout.destroy();
  });

  test.each([['dedup'], ['clusters'], ['pairs']])(
    '%s ends before anybody reads its output',
    async (command) => {
      const folder = fifos('in', 'out');
      const child = folder.start([command, 'in', '-o', 'out', '-q']);
      // Opening waits until the child reads: then its handlers are in place.
      const pipe = await open(folder.join('in'), 'w');
      await pipe.write(FIRST + FIRST.replace('1', '2'));
      await pipe.close();
      await setTimeout(300);
      child.kill('SIGINT');
      expect((await once(child, 'exit'))[0]).toBe(130);
    },
  );

  test('pairs ends before anybody writes its input', async () => {
    const folder = fifos('in', 'silent');
    const child = folder.start(['pairs', 'in', 'silent']);
    // Opening waits until the child opens it; the second is next.
    const pipe = await open(folder.join('in'), 'w');
    await pipe.write(FIRST);
    await pipe.close();
    await setTimeout(300);
    child.kill('SIGINT');
    expect((await once(child, 'exit'))[0]).toBe(130);
  });

  test('pairs writes every byte to a slow reader of a named pipe', async () => {
    const folder = fifos('out');
    folder.write('two', FIRST.repeat(3_000));
    const plain = await folder.run(['pairs', 'two', '-q']);
    const child = folder.start(['pairs', 'two', '-o', 'out', '-q']);
    await setTimeout(300);
    const pipe = await open(folder.join('out'));
    const ended = once(child, 'exit');
    expect((await pipe.readFile('utf8')) === plain.stdout).toBe(true);
    await pipe.close();
    expect((await ended)[0]).toBe(0);
  });
});

test('a second Ctrl-C stops at once', () => {
  const exit = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never);
  const said: string[] = [];
  const terminal = { interactive: false, say: (line: string) => said.push(line) };
  const interrupt = new Interrupt(terminal as unknown as Terminal);
  try {
    process.emit('SIGHUP', 'SIGHUP');
    expect([interrupt.status, interrupt.signal.aborted]).toEqual([129, true]);
    expect(said).toEqual(['stopping; once more stops at once']);
    expect(exit).not.toHaveBeenCalled();
    process.emit('SIGINT', 'SIGINT');
    expect(exit).toHaveBeenCalledWith(130);
  } finally {
    interrupt.release();
    exit.mockRestore();
  }
});

describe('an abort', () => {
  test.each([{ cluster: 'representative' }, { cluster: 'components' }] as const)(
    'ends behind a reader that does not read, %o',
    async (options) => {
      const folder = fifos('out');
      // Open for both, so that it opens at once and nothing is ever read.
      const reader = openSync(folder.join('out'), constants.O_RDWR);
      const controller = new AbortController();
      const { signal } = controller;
      const run = dedupFiles(folder.join('many'), folder.join('out'), { ...options, signal });
      await setTimeout(500);
      controller.abort(reason);
      await expect(run).rejects.toBe(reason);
      closeSync(reader);
    },
  );

  test.each([
    ['nobody has opened', undefined],
    ['nothing comes from', ''],
    ['no more comes from', FIRST],
  ])('ends while %s its input', async (_name, sent) => {
    const folder = fifos('in');
    const writer = sent === undefined ? undefined : openSync(folder.join('in'), constants.O_RDWR);
    if (writer !== undefined && sent) writeSync(writer, sent);
    const controller = new AbortController();
    const { signal } = controller;
    const run = dedupFiles(folder.join('in'), folder.join('out'), { signal });
    await setTimeout(300);
    controller.abort(reason);
    await expect(run).rejects.toBe(reason);
    expect(folder.names()).toEqual(['in', 'many']);
    // Whoever waits at the other end is let go.
    closeSync(writer ?? openSync(folder.join('in'), constants.O_RDWR));
  });

  test('of a run to standard output ends the run, and the process can end', async () => {
    const folder = fifos();
    const script = `require(${JSON.stringify(ROOT)})
      .dedupFiles('many', '-', { signal: AbortSignal.timeout(500) })
      .catch((error) => console.error(error.name));`;
    const child = spawn(process.execPath, ['-e', script], { cwd: folder.path });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    await once(child.stdout, 'readable');
    expect((await once(child, 'exit'))[0]).toBe(0);
    expect(said).toBe('TimeoutError\n');
    child.stdout.destroy();
  });
});
