/** A shared index where its log, its snapshots or its disk fail: what was refused was not done, and nobody stops for the fault of another. */
import { afterEach, describe, expect, test } from 'vitest';
import { MemoryLog, type OrderedLog, SharedIndex } from '../dist/connect/log.js';
import { Batcher } from '../ts/batcher';
import { Folder } from './cli-run';
import { textOf } from './served';

type Service = SharedIndex<never>;

const folder = new Folder();
const open: Service[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close().catch(() => {});
});

let made = 0;
/** A service of a log, in a folder of its own if no other is named. */
async function service(log: OrderedLog, options: object = {}, name = `f${++made}`) {
  const all = { durability: 'none', ...options };
  const shared = await SharedIndex.open<never>(folder.join(name), log, all as never);
  open.push(shared);
  return shared;
}

const turn = () => new Promise((done) => setTimeout(done, 5));

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await turn();
}

async function caughtUp(one: Service, log: MemoryLog): Promise<void> {
  await until(() => {
    if (one.state === 'broken') throw one.error;
    return one.position >= (log.entries.at(-1)?.position ?? 0);
  });
}

/** Checks some texts, each in an entry of its own. */
async function filled(one: Service, from: number, count: number): Promise<void> {
  for (let n = from; n < from + count; n++) await one.check(textOf(n), { key: `k${n}` });
}

const deeds = (log: MemoryLog) =>
  log.entries.filter(({ entry }) => JSON.parse(entry).items?.length > 0).length;

describe('snapshots', () => {
  test('of a history that the log has forgotten count for nothing: neither is the new one removed nor the log', async () => {
    const log = new MemoryLog();
    const snapshots = folder.join('forgotten');
    const a = await service(log, { snapshots, keepSnapshots: 1 });
    await filled(a, 0, 5);
    log.trim = async () => {};
    await filled(a, 5, 15);
    const old = await a.snapshot();
    await a.close();
    log.rewind(4);
    const b = await service(log, { snapshots, keepSnapshots: 1 });
    await b.ready();
    await b.check(textOf(90));
    log.trim = MemoryLog.prototype.trim;
    const about = await b.snapshot();
    expect(about.position).toBeLessThan(old.position);
    // The entry of the snapshot is the oldest that stays.
    expect(log.entries[0]?.position).toBe(about.position);
    const fresh = await service(log, { snapshots });
    await fresh.ready();
    expect([fresh.size, fresh.position]).toEqual([b.size, b.position]);
    // When the log has come so far again, the old ones go.
    await filled(b, 100, 25);
    const next = await b.snapshot();
    const { folderSnapshots } = await import('../dist/connect/log.js');
    const names = (await folderSnapshots(snapshots).list()).map(({ name }) => name);
    expect(names).toEqual([next.name]);
  });

  test('none is removed where the log cannot be read', async () => {
    const log = new MemoryLog();
    const removed: string[] = [];
    const all: never[] = [];
    const read = log.read.bind(log);
    const snapshots = {
      list: async () => all,
      publish: async (about: never) => {
        all.push(about);
        log.read = async () => {
          throw new Error('down');
        };
      },
      fetch: async () => {},
      remove: async (name: string) => void removed.push(name),
    };
    const a = await service(log, { snapshots, keepSnapshots: 1 });
    await filled(a, 0, 3);
    for (let n = 0; n < 2; n++) {
      await a.ready();
      await expect(a.snapshot()).rejects.toMatchObject({ code: 'ERR_SIMHASH_LOG_LOST' });
      log.read = read;
      await a.check(textOf(50 + n));
    }
    expect([all.length, removed, log.entries[0]?.position]).toEqual([2, [], 1]);
  });
});

describe('what is refused', () => {
  test('was not done: of several groups all are taken, or none', async () => {
    const decided: number[] = [];
    const decide = async (items: readonly number[]) => {
      decided.push(...items);
      return items;
    };
    const batcher = new Batcher(decide, { most: 2, underWay: 1, room: 5, weight: 100 });
    const first = batcher.add([0], 60);
    const groups = (...weights: number[]) =>
      weights.map((weight, n) => ({ items: [n + 1], weight }));
    const refused = { code: 'ERR_SIMHASH_BUSY' };
    await expect(batcher.addAll(groups(20, 30))).rejects.toMatchObject(refused);
    await expect(batcher.addAll(groups(1, 1, 1, 1, 1))).rejects.toMatchObject(refused);
    expect(batcher.items).toBe(1);
    expect(await batcher.addAll(groups(20, 20))).toEqual([[1], [2]]);
    await first;
    expect(decided).toEqual([0, 1, 2]);
  });

  test('of a large checkMany nothing is appended where not all of it may wait', async () => {
    const log = new MemoryLog();
    const a = await service(log, { timeout: 300, maxEntry: 16 << 20 });
    await a.ready();
    const append = log.append.bind(log);
    const appended: string[] = [];
    log.append = (entry) => {
      appended.push(entry);
      return new Promise(() => {});
    };
    const waiting = a.check('x'.repeat(10 << 20)).catch(({ code }) => code);
    const texts = Array.from({ length: 5 }, (_, n) => `${n}${'y'.repeat(12 << 20)}`);
    await expect(a.checkMany(texts)).rejects.toMatchObject({ code: 'ERR_SIMHASH_BUSY' });
    expect(a.waiting).toBe(1);
    expect(await waiting).toBe('ERR_SIMHASH_LOG_TIMEOUT');
    expect(appended.filter((entry) => entry.includes('"0yyy'))).toEqual([]);
    log.append = append;
  });
});
