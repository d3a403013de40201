import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'vitest';
import { BIN, ended, Folder, ROOT, SAMPLE } from './cli-run';
import { posix } from './posix';

/** All of them. */
const test = posix('named pipes, signals and sh');

const TEXT = '望海港本月开通了一条直达南美西海岸的集装箱航线，单程二十三天。';

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
  ['SIGQUIT', 131],
] as const)('%s leaves no output, says how to resume and exits %i', async (signal, status) => {
  const folder = new Folder();
  execFileSync('mkfifo', [folder.join('in')]);
  folder.write('clusters', 'old\n');
  const child = folder.start(['dedup', 'in', '-o', 'out', '--clusters', 'clusters']);
  const end = ended(child);
  // Opening the other end waits until the child reads: then its handlers are in place.
  const pipe = await open(folder.join('in'), 'w');
  await pipe.write(`${JSON.stringify({ text: TEXT })}\n`);
  child.kill(signal);
  const result = await end;
  await pipe.close();
  expect(result.stderr).toContain('interrupted; no output was written');
  expect(result.stderr).toContain('run the same command again');
  expect(result).toMatchObject({ status, stdout: '' });
  expect(folder.names()).toEqual(['clusters', 'in']);
  expect(folder.read('clusters')).toBe('old\n');
});

test('a reader that closes early ends fingerprint quietly', async () => {
  const folder = new Folder();
  // More than the buffers of both pipes hold.
  folder.write('in', `${TEXT}\n`.repeat(20_000));
  const child = folder.start(['fingerprint', 'in']);
  const end = ended(child);
  if (child.stdout === null) throw new Error('the child has no standard output');
  await once(child.stdout, 'data');
  child.stdout.destroy();
  expect(await end).toMatchObject({ status: 0, stderr: '' });
});

test('a reader that closes early ends dedup quietly', async () => {
  const folder = new Folder();
  const line = (n: number) => `${JSON.stringify({ text: `${n}`.repeat(400) })}\n`;
  folder.write('in', Array.from({ length: 2_000 }, (_, n) => line(n + 1000)).join(''));
  const child = folder.start(['dedup', 'in', '-o', '-', '--features', 'chars', '-q']);
  const end = ended(child);
  if (child.stdout === null) throw new Error('the child has no standard output');
  await once(child.stdout, 'data');
  child.stdout.destroy();
  expect(await end).toMatchObject({ status: 0, stderr: '' });
});

/** Records that no two are duplicates, more than a pipe holds. */
function many(): string {
  const lines = Array.from(
    { length: 3_000 },
    (_, n) => `${JSON.stringify({ text: String.fromCodePoint(0x4e00 + n).repeat(130) })}\n`,
  );
  return lines.join('');
}

test('a slow reader gets every byte of dedup', async () => {
  const folder = new Folder();
  folder.write('in', many());
  const child = folder.start(['dedup', 'in', '-o', '-', '--min-similarity', '1', '--json']);
  // Until the pipe is full and the writer waits.
  await setTimeout(500);
  const { status, stdout } = await ended(child);
  expect({ status, length: stdout.length }).toEqual({ status: 0, length: many().length });
});

test('a pipe that does not block gets every byte of dedup', async () => {
  const folder = new Folder();
  folder.write('in', many());
  // Touching standard error opens the pipe that both share, and from then on it does not block.
  const script = `process.stderr.write('first\\n');
    require(${JSON.stringify(ROOT)}).dedupFiles('in', '-', { minSimilarity: 1 })
      .then(({ kept }) => console.error(kept));`;
  const command = `'${process.execPath}' -e "$SCRIPT" 2>&1 | (sleep 1; cat)`;
  const child = spawn('sh', ['-c', command], {
    cwd: folder.path,
    env: { ...process.env, SCRIPT: script },
  });
  const { status, stdout } = await ended(child);
  expect({ status, whole: stdout === `first\n${many()}3000\n` }).toEqual({
    status: 0,
    whole: true,
  });
});

test('dedup -o - 2>&1 to a slow reader writes every record, then the summary', async () => {
  const folder = new Folder();
  folder.write('in', many());
  const command = `'${process.execPath}' '${BIN}' dedup in -o - --min-similarity 1 2>&1 | (sleep 1; cat)`;
  const child = spawn('sh', ['-c', command], { cwd: folder.path });
  const { status, stdout } = await ended(child);
  expect(status).toBe(0);
  expect(stdout.startsWith(many())).toBe(true);
  expect(stdout).toContain('read 3,000 = kept 3,000 + duplicates 0 + rejected 0');
});

test('a closed pipe has a code of its own', async () => {
  const folder = new Folder();
  folder.write('in', many().repeat(3));
  const script = `require(${JSON.stringify(ROOT)}).dedupFiles('in', '-', { minSimilarity: 1 })
    .catch((error) => console.error(error.name, error.code));`;
  const child = spawn(process.execPath, ['-e', script], { cwd: folder.path });
  const end = ended(child);
  await once(child.stdout, 'data');
  child.stdout.destroy();
  expect((await end).stderr).toBe('SimHashError ERR_SIMHASH_PIPE\n');
});

test('no escape sequences where standard error is no terminal', async () => {
  const folder = new Folder();
  const { stderr } = await folder.run(['dedup', SAMPLE, '-o', 'out']);
  expect(stderr).not.toContain('\u001B');
});
