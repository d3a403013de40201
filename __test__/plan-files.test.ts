/** What a run over files will take, said before it: `planFiles`, `plan IN...`, and the first lines of a dry run. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { dedupFiles, type FilesPlan, planFiles } from '..';
import { BIN, Folder, ROOT, SAMPLE } from './cli-run';
import { posix } from './posix';

const { documents } = (await import(pathToFileURL(join(ROOT, 'benches', 'generate.mjs')).href)) as {
  documents(count: number): Iterable<{ id: string; text: string }>;
};

const folder = new Folder();
const linux = process.platform === 'linux';
folder.write('sample.jsonl', readFileSync(SAMPLE));

test('of what is read whole nothing is an estimate', async () => {
  const plan = await planFiles(folder.join('sample.jsonl'));
  expect(plan).toMatchObject({ documents: 303, sampled: 303, exact: true, copyBytes: 0 });
  expect(plan.bytes).toBe(statSync(SAMPLE).size);
  const { least, most } = plan.cpuSeconds;
  expect(least).toBeLessThan(most);
});

test('copies are those of records that cannot be read again where they are', async () => {
  const bytes = readFileSync(SAMPLE);
  folder.write('sample.jsonl.gz', gzipSync(bytes));
  const plan = await planFiles([folder.join('sample.jsonl.gz'), folder.join('sample.jsonl')]);
  expect(plan.documents).toBe(606);
  // Without the ends of lines.
  expect(plan.copyBytes).toBe(bytes.length - 303);
});

test('known documents take memory, are not counted, and may have another format', async () => {
  folder.write('new.csv', 'id,text\n1,今天天气很好我们去公园\n2,another text of some words here\n');
  const [path, known] = [folder.join('new.csv'), [folder.join('sample.jsonl')]];
  expect(await planFiles(path, { known })).toMatchObject({ documents: 2, sampled: 2, exact: true });
  const { status, stderr } = await folder.run([
    'dedup',
    'new.csv',
    '--known',
    'sample.jsonl',
    '--dry-run',
  ]);
  expect({ status, lines: stderr.split('\n').slice(0, 1) }).toEqual({
    status: 0,
    lines: ['2 documents in 78 B; all were read'],
  });
});

test('a folder larger than the sample is read in part', async () => {
  mkdirSync(folder.join('texts'));
  const text = '很长的一篇文章，有许多许多的字。'.repeat(2_000);
  for (let n = 0; n < 500; n += 1) folder.write(`texts/${n}.txt`, `${n} ${text} ${n * 7}`);
  const plan = await planFiles(folder.join('texts'));
  expect(plan.exact).toBe(false);
  expect(plan.sampled).toBeLessThan(400);
  expect(plan.documents).toBeGreaterThan(490);
  expect(plan.documents).toBeLessThan(510);
  expect(plan.copyBytes / 500 / Buffer.byteLength(text)).toBeCloseTo(1, 1);
});

/** The most memory of a process, and the most bytes of its files below a folder that have no name; looked at again and again. */
async function taken(
  child: ChildProcess,
  below: string,
): Promise<{ memory: number; disk: number }> {
  const ended = new Promise<number | null>((resolve) => child.on('exit', resolve));
  let [memory, disk] = [0, 0];
  const proc = `/proc/${child.pid}`;
  const look = () => {
    try {
      const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(readFileSync(`${proc}/status`, 'utf8')) ?? [];
      memory = Math.max(memory, Number(kilobytes ?? 0) * 1024);
      let bytes = 0;
      for (const fd of readdirSync(`${proc}/fd`)) {
        const link = readlinkSync(`${proc}/fd/${fd}`);
        if (!link.startsWith(below) || !link.endsWith(' (deleted)')) continue;
        bytes += statSync(`${proc}/fd/${fd}`).blocks * 512;
      }
      disk = Math.max(disk, bytes);
    } catch {
      // The process, or one of its files, is gone.
    }
  };
  const timer = setInterval(look, 5);
  expect(await ended).toBe(0);
  clearInterval(timer);
  return { memory, disk };
}

/** Looked at while a run goes on. */
const within = (found: number, expected: number, share: number) =>
  expect(Math.abs(found / expected - 1), `${found} beside ${expected}`).toBeLessThan(share);

test.runIf(linux)('memory and disk are right within a fifth, whatever comes first', async () => {
  // The long texts first: what a sample of the beginning alone would see.
  const all = [...documents(300_000)].sort((a, b) => b.text.length - a.text.length);
  const lines = all.map((document) => `${JSON.stringify(document)}\n`);
  folder.write('many.jsonl', lines.join(''));
  const plan = await planFiles(folder.join('many.jsonl'));
  expect(plan.exact).toBe(false);
  within(plan.documents, all.length, 0.1);

  mkdirSync(folder.join('tmp'));
  const run = (...args: string[]) =>
    spawn(process.execPath, [BIN, 'dedup', 'many.jsonl', '-q', '-o', 'kept.jsonl', ...args], {
      cwd: folder.path,
      stdio: 'ignore',
    });
  const free = await taken(run(), folder.join('tmp'));
  within(plan.memoryBytes, free.memory, 0.2);
  // Where --tmp is not given there are no checkpoints.
  const child = spawn(
    process.execPath,
    [BIN, 'dedup', 'many.jsonl', '-q', '--dry-run', '--memory', '200M'],
    { cwd: folder.path, stdio: 'ignore', env: { ...process.env, TMPDIR: folder.join('tmp') } },
  );
  const bounded = await taken(child, folder.join('tmp'));
  within(plan.diskBytes, bounded.disk, 0.2);
  // What it says before keeps the bound too.
  expect(bounded.memory).toBeLessThan(1.1 * 200 * 2 ** 20);

  // Of a compressed file the beginning is read, far from all of it.
  folder.write('many.jsonl.gz', gzipSync(readFileSync(folder.join('many.jsonl')), { level: 1 }));
  const packed = await planFiles(folder.join('many.jsonl.gz'));
  expect(packed.exact).toBe(false);
  expect(packed.sampled).toBeLessThan(all.length / 2);
});

test('a file that was compressed to less than a sample is not read whole', async () => {
  const text = '很长的一篇文章，有许多许多的字。'.repeat(2_000);
  const line = (n: number) => `${JSON.stringify({ id: n, text: `${n} ${text}` })}\n`;
  const lines = Array.from({ length: 1_000 }, (_, n) => line(n));
  folder.write('small.jsonl.gz', gzipSync(lines.join('')));
  expect(statSync(folder.join('small.jsonl.gz')).size).toBeLessThan(1 << 20);
  const plan = await planFiles(folder.join('small.jsonl.gz'));
  expect(plan.exact).toBe(false);
  expect(plan.sampled).toBeLessThan(600);
});

test('plan IN... says it in lines that fit, and as JSON', async () => {
  const { status, stdout, stderr } = await folder.run(['plan', 'sample.jsonl', '--threads', '2']);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatch(/^303 documents in 118\.8 kB; all were read\nmemory: /);
  for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  const json = await folder.run(['plan', 'sample.jsonl', '--json', '--method', 'simhash']);
  const said = JSON.parse(json.stdout) as FilesPlan & { options: object };
  expect(said).toMatchObject({ documents: 303, exact: true, options: { method: 'simhash' } });
});

test('a dry run begins with what the run will take, and counts as the run does', async () => {
  const run = ['dedup', 'sample.jsonl', '--dry-run'];
  const { status, stdout, stderr } = await folder.run(run);
  expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
  expect(stderr).toMatch(/^303 documents in .*\nmemory: .*\n(with --memory .*\n)?processor time: /);
  expect(stderr).toContain('read 303 = kept 186 + duplicates 117 + rejected 0');
  const json = await folder.run([...run, '--json']);
  expect(JSON.parse(json.stdout)).toMatchObject({ kept: 186, predicted: { documents: 303 } });
  expect((await folder.run([...run, '-q'])).stderr).toBe('');
  // Standard input can be read only once.
  const once = await folder.run(['dedup', '-', '--dry-run'], folder.read('sample.jsonl'));
  expect(once.stderr).not.toContain('processor time');
  expect(once.stderr).toContain('read 303 = kept 186 + duplicates 117 + rejected 0');
});

test.each([
  [
    ['plan', 'sample.jsonl', '-n', '5'],
    '--count is for an index, and must be left out beside files',
  ],
  [['plan', '--keep', 'longest'], '--keep is for files: plan IN... --keep'],
  [['plan', 'sample.jsonl', '--keep', 'largest'], '--keep largest needs --keep-by NAME'],
  [['plan', '-'], "standard input ('-'), which cannot be read twice"],
  [['plan', 'sample.jsonl', '--across-files-only'], 'sample.jsonl alone'],
])('%j exits 2', async (args, says) => {
  const { status, stdout, stderr } = await folder.run(args);
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toContain(says);
});

posix('named pipes')('inputs that cannot be used are errors as those of the run', async () => {
  folder.write('broken.jsonl', 'no JSON\nnone here\n');
  const path = folder.join('broken.jsonl');
  const error = await dedupFiles(path, folder.join('new')).catch((error: unknown) => error);
  await expect(planFiles(path)).rejects.toMatchObject({
    code: (error as { code: string }).code,
    message: (error as Error).message,
  });
  await expect(planFiles(folder.join('none.jsonl'))).rejects.toMatchObject({
    code: 'ERR_SIMHASH_INPUT',
    message: expect.stringContaining('none.jsonl'),
  });
  await expect(planFiles(folder.join('sample.jsonl'), { mark: true } as object)).rejects.toThrow(
    'mark',
  );
  // A pipe can be read only once.
  execFileSync('mkfifo', [folder.join('pipe')]);
  await expect(planFiles(folder.join('pipe'))).rejects.toMatchObject({
    code: 'ERR_INVALID_ARG_VALUE',
    message: expect.stringContaining('which can be read twice'),
  });
  const signal = AbortSignal.abort(new Error('not now'));
  await expect(planFiles(folder.join('sample.jsonl'), { signal })).rejects.toThrow('not now');
});
