/** A shared index over a log in memory: services of one log decide the same, and a log that forgets is noticed. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type Checked, Index } from '..';
import {
  folderSnapshots,
  type LogEntry,
  MemoryLog,
  type OrderedLog,
  SharedIndex,
  type SharedOptions,
} from '../dist/connect/log.js';
import { itemOf } from '../ts/connect/log/sketch';
import { Folder, ROOT } from './cli-run';
import { textOf } from './served';

const folder = new Folder();
const open: SharedIndex<never>[] = [];
afterEach(async () => {
  for (const service of open.splice(0)) await service.close().catch(() => {});
});

let made = 0;
/** A service of a log, in a folder of its own if no other is named. */
async function service(
  log: OrderedLog,
  options: SharedOptions<never> & object = {} as never,
  name = `s${++made}`,
): Promise<SharedIndex<never>> {
  const shared = await SharedIndex.open<never>(folder.join(name), log, {
    durability: 'none',
    ...options,
  } as never);
  open.push(shared);
  return shared;
}

async function stopped(shared: SharedIndex<never>): Promise<void> {
  await shared.close();
}

/** Random numbers that are the same in every run. */
function random(seed: number): (end: number) => number {
  let state = seed;
  return (end) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state >>> 8) % end;
  };
}

/** Waits until a service has applied the whole log. */
async function caughtUp(shared: SharedIndex<never>, log: MemoryLog): Promise<void> {
  while (shared.position < (log.entries.at(-1)?.position ?? 0)) {
    if (shared.state === 'broken') throw shared.error;
    await new Promise((done) => setTimeout(done, 5));
  }
}

/** Waits for a state, and says why it is so. */
async function became(shared: SharedIndex<never>, state: string): Promise<string | undefined> {
  while (shared.state !== state) await new Promise((done) => setTimeout(done, 5));
  return (shared.error as { code?: string } | undefined)?.code;
}

/** What an entry does, as it stands in a log. */
const deedOf = (log: MemoryLog, position: number) =>
  JSON.parse(log.entries.find((one) => one.position === position)?.entry ?? '{}');

describe('services of one log', () => {
  test('of copies that come to two of them at once exactly one is kept, and both answer the same', async () => {
    const log = new MemoryLog();
    const [a, b] = [await service(log), await service(log)];
    const texts = Array.from({ length: 300 }, (_, n) => textOf(n));
    const ask = (one: SharedIndex<never>, name: string) =>
      Promise.all(texts.map((text, n) => one.check(text, { key: `${name}${n}` })));
    const [ofA, ofB] = await Promise.all([ask(a, 'a'), ask(b, 'b')]);
    for (const [n, one] of ofA.entries()) {
      const kept = [one, ofB[n]].filter((checked) => checked?.duplicateOf === undefined);
      expect(kept).toHaveLength(1);
    }
    await Promise.all([caughtUp(a, log), caughtUp(b, log)]);
    expect([a.size, b.size, a.position]).toEqual([300, 300, b.position]);
    // Asked again at the other one, a key has its first answer.
    for (const n of [0, 17, 299]) {
      const again = await b.check(texts[n] ?? '', { key: `a${n}` });
      expect(again).toEqual({ ...ofA[n], repeated: true });
    }
    expect(a.search(texts[7] ?? '')).toMatchObject([{ verified: true }]);
    const found = await b.searchManyAsync(texts, { limit: 1 });
    for (const n of [7, 299]) expect([...found.get(n)]).toEqual([...a.search(texts[n] ?? '')]);
    // Checks of one moment share entries.
    expect(log.entries.length).toBeLessThan(100);
  });

  /** Half an index without texts, where sketches travel; half with each window. */
  const BATCHED = [
    ['minhash', { method: 'minhash' }, { maxAge: 60_000 }],
    ['simhash', { method: 'simhash', maxDistance: 3 }, { maxAge: 60_000 }],
    ['simhash without texts', { method: 'simhash', texts: false }, { maxCount: 100 }],
    ['minhash without texts', { method: 'minhash', texts: false }, { maxAge: 60_000 }],
    ['sentences', { method: 'sentences' }, { maxCount: 100 }],
    ['exact', { method: 'exact' }, { maxAge: 60_000 }],
  ] as const;

  test.each(
    BATCHED.flatMap(([name, options, window], at) =>
      [1, 2, 3].map((seed) => [name, 10 * at + seed, options, window] as const),
    ),
  )(
    'any batching of one log gives the decisions of an index alone (%s, %i)',
    async (_, seed, options, window) => {
      let now = 1_700_000_000_000;
      const log = new MemoryLog(() => now);
      const below = random(seed);
      const snapshots = folder.join(`batched-${seed}`);
      const all = { ...options, window, snapshots, keepSnapshots: 1 } as never;
      const a = await service(log, all);
      await a.ready();
      // What is trimmed below was read here before.
      const entries: LogEntry[] = [];
      const { append } = log;
      log.append = async (entry) => {
        await append.call(log, entry);
        entries.push(log.entries.at(-1) as LogEntry);
      };
      const answers: Checked[] = [];
      // Entries of many sizes, at times that go backwards too; one key in ten comes again; some texts are long.
      const round = async () => {
        now += below(9000) - 2000;
        const texts = Array.from({ length: 1 + below(40) }, () => {
          const n = below(400);
          return below(30) === 0 ? textOf(n).repeat(60) : textOf(n);
        });
        const keys = texts.map(() => (below(4) === 0 ? undefined : `k${below(600)}`));
        answers.push(...(await a.checkMany(texts, { keys })));
        if (below(5) === 0)
          await a.delete(below(2) === 0 ? { key: `k${below(600)}` } : { id: below(300) });
      };
      for (let n = 0; n < 30; n++) await round();
      // In the middle a service is stopped, and another one begins from a snapshot when the log was trimmed.
      const name = `again${seed}`;
      const c = await service(log, all, name);
      await caughtUp(c, log);
      await stopped(c);
      for (let n = 0; n < 30; n++) await round();
      const b = await service(log, all);
      await caughtUp(b, log);
      expect((await a.snapshot()).position).toBe(entries.at(-1)?.position);
      await round();
      // The same log by an index alone, item by item.
      const alone = new Index({
        ...options,
        window: { ...window, maxSkew: Number.POSITIVE_INFINITY },
        keys: true,
        onSameKey: 'repeat',
      } as never) as Index;
      const expected: Checked[] = [];
      for (const { entry, time } of entries) {
        const { items = [], delete: gone } = JSON.parse(entry);
        for (const [text, key] of items) {
          expected.push(alone.checkAndAdd(itemOf(text) as string, { at: time, key }));
        }
        const id = gone === undefined ? undefined : (gone.id ?? alone.idOf(gone.key));
        if (id !== undefined) alone.delete(id);
      }
      expect(answers).toEqual(expected);
      const found = (one: { search(text: string): unknown }) =>
        Array.from({ length: 400 }, (_, n) => one.search(textOf(n)));
      const known = found(alone);
      // One that read all of it in one go, one that was stopped longer than the log reaches back, and one that is new.
      await caughtUp(b, log);
      const [d, e] = [await service(log, all, name), await service(log, all)];
      for (const one of [d, e]) await one.ready();
      for (const one of [a, b, d, e]) {
        await caughtUp(one, log);
        expect(one.size).toBe(alone.size);
        expect(found(one)).toEqual(known);
      }
      // Stopped and opened again it goes on as if it had not.
      await stopped(d);
      await a.checkMany(['一段新的文字，从来没有出现过'], { keys: ['new'] });
      const again = await service(log, all, name);
      await caughtUp(again, log);
      expect(found(again)).toEqual(found(a));
    },
  );

  test('entries that are delivered twice, and in parts of one, change nothing', async () => {
    const log = new MemoryLog();
    const a = await service(log);
    await a.checkMany(Array.from({ length: 50 }, (_, n) => textOf(n % 30)));
    await a.checkMany([textOf(1), textOf(99)], { keys: ['x', 'y'] });
    const twice: OrderedLog = {
      append: (entry) => log.append(entry),
      trim: (before) => log.trim(before),
      read: async (from, options) => {
        const part = await log.read(Math.max(0, from - 3), { ...options, limit: 5 });
        return { ...part, entries: part.entries.flatMap((one) => [one, one]) };
      },
    };
    const b = await service(twice);
    await caughtUp(b, log);
    expect([b.size, b.position]).toEqual([a.size, a.position]);
  });

  test('two who begin a log at once begin one', async () => {
    const log = new MemoryLog();
    const both = await Promise.all([service(log), service(log)]);
    const checked = await Promise.all(both.map((one, n) => one.check(textOf(5), { key: `${n}` })));
    expect(checked.filter(({ duplicateOf }) => duplicateOf === undefined)).toHaveLength(1);
    for (const one of both) expect(one.state).toBe('ready');
  });

  test('the clock of the log decides, where it goes back a day and ahead, too', async () => {
    let now = 1_700_000_000_000;
    const log = new MemoryLog(() => now);
    const a = await service(log, { window: { maxAge: 3_600_000 } } as never);
    const first = await a.check(textOf(1));
    now -= 86_400_000;
    expect(await a.check(textOf(1))).toMatchObject({ duplicateOf: first.id });
    now += 2 * 86_400_000;
    expect((await a.check(textOf(1))).duplicateOf).toBe(undefined);
    const b = await service(log, { window: { maxAge: 3_600_000 } } as never);
    await caughtUp(b, log);
    expect(b.size).toBe(a.size);
  });
});

test('a program is not over while a service of a log in memory is at work', () => {
  const code = `
    const { MemoryLog, SharedIndex } = require(${JSON.stringify(join(ROOT, 'dist/connect/log.js'))});
    (async () => {
      const shared = await SharedIndex.open(${JSON.stringify(folder.join('alone'))}, new MemoryLog());
      await shared.ready();
      console.log(JSON.stringify(await shared.check('x')));
      await shared.close();
    })();`;
  const { status, stdout } = spawnSync(process.execPath, ['-e', code], { encoding: 'utf8' });
  expect([status, stdout]).toEqual([0, '{"id":0}\n']);
});

describe('what is asked', () => {
  test('a check that does not come back is given up, and its key tells later what became of it', async () => {
    const log = new MemoryLog();
    const a = await service(log, { timeout: 200 } as never);
    await a.ready();
    const append = log.append.bind(log);
    const held: string[] = [];
    log.append = async (entry) => void held.push(entry);
    await expect(a.check(textOf(1), { key: 'k' })).rejects.toMatchObject({
      code: 'ERR_SIMHASH_LOG_TIMEOUT',
    });
    log.append = append;
    for (const entry of held) await append(entry);
    await caughtUp(a, log);
    expect(await a.check(textOf(1), { key: 'k' })).toEqual({ id: 0, repeated: true });
  });

  test('a log that takes nothing is a typed error; more than may wait is refused; memory is bounded', async () => {
    const log = new MemoryLog();
    const a = await service(log, { timeout: 300, maxWaiting: 100 } as never);
    await a.ready();
    const append = log.append.bind(log);
    log.append = async () => {
      throw new Error('down');
    };
    await expect(a.check(textOf(1))).rejects.toMatchObject({ code: 'ERR_SIMHASH_LOG_LOST' });
    log.append = () => new Promise(() => {});
    const waiting = Array.from({ length: 100 }, (_, n) =>
      a.check(textOf(n)).catch((error) => error.code),
    );
    await expect(a.check(textOf(1))).rejects.toMatchObject({ code: 'ERR_SIMHASH_BUSY' });
    expect(a.waiting).toBe(100);
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['ERR_SIMHASH_LOG_TIMEOUT']));
    while (a.waiting > 0) await new Promise((done) => setTimeout(done, 5));
    log.append = append;
    expect((await a.check(textOf(500))).duplicateOf).toBe(undefined);
  });

  test('a log that cannot be read is lost until it can, and what was asked is answered then', async () => {
    const log = new MemoryLog();
    const a = await service(log);
    await a.ready();
    const read = log.read.bind(log);
    log.read = async () => {
      throw new Error('down');
    };
    const checked = a.check(textOf(1));
    expect(await became(a, 'lost')).toBe('ERR_SIMHASH_LOG_LOST');
    log.read = read;
    expect(await checked).toEqual({ id: 0 });
    await a.ready();
    expect(a.error).toBe(undefined);
  });

  test.each([
    [{ memory: 1e9 }, 'memory must be left out'],
    [{ keys: false }, 'keys must be left out'],
    [{ onSameKey: 'add' }, 'onSameKey must be left out'],
    [{ timeout: 0 }, 'timeout must be a whole number from 1'],
    [{ snapshots: 7 }, 'snapshots must be a folder, or a store'],
    [{ dictionary: 'x' }, 'dictionary needs recipe beside it'],
    [{ maxDistence: 3 }, "did you mean 'maxDistance'?"],
  ])('options %j are refused: %s', async (options, reason) => {
    await expect(service(new MemoryLog(), options as never)).rejects.toThrow(reason);
  });

  test('arguments are checked before anything is appended', async () => {
    const log = new MemoryLog();
    const a = await service(log, { maxEntry: 2048 } as never);
    await a.ready();
    const before = log.entries.length;
    await expect(a.check('x'.repeat(3000))).rejects.toThrow('must be of at most 1536 bytes');
    await expect(a.check(7 as never)).rejects.toThrow('texts[0] must be a string');
    await expect(a.check('x', { key: '' })).rejects.toThrow('keys[0] must be a string of 1 to');
    await expect(a.checkMany(['x'], { keys: [] })).rejects.toThrow('as many as texts, 1, got 0');
    await expect(a.delete({ id: -1 })).rejects.toThrow('id must be a whole number');
    await expect(a.snapshot()).rejects.toThrow('snapshot needs the option snapshots');
    await expect(SharedIndex.open(folder.join('x'), {} as never)).rejects.toThrow(
      'append, read and trim',
    );
    expect(log.entries.length).toBe(before);
    // Entries keep to their most bytes.
    await a.checkMany(Array.from({ length: 100 }, (_, n) => textOf(n)));
    for (const { entry } of log.entries) expect(Buffer.byteLength(entry)).toBeLessThanOrEqual(2048);
  });
});

describe('a log that forgets', () => {
  /** A log of some entries, and a service that has applied them. */
  async function begun(options: object = {}, name?: string) {
    const log = new MemoryLog();
    const a = await service(log, options as never, name);
    for (let n = 0; n < 10; n++) await a.check(textOf(n), { key: `k${n}` });
    return { log, a };
  }

  test('entries that are missing are noticed', async () => {
    const { log } = await begun();
    log.entries.splice(5, 1);
    const b = await service(log);
    expect(await became(b, 'broken')).toBe('ERR_SIMHASH_LOG_GAP');
    await expect(b.check('x')).rejects.toThrow('entries 6 to 6 of the log are missing');
    await expect(b.ready()).rejects.toMatchObject({ code: 'ERR_SIMHASH_LOG_GAP' });
  });

  test('the newest entries that are missing are noticed, and by a service that has applied them not missed', async () => {
    const { log, a } = await begun({}, 'newest');
    const b = await service(log);
    await caughtUp(b, log);
    await stopped(a);
    for (let n = 10; n < 13; n++) await b.check(textOf(n));
    log.entries.length = 0;
    // One that was stopped, and one that is new, which appends nothing.
    for (const [name, first] of [
      ['newest', 12],
      ['newest-fresh', 1],
    ] as const) {
      const one = await service(log, {} as never, name);
      await expect(one.check('x')).rejects.toMatchObject({ code: 'ERR_SIMHASH_LOG_GAP' });
      expect(await became(one, 'broken')).toBe('ERR_SIMHASH_LOG_GAP');
      expect(one.error?.message).toContain(`entries ${first} to 14 of the log are missing`);
    }
    expect(log.entries).toHaveLength(0);
    expect((await b.check(textOf(20))).duplicateOf).toBe(undefined);
    expect(b.state).toBe('ready');
  });

  test('entries that are appended while the log is read are not taken for missing ones', async () => {
    const { log } = await begun();
    // As a log has it that is asked for its entries first and then for its end: one read in two is late.
    let isLate = false;
    const late: OrderedLog = {
      append: (entry) => log.append(entry),
      trim: (before) => log.trim(before),
      read: async (from, options) => {
        const { entries, last } = await log.read(from, options);
        isLate = !isLate;
        return { entries: isLate ? entries.filter((one) => one.position <= from) : entries, last };
      },
    };
    const states: unknown[] = [];
    const onState = (_: string, error?: Error) => states.push(error);
    const b = await service(late, { onState } as never);
    for (let n = 20; n < 30; n++) await b.check(textOf(n));
    expect(states.filter((error) => error !== undefined)).toEqual([]);
  });

  test('a log that was trimmed past a stopped service is noticed; with a snapshot it goes on', async () => {
    const snapshots = folder.join('trimmed-snapshots');
    const { log, a } = await begun({ snapshots, keepSnapshots: 1 });
    const late = await service(log, {} as never, 'late');
    await caughtUp(late, log);
    await stopped(late);
    for (let n = 10; n < 20; n++) await a.check(textOf(n), { key: `k${n}` });
    const about = await a.snapshot();
    expect(log.entries[0]?.position).toBe(about.position);
    await a.check(textOf(30), { key: 'k30' });
    const without = await service(log, {} as never, 'late');
    expect(await became(without, 'broken')).toBe('ERR_SIMHASH_LOG_GAP');
    await stopped(without);
    const again = await service(log, { snapshots } as never, 'late');
    await again.ready();
    await caughtUp(again, log);
    expect([again.size, again.position]).toEqual([a.size, a.position]);
    expect(await again.check(textOf(30), { key: 'k30' })).toMatchObject({ repeated: true });
    // A new service begins from the snapshot, too.
    const fresh = await service(log, { snapshots } as never);
    await fresh.ready();
    await caughtUp(fresh, log);
    expect(fresh.size).toBe(a.size);
  });

  test('an older copy is noticed, by what it ends at and by what follows, and begun again from', async () => {
    const { log, a } = await begun();
    const states: string[] = [];
    const b = await service(log, {
      onState: (state: string, error?: { code: string }) =>
        states.push(`${state} ${error?.code ?? ''}`),
    } as never);
    await b.ready();
    log.rewind(6);
    // The log begins with its first entry: both begin again from there.
    await became(b, 'catching-up');
    await b.ready();
    await a.ready();
    expect(states).toContain('catching-up ERR_SIMHASH_LOG_BEHIND');
    expect([b.position, b.size, a.size]).toEqual([6, 5, 5]);
    // What was forgotten is new.
    expect((await a.check(textOf(9), { key: 'k9' })).duplicateOf).toBe(undefined);
  });

  test('a replica that lacks the last entries is noticed also where it has grown again', async () => {
    const { log, a } = await begun();
    await stopped(a);
    const b = await service(log);
    await caughtUp(b, log);
    log.rewind(8);
    for (let n = 40; n < 50; n++) {
      // A service that had not seen what was lost.
      const entry = { ...deedOf(log, 5), id: `${n}`, items: [[textOf(n)]] };
      await log.append(JSON.stringify(entry));
    }
    const states: (string | undefined)[] = [];
    while (b.position !== 18 || b.state !== 'ready') {
      states.push((b.error as { code?: string } | undefined)?.code);
      await new Promise((done) => setTimeout(done, 5));
    }
    expect(states.some((code) => /_(CHAIN|BEHIND)$/.test(code ?? ''))).toBe(true);
    expect(b.size).toBe(17);
  });

  test('a log that lost its end, grew again and was trimmed to just behind what a service had applied is noticed', async () => {
    const snapshots = folder.join('grown-snapshots');
    const { log, a } = await begun();
    await stopped(a);
    const b = await service(log, { snapshots } as never, 'grown');
    await caughtUp(b, log);
    const head = b.position;
    await stopped(b);
    log.rewind(head - 1);
    const c = await service(log, { snapshots, keepSnapshots: 1 } as never);
    await caughtUp(c, log);
    await Promise.all([c.check(textOf(40)), c.check(textOf(41))]);
    while (c.position < head + 1) await c.check(textOf(42 + c.position));
    await c.snapshot();
    await log.trim(head + 1);
    expect(log.entries[0]?.position).toBe(head + 1);
    const states: unknown[] = [];
    const onState = (_: string, error?: Error) => states.push((error as { code?: string })?.code);
    const late = await service(log, { snapshots, onState } as never, 'grown');
    await late.ready();
    await caughtUp(late, log);
    expect(states.some((code) => /_(CHAIN|GAP)$/.test(String(code)))).toBe(true);
    expect(late.size).toBe(c.size);
    const [one, other] = await Promise.all([late.check(textOf(90)), c.check(textOf(90))]);
    expect([one.duplicateOf, other.duplicateOf].filter((of) => of !== undefined)).toHaveLength(1);
  });

  test('an entry of a writer that has seen another history is not applied', async () => {
    const { log, a } = await begun();
    const size = a.size;
    const last = deedOf(log, 8);
    const forged = {
      ...last,
      id: 'x',
      after: { ...last.after, hash: 'f'.repeat(32) },
      items: [['新文字']],
    };
    await log.append(JSON.stringify(forged));
    // Nothing is made of it, by whoever reads it, and what follows is applied.
    expect((await a.check(textOf(60))).duplicateOf).toBe(undefined);
    const b = await service(log);
    await caughtUp(b, log);
    expect([a.size, b.size, b.position]).toEqual([size + 1, size + 1, a.position]);
  });

  test('another log under the same name is refused', async () => {
    const { a } = await begun({}, 'moved');
    await stopped(a);
    const other = (await begun()).log;
    for (let n = 0; n < 5; n++) await other.append(JSON.stringify(deedOf(other, 5)));
    const b = await service(other, {} as never, 'moved');
    expect(await became(b, 'broken')).toBe('ERR_SIMHASH_LOG_IDENTITY');
  });

  test('a service of another recipe is refused, by its folder and by the log', async () => {
    const { log, a } = await begun({}, 'recipe');
    await stopped(a);
    await expect(service(log, { minSimilarity: 0.9 } as never, 'recipe')).rejects.toMatchObject({
      code: expect.stringMatching(/ERR_SIMHASH_(LOG_RECIPE|INDEX_MISMATCH)/),
    });
    const b = await service(log, { minSimilarity: 0.9 } as never);
    expect(await became(b, 'broken')).toBe('ERR_SIMHASH_LOG_RECIPE');
    const c = await service(log, { minSimilarity: undefined, threads: 1, timeout: 5000 } as never);
    await c.ready();
  });

  test('what is no entry, or one of a later release, is named', async () => {
    for (const [text, reason] of [
      ['hello', 'entry 12 of the log is not of this package'],
      ['{"v":2}', 'entry 12 of the log is of version 2'],
      ['{"v":1,"items":[[1]]}', 'entry 12 of the log is not of this package'],
      // Whole but for a key that no index takes.
      [{ items: [['文字', '']] }, 'entry 12 of the log is not of this package'],
      [{ items: [['文字', '\ud800']] }, 'entry 12 of the log is not of this package'],
      [{ delete: { key: 'a\udc00' } }, 'entry 12 of the log is not of this package'],
      [{ delete: { id: -1 } }, 'entry 12 of the log is not of this package'],
    ] as const) {
      const { log, a } = await begun();
      const { items: _, ...head } = deedOf(log, 11) as { items?: unknown };
      await log.append(typeof text === 'string' ? text : JSON.stringify({ ...head, ...text }));
      expect(await became(a, 'broken')).toBe('ERR_SIMHASH_LOG_ENTRY');
      expect(a.error?.message).toContain(reason);
    }
  });

  test('a folder whose history is not known begins again', async () => {
    const { log, a } = await begun({}, 'torn');
    await stopped(a);
    folder.write('torn/chain', '5 torn');
    const b = await service(log, {} as never, 'torn');
    await b.ready();
    expect([b.size, b.position]).toEqual([10, 11]);
  });
});

describe('snapshots', () => {
  test('are of one position, taken while the log goes on, and two who take them do no harm', async () => {
    const log = new MemoryLog();
    const snapshots = folder.join('busy-snapshots');
    const [a, b] = [
      await service(log, { snapshots } as never),
      await service(log, { snapshots } as never),
    ];
    await Promise.all([a.ready(), b.ready()]);
    let isOver = false;
    const load = (async () => {
      for (let n = 0; !isOver; n++) {
        const texts = Array.from({ length: 50 }, (_, at) => textOf((n * 50 + at) % 3000));
        // Without keys: a document that was counted twice would be a duplicate of itself.
        await (n % 2 === 0 ? a : b).checkMany(texts);
      }
    })();
    for (let round = 0; round < 4; round++) await Promise.all([a.snapshot(), b.snapshot()]);
    isOver = true;
    await load;
    const all = await folderSnapshots(snapshots).list();
    expect(all).toHaveLength(2);
    expect(readdirSync(snapshots).filter((name) => name.startsWith('.'))).toEqual([]);
    const fresh = await service(log, { snapshots } as never);
    await Promise.all([a, b, fresh].map((one) => caughtUp(one, log)));
    const ids = (one: SharedIndex<never>) =>
      Array.from({ length: 3000 }, (_, n) => one.search(textOf(n)).map(({ id }) => id));
    expect(ids(fresh)).toEqual(ids(a));
    expect(ids(b)).toEqual(ids(a));
  });

  test('one that is published stays as it is', async () => {
    const store = folderSnapshots(folder.join('same'));
    const about = { name: '1-a', position: 1, hash: 'h', previous: 'p', log: 'l', recipe: 'r' };
    folder.write('one', '');
    const from = new Folder();
    from.write('file', 'first');
    await store.publish(about, from.path);
    from.write('file', 'second');
    await store.publish(about, from.path);
    await store.fetch('1-a', folder.join('fetched'));
    expect(folder.read(join('fetched', 'file'))).toBe('first');
    await store.remove('1-a');
    await store.remove('1-a');
    expect(await store.list()).toEqual([]);
  });
});
