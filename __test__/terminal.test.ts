/** The two streams of a command: back-pressure of the one, colour of the other. */
import { Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';

const tty = vi.hoisted(() => ({ interactive: true }));
vi.mock('node:tty', () => ({ isatty: () => tty.interactive }));

/** A terminal of this environment; the environment is looked at when the module is loaded. */
async function terminal({ interactive = true, noColor = '' } = {}) {
  vi.resetModules();
  tty.interactive = interactive;
  vi.stubEnv('NO_COLOR', noColor);
  const { Terminal } = await import('../ts/cli/terminal');
  return new Terminal();
}

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

test.each([
  [{ interactive: true }, '\u001B[31merror:\u001B[39m it broke\n'],
  [{ interactive: true, noColor: '1' }, 'error: it broke\n'],
  [{ interactive: false }, 'error: it broke\n'],
])('an error on %o is %j', async (where, shown) => {
  const written: string[] = [];
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
  (await terminal(where)).fail('it broke');
  expect(written.join('')).toBe(shown);
});

/** A standard output whose reader takes nothing until it is told to. */
function slow() {
  const waiting: (() => void)[] = [];
  const out = new Writable({
    highWaterMark: 16,
    write: (_chunk, _encoding, done) => {
      waiting.push(done);
    },
  });
  vi.spyOn(process, 'stdout', 'get').mockReturnValue(out as unknown as typeof process.stdout);
  return { out, take: () => waiting.shift()?.() };
}

test('data waits where the reader is slower', async () => {
  const { take } = slow();
  let arrived = false;
  const writing = (await terminal()).write('x'.repeat(100)).then(() => {
    arrived = true;
  });
  for (let turns = 0; turns < 20; turns++) await turn();
  expect(arrived).toBe(false);
  take();
  await writing;
  expect(arrived).toBe(true);
});

test('an abort ends the waiting', async () => {
  slow();
  const controller = new AbortController();
  const writing = (await terminal()).write('x'.repeat(100), controller.signal);
  controller.abort();
  await expect(writing).rejects.toMatchObject({ name: 'AbortError' });
});
