/** What every verb that writes a file leaves of permissions, links, pipes and devices, and what a killed one leaves. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { afterAll, expect, test } from 'vitest';
import { dedupFiles, Index } from '..';
import { Folder } from './cli-run';
import { passage, passages } from './passages';
import { posix } from './posix';

const posixTest = posix('named pipes, permissions and sh');

const root = mkdtempSync(join(tmpdir(), 'simhash-publish-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let folders = 0;
/** A folder of its own. */
const folder = () => mkdtempSync(join(root, `${++folders}-`));
const text = '这是一个足够长的文本，用来生成指纹的例子。';
const record = `${JSON.stringify({ text })}\n`;
const mode = (path: string) => statSync(path).mode & 0o777;

const saved = [
  ['Index of fingerprints', () => new Index({ maxDistance: 3, texts: false })],
  ['Index with texts', () => new Index()],
  ['Index of signatures', () => new Index({ texts: false })],
  ['Index of sentences', () => new Index({ groups: true })],
  ['Index of equal texts', () => new Index({ method: 'exact', texts: false })],
] as const;

/** Every way to write a file, and the mode of one that is new. */
const ways: [string, (path: string) => Promise<unknown>, number][] = saved.map(([name, make]) => [
  name,
  async (path) => {
    const index = make();
    index.add(text);
    await index.save(path);
  },
  name === 'Index with texts' ? 0o600 : 0o644,
]);
ways.push([
  'dedupFiles',
  async (path) => {
    const input = join(folder(), 'in');
    writeFileSync(input, record);
    await dedupFiles(input, path);
  },
  0o644,
]);

posixTest.each(ways)('%s keeps permissions and links', async (_name, write, usual) => {
  const here = folder();
  const at = (name: string) => join(here, name);
  const umask = process.umask();
  await write(at('new'));
  expect(mode(at('new'))).toBe(usual & ~umask);
  for (const kept of [0o600, 0o640]) {
    chmodSync(at('new'), kept);
    await write(at('new'));
    expect(mode(at('new'))).toBe(kept);
  }
  writeFileSync(at('real'), 'old');
  symlinkSync('real', at('link'));
  symlinkSync('made', at('dangling'));
  await write(at('link'));
  await write(at('dangling'));
  for (const [link, target] of [
    ['link', 'real'],
    ['dangling', 'made'],
  ] as const) {
    expect(readlinkSync(at(link))).toBe(target);
    expect(readFileSync(at(target)).equals(readFileSync(at('new'))), link).toBe(true);
  }
  expect(readdirSync(here).sort()).toEqual(['dangling', 'link', 'made', 'new', 'real']);
});

posixTest.each(ways.slice(0, 5))('%s refuses pipes and devices at once', async (_name, write) => {
  const here = folder();
  const pipe = join(here, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const refused = { name: 'SimHashError', code: 'ERR_SIMHASH_OUTPUT' };
  // Nobody reads it: an open(2) for writing would wait for ever.
  await expect(write(pipe)).rejects.toMatchObject({
    ...refused,
    message: `cannot write ${pipe}: it is a named pipe, which a file cannot replace; name a regular file`,
  });
  expect(lstatSync(pipe).isFIFO()).toBe(true);
  // Only who may make devices can have one of his own.
  const device = join(here, 'device');
  if (spawnSync('mknod', [device, 'c', '1', '3']).status === 0) {
    symlinkSync('device', join(here, 'link'));
    for (const path of [device, join(here, 'link')]) {
      await expect(write(path)).rejects.toMatchObject(refused);
    }
    expect(lstatSync(device).isCharacterDevice()).toBe(true);
    expect(lstatSync(join(here, 'link')).isSymbolicLink()).toBe(true);
  }
  expect(readdirSync(here).filter((name) => name.includes('tmp'))).toEqual([]);
});

posixTest('dedupFiles writes to a pipe as records come, and the pipe stays', async () => {
  const here = folder();
  const at = (name: string) => join(here, name);
  writeFileSync(at('in'), record.repeat(3));
  execFileSync('mkfifo', [at('pipe')]);
  const reader = spawn('cat', [at('pipe')], { stdio: ['ignore', 'pipe', 'inherit'] });
  let read = '';
  reader.stdout.setEncoding('utf8').on('data', (part: string) => {
    read += part;
  });
  const closed = once(reader, 'close');
  await dedupFiles(at('in'), at('pipe'));
  await closed;
  expect(read).toBe(record);
  expect(lstatSync(at('pipe')).isFIFO()).toBe(true);
});

/** A folder of groups. */
const GROUPS = { groups: true } as const;

test('an index of groups is saved as it is at the call', async () => {
  const path = join(folder(), 'saved');
  const index = await Index.open(join(folder(), 'own'), GROUPS);
  index.addMany(passages(400));
  const first = index.save(path);
  // In the same turn, and while the file is being written.
  for (let n = 400; n < 420; n++) index.add(passage(n));
  await first;
  await index.addManyAsync(passages(20));
  const opened = await Index.open(path, GROUPS);
  expect([opened.size, index.size]).toEqual([400, 440]);
  expect([opened.has(399), opened.has(400)]).toEqual([true, false]);
  opened.close();
  const batch = index.addManyAsync(passages(5000));
  await Promise.all([index.save(path), batch]);
  const again = await Index.open(path, GROUPS);
  // A batch is its items one by one: those that came before the call are in the file.
  expect(again.size).toBeGreaterThanOrEqual(440);
  expect([again.has(again.size - 1), again.has(again.size)]).toEqual([true, false]);
  again.close();
});

test('of two workers that make one new folder exactly one has it, and nothing acknowledged is lost', async () => {
  const code = `
    const { parentPort, workerData } = require('node:worker_threads');
    const { Index } = require(workerData.module);
    let index;
    parentPort.on('message', async ({ path }) => {
      if (path === undefined) { await index?.close(); index = undefined; return parentPort.postMessage({}); }
      Atomics.add(workerData.gate, 0, 1);
      while (Atomics.load(workerData.gate, 0) < 2);
      try {
        index = await Index.open(path, { groups: true, durability: 'commit' });
        for (let n = 0; n < 3; n++) await index.addManyAsync(['工人' + workerData.who + '写下的第' + n + '句足够长而且独特的句子。']);
        parentPort.postMessage({ added: 3 });
      } catch (error) { parentPort.postMessage({ added: 0, code: error.code }); }
    });`;
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const module = join(__dirname, '..');
  const workers = [0, 1].map(
    (who) => new Worker(code, { eval: true, workerData: { who, gate, module } }),
  );
  type Answer = { added?: number; code?: string };
  const ask = async (worker: Worker, message: object): Promise<Answer> => {
    worker.postMessage(message);
    return (await once(worker, 'message'))[0] as Answer;
  };
  const here = folder();
  for (let round = 0; round < 60; round++) {
    const path = join(here, `${round}`);
    Atomics.store(gate, 0, 0);
    const answers = await Promise.all(workers.map((worker) => ask(worker, { path })));
    expect(answers.map(({ added }) => added).sort()).toEqual([0, 3]);
    expect(answers.find(({ added }) => added === 0)?.code).toBe('ERR_SIMHASH_INDEX_LOCKED');
    await Promise.all(workers.map((worker) => ask(worker, {})));
    const opened = await Index.open(path, GROUPS);
    expect(opened.size).toBe(3);
    await opened.close();
  }
  await Promise.all(workers.map((worker) => worker.terminate()));
});

posixTest(
  'an index in a folder counts what was acknowledged when its log cannot grow',
  async () => {
    const path = join(folder(), 'full');
    const code = `
    const { Index } = require(${JSON.stringify(join(__dirname, '..'))});
    Index.open(process.argv[1], { groups: true, durability: 'none' }).then((index) => {
    let acknowledged = 0;
    try {
      for (;;) { index.add('第' + acknowledged + '个文件里有一句足够长的独特句子。'); acknowledged++; }
    } catch (error) {
      const found = index.search('第' + acknowledged + '个文件里有一句足够长的独特句子。').length;
      console.log(JSON.stringify({ acknowledged, size: index.size, found, code: error.code }));
    } });`;
    // The limit counts 512 or 1,024 bytes; a write beyond it is an error where its signal is ignored.
    const limited = `trap '' XFSZ; ulimit -f 40; exec "$0" -e "$1" "$2"`;
    const ran = spawnSync('sh', ['-c', limited, process.execPath, code, path], {
      encoding: 'utf8',
    });
    const { acknowledged, ...rest } = JSON.parse(ran.stdout) as { acknowledged: number };
    expect(acknowledged).toBeGreaterThan(100);
    expect(rest).toEqual({ size: acknowledged, found: 0, code: 'ERR_SIMHASH_OUTPUT' });
    const opened = await Index.open(path, GROUPS);
    expect([opened.size, opened.stats().durable?.tornBytes]).toEqual([acknowledged, 0]);
    opened.close();
  },
);

/** Names of open files of a process in a folder, as Linux tells them. */
function openIn(pid: number, path: string): string[] {
  const files = `/proc/${pid}/fd`;
  if (!existsSync(files)) return readdirSync(path);
  const names = readdirSync(files).flatMap((file) => {
    try {
      return [readlinkSync(join(files, file))];
    } catch {
      return [];
    }
  });
  return names.filter((name) => name.startsWith(path));
}

posixTest('a run that was killed leaves nothing that the next one does not find', async () => {
  const folder = new Folder();
  folder.write('old', record);
  const outputs = ['-o', 'old', '--clusters', 'clusters', '--rejects', 'rejects'];
  const child = folder.start(['dedup', '-', ...outputs]);
  child.stdin?.on('error', () => {});
  child.stdin?.write(record);
  const path = execFileSync('pwd', ['-P'], { cwd: folder.path, encoding: 'utf8' }).trim();
  // Its outputs are open when it waits for more input.
  while (openIn(child.pid ?? 0, path).length < 3) await setTimeout(5);
  child.kill('SIGKILL');
  await once(child, 'close');
  expect(folder.read('old')).toBe(record);
  // Linux has files without names; elsewhere the next run removes what is left.
  if (process.platform === 'linux') expect(folder.names()).toEqual(['old']);
  folder.write('.old.simhash-0.tmp', 'half a file');
  const next = await folder.run(['dedup', '-', ...outputs], record);
  expect(next.status).toBe(0);
  expect(next.stderr).toContain(`removed ${join(path, '.old.simhash-0.tmp')}, which a killed run`);
  expect(folder.names()).toEqual(['clusters', 'old', 'rejects']);
});

test('a killed query of an index leaves nothing either, and permissions stay', async () => {
  const folder = new Folder();
  writeFileSync(join(folder.path, 'old'), 'before', { mode: 0o600 });
  folder.write('in', record);
  expect((await folder.run(['index', 'build', 'saved', 'in'])).status).toBe(0);
  const query = ['index', 'query', 'saved', '-', '-o', 'old'];
  const child = folder.start(query);
  child.stdin?.on('error', () => {});
  child.stdin?.write(record);
  const path = execFileSync('pwd', ['-P'], { cwd: folder.path, encoding: 'utf8' }).trim();
  // Its output is open when it waits for more input.
  const isOpen = () => openIn(child.pid ?? 0, path).some((name) => !name.includes('/saved'));
  while (!isOpen()) await setTimeout(5);
  child.kill('SIGKILL');
  await once(child, 'close');
  expect(folder.read('old')).toBe('before');
  if (process.platform === 'linux') expect(folder.names()).toEqual(['in', 'old', 'saved']);
  folder.write('.old.simhash-0.tmp', 'half a file');
  const next = await folder.run(query, record);
  expect(next.status).toBe(0);
  expect(next.stderr).toContain('.old.simhash-0.tmp, which a killed run');
  expect(folder.names()).toEqual(['in', 'old', 'saved']);
  expect(statSync(join(folder.path, 'old')).mode & 0o777).toBe(0o600);
});
