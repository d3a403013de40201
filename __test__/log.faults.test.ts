/** A shared index where its log, its snapshots or its disk fail: what was refused was not done, and nobody stops for the fault of another. */
import fs from 'node:fs/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { MemoryLog, type OrderedLog } from '../dist/connect/log.js';
import { Batcher } from '../ts/batcher';
import { Folder } from './cli-run';
import { textOf } from './served';
import { type Service, services } from './services';

const folder = new Folder();
const named = services(folder);
// Before they are closed.
afterEach(() => {
  vi.restoreAllMocks();
});

let made = 0;
/** A service of a log, in a folder of its own if no other is named. */
const service = (log: OrderedLog, options: object = {}, name = `f${++made}`) =>
  named(log, name, options);

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

describe('an entry of another history', () => {
  test('stops nobody, and services that were opened again make as little of it', async () => {
    const log = new MemoryLog();
    const a = await service(log);
    await filled(a, 0, 5);
    const name = 'restarted';
    const b = await service(log, {}, name);
    await caughtUp(b, log);
    await b.close();
    const own = JSON.parse(log.entries.at(-1)?.entry ?? '');
    const { position, hash } = own.after;
    const stale = [
      { after: { position: 90, hash } },
      { after: { position, hash: 'f'.repeat(32) } },
      { after: { position: position - 2, hash } },
      { log: 'other' },
      { log: 'other', recipe: 'other' },
      { after: { position: -1, hash } },
    ];
    for (const [n, part] of stale.entries()) {
      const items = [[textOf(200 + n), `s${n}`]];
      await log.append(JSON.stringify({ ...own, id: `${n}`, items, ...part }));
    }
    await a.check(textOf(50));
    const [again, fresh] = [await service(log, {}, name), await service(log)];
    for (const one of [again, fresh]) await caughtUp(one, log);
    expect([a.size, again.size, fresh.size]).toEqual([6, 6, 6]);
    expect(fresh.idOf('s1')).toBe(undefined);
  });

  test('is judged alike by one that begins from a snapshot', async () => {
    const log = new MemoryLog();
    const snapshots = folder.join('judged');
    const a = await service(log, { snapshots });
    await filled(a, 0, 6);
    const third = JSON.parse(log.entries[3]?.entry ?? '');
    await a.snapshot();
    const add = (id: string, hash: string) =>
      log.append(
        JSON.stringify({
          ...third,
          ...{ id, items: [[textOf(id.length + 80)]], after: { ...third.after, hash } },
        }),
      );
    await add('x', third.after.hash);
    await add('xx', 'e'.repeat(32));
    const fresh = await service(log, { snapshots });
    await Promise.all([caughtUp(a, log), caughtUp(fresh, log)]);
    expect([a.size, fresh.size]).toEqual([7, 7]);
  });

  test('a gap that is met again and again ends it, also behind many entries', async () => {
    const log = new MemoryLog();
    const a = await service(log);
    await filled(a, 0, 1);
    const last = JSON.parse(log.entries.at(-1)?.entry ?? '');
    for (let n = 0; n < 600; n++) await log.append(JSON.stringify({ ...last, id: `${n}` }));
    await a.close();
    log.entries.splice(500, 1);
    const b = await service(log);
    await until(() => b.state === 'broken');
    expect(b.error).toMatchObject({ code: 'ERR_SIMHASH_LOG_GAP' });
  });
});

describe('a service', () => {
  test('appends nothing to a log before it has seen that it is the one that it knows', async () => {
    const one = new MemoryLog();
    const a = await service(one, {}, 'known');
    await filled(a, 0, 3);
    await a.close();
    const other = new MemoryLog();
    await filled(await service(other), 0, 6);
    const before = deeds(other);
    const b = await service(other, {}, 'known');
    const asked = Array.from({ length: 20 }, (_, n) => b.check(textOf(300 + n)));
    for (const check of asked) {
      await expect(check).rejects.toMatchObject({ code: 'ERR_SIMHASH_LOG_IDENTITY' });
    }
    expect(deeds(other)).toBe(before);
    await expect(b.snapshot()).rejects.toThrow();
  });

  test('passes by a snapshot that is gone or is not what it is said to be; a list that fails is asked again', async () => {
    const log = new MemoryLog();
    const { folderSnapshots } = await import('../dist/connect/log.js');
    const store = folderSnapshots(folder.join('partly'));
    const a = await service(log, { snapshots: store, keepSnapshots: 5 });
    await filled(a, 0, 3);
    const first = await a.snapshot();
    await filled(a, 3, 3);
    const second = await a.snapshot();
    await filled(a, 6, 3);
    const third = await a.snapshot();
    let lists = 0;
    const taken: string[] = [];
    const faulty = {
      ...store,
      list: async () => {
        lists += 1;
        if (lists === 1) throw new Error('down');
        return store.list();
      },
      fetch: async (name: string, to: string) => {
        taken.push(name);
        if (name === third.name) throw new Error('gone');
        await store.fetch(name === second.name ? first.name : name, to);
      },
    };
    const fresh = await service(log, { snapshots: faulty });
    await caughtUp(fresh, log);
    expect(taken).toEqual([third.name, second.name, first.name]);
    expect(fresh.size).toBe(9);
  });

  test('lives where a listener throws, and tells why it is broken', async () => {
    const log = new MemoryLog();
    const onState = () => {
      throw new Error('a listener');
    };
    const a = await service(log, { onState });
    await a.ready();
    await log.append('no entry');
    await until(() => a.state === 'broken');
    expect(a.error).toMatchObject({ code: 'ERR_SIMHASH_LOG_ENTRY' });
  });

  test('is not ready while the log takes nothing, and is again without being asked', async () => {
    const log = new MemoryLog();
    const a = await service(log);
    await a.ready();
    const append = log.append.bind(log);
    log.append = async () => {
      throw new Error('full');
    };
    await expect(a.check(textOf(1))).rejects.toMatchObject({
      code: 'ERR_SIMHASH_LOG_LOST',
      message: expect.stringContaining('(full)'),
    });
    await a.check(textOf(2)).catch(() => {});
    expect([a.state, (a.error as { code?: string }).code]).toEqual([
      'lost',
      'ERR_SIMHASH_LOG_LOST',
    ]);
    log.append = append;
    await a.ready();
    expect((await a.check(textOf(1))).duplicateOf).toBe(undefined);
  });

  test('reads without a wait until it knows that the log is as it should be', async () => {
    const log = new MemoryLog();
    await filled(await service(log), 0, 3);
    const read = log.read.bind(log);
    const waits: number[] = [];
    const recorded: OrderedLog['read'] = (from, options) => {
      waits.push(options.wait);
      return read(from, options);
    };
    log.read = recorded;
    const a = await service(log, {}, 'sure');
    await a.ready();
    await until(() => waits.length > 1);
    expect([waits[0], waits.at(-1)]).toEqual([0, expect.toSatisfy((wait) => wait > 0)]);
    await a.close();
    // What it has is all that there is, so that nothing comes that a read could bring.
    waits.length = 0;
    const again = await service(log, {}, 'sure');
    await again.ready();
    expect(waits[0]).toBe(0);
    log.read = async () => {
      throw new Error('down');
    };
    await until(() => again.state === 'lost');
    waits.length = 0;
    log.read = recorded;
    await again.ready();
    expect(waits[0]).toBe(0);
  });

  test('says once why the log is lost, without a password, however many attempts fail', async () => {
    const log = new MemoryLog();
    const said: string[] = [];
    const onState = (state: string, error?: Error) => {
      if (error !== undefined) said.push(`${state}: ${error.message}`);
    };
    const a = await service(log, { onState });
    await a.ready();
    const { read } = log;
    let [attempts, why] = [0, new Error('refused by redis://me:s3cret@host:1')];
    log.read = async () => {
      attempts += 1;
      throw why;
    };
    await until(() => attempts > 3);
    expect(said).toEqual([
      'lost: the log cannot be reached: refused by redis://host:1; the attempt is repeated',
    ]);
    // Another reason is told, and one that says it all as it is.
    const code = 'ERR_SIMHASH_LOG_LOST';
    why = Object.assign(new Error('the stream drops entries'), { code });
    await until(() => said.length > 1);
    expect(said.slice(1)).toEqual(['lost: the stream drops entries']);
    log.read = read;
    await a.ready();
  });

  test('asks at once whether the log takes entries where it can be read again', async () => {
    const log = new MemoryLog();
    const a = await service(log, { timeout: 300 });
    await a.ready();
    const { read, append } = log;
    let attempts = 0;
    log.append = async () => {
      attempts += 1;
      throw new Error('down');
    };
    log.read = async () => {
      throw new Error('down');
    };
    await a.check(textOf(1)).catch(() => {});
    // The next attempt would be 8 s after these.
    await until(() => attempts === 3);
    Object.assign(log, { read, append });
    const over = new Promise((done) => setTimeout(done, 5000, 'late'));
    expect(await Promise.race([a.ready(), over])).toBe(undefined);
  });

  test('that has failed for good is not taken for one whose disk is full, though it is', async () => {
    const log = new MemoryLog();
    const a = await service(log);
    await a.ready();
    let isFull = true;
    const { open, statfs } = fs;
    vi.spyOn(fs, 'statfs').mockImplementation(async (path) => {
      const stats = await statfs(path);
      return (isFull ? { ...stats, bavail: 0 } : stats) as never;
    });
    vi.spyOn(fs, 'open').mockImplementation(async (path, ...how) => {
      if (String(path).includes('chain')) throw Object.assign(new Error('bad'), { code: 'EIO' });
      return open(path as string, ...(how as [string]));
    });
    const codes: unknown[] = [];
    const checked = a.check(textOf(1)).catch(({ code }) => codes.push(code));
    await until(() => a.state === 'full');
    isFull = false;
    await until(() => a.state === 'broken');
    await checked;
    vi.restoreAllMocks();
    expect(codes).toEqual(['ERR_SIMHASH_DISK_FULL']);
  });

  test('has lost a log that does not answer', async () => {
    const log = new MemoryLog();
    const a = await service(log);
    await a.ready();
    const read = log.read.bind(log);
    log.read = () => new Promise(() => {});
    await until(() => a.state === 'lost');
    log.read = read;
    await a.ready();
  });
});

/** What never comes. */
const never = () => new Promise<never>(() => {});

describe('a log that never answers', () => {
  test('though it has taken the entry does not hold up who has asked, nor the end', async () => {
    const log = new MemoryLog();
    const a = await service(log, { timeout: 300 });
    await a.ready();
    const append = log.append.bind(log);
    log.append = (entry) => append(entry).then(never);
    const late = { code: 'ERR_SIMHASH_LOG_TIMEOUT' };
    await expect(a.check(textOf(1), { key: 'k1' })).rejects.toMatchObject(late);
    await expect(a.delete({ key: 'other' })).rejects.toMatchObject(late);
    // It was applied, and cannot be said to be safe.
    expect(a.idOf('k1')).toBe(0);
    await until(() => a.state === 'lost');
    const last = a.check(textOf(2)).catch(({ code }) => code);
    await a.close();
    expect(await last).toMatch(/^ERR_SIMHASH_(CLOSED|LOG_LOST|LOG_TIMEOUT)$/);
    log.append = append;
    const b = await service(log);
    expect(await b.check(textOf(1), { key: 'k1' })).toEqual({ id: 0, repeated: true });
  });

  test('is the log again where it answers after all', async () => {
    const log = new MemoryLog();
    const a = await service(log, { timeout: 300 });
    await a.ready();
    const append = log.append.bind(log);
    let answer = () => {};
    log.append = async (entry) => {
      await append(entry);
      await new Promise<void>((done) => {
        answer = done;
      });
    };
    await expect(a.check(textOf(1))).rejects.toMatchObject({ code: 'ERR_SIMHASH_LOG_TIMEOUT' });
    await until(() => a.state === 'lost');
    answer();
    await until(() => a.state === 'ready');
  });

  test('cannot be begun, and the service can be closed', async () => {
    const log = new MemoryLog();
    log.append = never;
    const a = await service(log, { timeout: 300 });
    await until(() => a.state === 'lost');
    expect(a.error).toMatchObject({ code: 'ERR_SIMHASH_LOG_LOST' });
    await a.close();
    const b = await service(log, { timeout: 100_000 });
    await turn();
    await b.close();
    expect(b.state).toBe('closed');
  });

  test('when it is to be trimmed fails the snapshot; nor do a store and a log hold up the end', async () => {
    const log = new MemoryLog();
    log.trim = never;
    const a = await service(log, { timeout: 300, snapshots: folder.join('untrimmed') });
    await a.ready();
    await filled(a, 0, 3);
    await expect(a.snapshot()).rejects.toMatchObject({ code: 'ERR_SIMHASH_LOG_LOST' });
    await a.close();
    const { folderSnapshots } = await import('../dist/connect/log.js');
    const store = folderSnapshots(folder.join('untrimmed'));
    let isPublishing = false;
    const publish = () => {
      isPublishing = true;
      return never();
    };
    const b = await service(log, { timeout: 300, snapshots: { ...store, publish } });
    await b.ready();
    void b.snapshot();
    await until(() => isPublishing);
    Object.assign(log, { close: never });
    await b.close();
    // One that waits for its first snapshot.
    const c = await service(log, { timeout: 300, snapshots: { ...store, list: never } });
    await c.close();
    expect([b.state, c.state]).toEqual(['closed', 'closed']);
  });
});

describe('a service that is closed', () => {
  test('takes nothing more, and answers what was asked before, however many ask', async () => {
    const log = new MemoryLog();
    const a = await service(log, { snapshots: folder.join('under-load') });
    await a.ready();
    const append = log.append.bind(log);
    // Longer than it takes until the next is asked.
    log.append = async (entry) => {
      for (let n = 0; n < 4; n++) await turn();
      await append(entry);
    };
    let [isOver, next] = [false, 0];
    const answers: Promise<string>[] = [];
    const client = async () => {
      while (!isOver) {
        const told = a.check(textOf(next++)).then(
          () => 'answered',
          ({ code }) => code,
        );
        answers.push(told);
        await turn();
      }
    };
    const clients = client();
    await until(() => next > 100);
    const before = answers.length;
    const closing = a.close();
    const refused = { code: 'ERR_SIMHASH_CLOSED' };
    await expect(a.check(textOf(1))).rejects.toMatchObject(refused);
    await expect(a.delete({ id: 0 })).rejects.toMatchObject(refused);
    await expect(a.snapshot()).rejects.toMatchObject(refused);
    await closing;
    isOver = true;
    await clients;
    const told = await Promise.all(answers);
    expect(new Set(told.slice(0, before))).toEqual(new Set(['answered']));
    expect(new Set(told.slice(before))).toEqual(new Set(['ERR_SIMHASH_CLOSED']));
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

  test('deletions wait as checks do, and beyond the most are refused', async () => {
    const log = new MemoryLog();
    const a = await service(log, { maxWaiting: 5, timeout: 400 });
    await a.ready();
    const append = log.append.bind(log);
    log.append = () => new Promise(() => {});
    const all = Array.from({ length: 5 }, (_, id) => a.delete({ id }).catch(({ code }) => code));
    expect(a.waiting).toBe(5);
    await expect(a.delete({ id: 9 })).rejects.toMatchObject({ code: 'ERR_SIMHASH_BUSY' });
    await expect(a.check('x')).rejects.toMatchObject({ code: 'ERR_SIMHASH_BUSY' });
    expect(new Set(await Promise.all(all))).toEqual(new Set(['ERR_SIMHASH_LOG_TIMEOUT']));
    log.append = append;
    await until(() => a.waiting === 0);
    await a.ready();
    expect(await a.delete({ id: 9 })).toBe(false);
  });

  test('for its time is a check from when it was asked, and of what waits for its turn then nothing is appended', async () => {
    const log = new MemoryLog();
    const a = await service(log, { timeout: 500 });
    await a.ready();
    const append = log.append.bind(log);
    const appended: string[] = [];
    log.append = (entry) => {
      appended.push(entry);
      return never();
    };
    const late = ({ code }: { code: string }): unknown => code;
    // As many entries as may be on their way.
    const texts = (n: number) => Array.from({ length: 256 }, (_, at) => `${n} ${at}`);
    const asked = Array.from({ length: 8 }, (_, n) => a.checkMany(texts(n)));
    const behind = [a.check('behind'), a.check('further behind')];
    const codes = await Promise.all(
      [...asked, ...behind].map((one) => (one as Promise<unknown>).catch(late)),
    );
    expect(appended).toHaveLength(8);
    expect(new Set(codes)).toEqual(new Set(['ERR_SIMHASH_LOG_TIMEOUT']));
    log.append = append;
    await until(() => a.waiting === 0);
    await a.ready();
    await a.check('later');
    const all = [...appended, ...log.entries.map(({ entry }) => entry)];
    expect(all.filter((entry) => entry.includes('behind'))).toEqual([]);
  });

  test('of a checkMany of which a part has failed nothing more is appended', async () => {
    const log = new MemoryLog();
    const a = await service(log);
    await a.ready();
    const append = log.append.bind(log);
    let entries = 0;
    log.append = async (entry) => {
      entries += 1;
      if (entries === 1) throw new Error('refused');
      await turn();
      await append(entry);
    };
    const texts = Array.from({ length: 5000 }, (_, n) => textOf(n));
    await expect(a.checkMany(texts)).rejects.toMatchObject({ code: 'ERR_SIMHASH_LOG_LOST' });
    await until(() => a.waiting === 0);
    // As many as may be on their way.
    expect(entries).toBe(8);
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
