/** Files of a shared index: they are on the disk before anything depends on them, and one that is torn is named. */
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import fs from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { folderSnapshots, MemoryLog } from '../dist/connect/log.js';
import { Folder } from './cli-run';
import { textOf } from './served';
import { type Service, services } from './services';

const folder = new Folder();
const service = services(folder);
// Before they are closed.
afterEach(() => {
  vi.restoreAllMocks();
});

async function filled(one: Service, count: number): Promise<void> {
  for (let n = 0; n < count; n++) await one.check(textOf(n), { key: `k${n}` });
}

async function became(one: Service, state: string) {
  while (one.state !== state) await new Promise((done) => setTimeout(done, 5));
  return one.error;
}

/** What is put on the disk from now on, in order: `file` when it has been flushed, `from > to` when it was renamed. */
function watched(): string[] {
  const done: string[] = [];
  const { open, rename } = fs;
  vi.spyOn(fs, 'open').mockImplementation(async (path, ...how) => {
    const file = await open(path as string, ...(how as [string]));
    const sync = file.sync.bind(file);
    file.sync = async () => {
      await sync();
      done.push(String(path));
    };
    return file;
  });
  vi.spyOn(fs, 'rename').mockImplementation(async (from, to) => {
    await rename(from, to);
    done.push(`${from} > ${to}`);
  });
  return done;
}

test('a snapshot is on the disk, whole, before the log is trimmed behind it', async () => {
  const log = new MemoryLog();
  const snapshots = folder.join('flushed-snapshots');
  const a = await service(log, 'flushed', { snapshots, keepSnapshots: 1 });
  await filled(a, 20);
  const done = watched();
  const { trim } = log;
  log.trim = (before) => {
    done.push(`trim ${before}`);
    return trim.call(log, before);
  };
  const { name, position } = await a.snapshot();
  const renamed = done.findIndex((one) => one.endsWith(` > ${join(snapshots, name)}`));
  const [making = ''] = (done[renamed] ?? '').split(' > ');
  // Every file that is there was flushed where it was written, and so was every folder; then came the name.
  const files = await fs.readdir(join(snapshots, name), { recursive: true });
  expect(files.length).toBeGreaterThan(4);
  const before = done.slice(0, renamed);
  expect(files.filter((file) => !before.includes(join(making, file)))).toEqual([]);
  expect(before).toContain(making);
  const rest = done.slice(renamed + 1).filter((one) => !one.includes('chain'));
  expect(rest).toEqual([snapshots, `trim ${position}`]);
});

test('what a service has left that was killed while it published is gone at its next start, and of no other', async () => {
  const log = new MemoryLog();
  const snapshots = folder.join('left-snapshots');
  const open = (name: string) => service(log, name, { snapshots });
  const [a, b] = [await open('left-a'), await open('left-b')];
  await filled(a, 3);
  const copies: string[] = [];
  const { cp } = fs;
  vi.spyOn(fs, 'cp').mockImplementation(async (from, to, how) => {
    copies.push(String(from), String(to));
    await cp(from, to, how);
  });
  await a.snapshot();
  while (b.position < a.position) await new Promise((done) => setTimeout(done, 5));
  await b.check(textOf(9));
  await b.snapshot();
  // The copy beside the index, and the one that was to be published, as they are when they are written.
  const [ofA, madeA, ofB, madeB] = copies as [string, string, string, string];
  expect([dirname(ofA), dirname(ofB)]).toEqual([folder.join('left-a'), folder.join('left-b')]);
  for (const path of copies) {
    expect(existsSync(path)).toBe(false);
    cpSync(folder.join('left-a/chain'), join(path, 'chain'));
  }
  await a.close();
  const again = await open('left-a');
  await again.snapshot();
  expect([ofA, madeA, ofB, madeB].map((path) => existsSync(path))).toEqual([
    ...[false, false, true, true],
  ]);
  // While another process has it open nothing is removed from a folder.
  await expect(open('left-b')).rejects.toMatchObject({ code: 'ERR_SIMHASH_INDEX_LOCKED' });
  expect(existsSync(ofB)).toBe(true);
  await b.close();
  await (await open('left-b')).snapshot();
  expect([ofB, madeB].map((path) => existsSync(path))).toEqual([false, false]);
  expect((await fs.readdir(snapshots)).filter((name) => name.startsWith('.'))).toEqual([]);
});

test('the files of a service are written beside, flushed, and put in their places', async () => {
  const log = new MemoryLog();
  const done = watched();
  await filled(await service(log, 'beside'), 1);
  for (const name of ['shared.json', 'chain']) {
    const file = folder.join(`beside/${name}`);
    const at = done.indexOf(`${file}.new > ${file}`);
    expect([name, done[at - 1], done[at + 1]]).toEqual([
      name,
      `${file}.new`,
      folder.join('beside'),
    ]);
  }
});

test('a folder that does not say of which log it is is an error that says what to do', async () => {
  const log = new MemoryLog();
  const a = await service(log, 'torn');
  await filled(a, 3);
  await a.close();
  const file = folder.join('torn/shared.json');
  const whole = readFileSync(file, 'utf8');
  const cut = Array.from({ length: 5 }, (_, n) => whole.slice(0, n * 20));
  for (const torn of [
    ...cut,
    '\0'.repeat(40),
    'null',
    '[]',
    '{"log":"x"}',
    '{"log":1,"recipe":2}',
  ]) {
    writeFileSync(file, torn);
    await expect(service(log, 'torn')).rejects.toMatchObject({
      code: 'ERR_SIMHASH_INDEX_DAMAGED',
      message: expect.stringContaining(`shared.json is not whole`),
    });
  }
  await expect(service(log, 'torn')).rejects.toThrow(`remove the folder ${folder.join('torn')}`);
  rmSync(folder.join('torn'), { recursive: true });
  const again = await service(log, 'torn');
  await again.ready();
  expect(again.size).toBe(3);
});

test('a snapshot that does not say what it is is named, unless another one is whole', async () => {
  const log = new MemoryLog();
  const snapshots = folder.join('torn-snapshots');
  const a = await service(log, 'torn-a', { snapshots });
  await filled(a, 3);
  const { name } = await a.snapshot();
  const file = join(snapshots, name, 'snapshot.json');
  const whole = readFileSync(file, 'utf8');
  const store = folderSnapshots(snapshots);
  const damaged = {
    code: 'ERR_SIMHASH_INDEX_DAMAGED',
    message: expect.stringContaining(`remove the folder ${join(snapshots, name)}`),
  };
  const other = whole.replace(name, 'other');
  for (const torn of ['', whole.slice(0, 60), 'null', '{}', other, whole.replace(/\d+/, '"1"')]) {
    writeFileSync(file, torn);
    await expect(store.list()).rejects.toMatchObject(damaged);
  }
  // Neither does a service begin from it, nor is it taken for the one that is to be published.
  expect(await became(await service(log, 'torn-b', { snapshots }), 'broken')).toMatchObject(
    damaged,
  );
  await expect(a.snapshot()).rejects.toMatchObject(damaged);
  // Of two one is whole.
  cpSync(join(snapshots, name), join(snapshots, 'a-copy'), { recursive: true });
  writeFileSync(file, whole);
  expect((await store.list()).map((about) => about.name)).toEqual([name]);
  const fresh = await service(log, 'torn-c', { snapshots });
  await fresh.ready();
  expect(fresh.size).toBe(3);
});
