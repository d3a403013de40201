/** The logs of real servers: each is what an ordered log must be, and what it forgets is noticed. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Checked } from '..';
import { MemoryLog, type OrderedLog, SharedIndex } from '../dist/connect/log.js';
import { Folder } from './cli-run';
import { KINDS, type LogKind, type LogServer } from './log-servers';
import { textOf } from './served';

type Shared = SharedIndex<never>;

const folder = new Folder();
const open: Shared[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close().catch(() => {});
});

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((done) => setTimeout(done, 5));
}

const codeOf = (one: Shared) => (one.error as { code?: string } | undefined)?.code;

/** Checks a text, and asks again with the same key while the log is lost. */
async function asked(one: Shared, n: number, key = `k${n}`): Promise<Checked> {
  for (;;) {
    try {
      return (await one.check(textOf(n), { key })) as Checked;
    } catch (error) {
      if ((error as { code?: string }).code !== 'ERR_SIMHASH_LOG_LOST') throw error;
    }
  }
}

/** Checks some texts, each in an entry of its own. */
async function filled(one: Shared, from: number, count: number): Promise<void> {
  for (let n = from; n < from + count; n++) await asked(one, n);
}

const over = (kind: LogKind) => {
  let server: LogServer;
  beforeAll(async () => {
    server = await kind.open();
  });
  afterAll(() => server?.close());

  let made = 0;
  /** A service of a stream, in a folder of its own if no other is named. */
  async function service(
    stream: string,
    options: object = {},
    { name = `s${++made}`, on = server, log = undefined as OrderedLog | undefined } = {},
  ): Promise<Shared> {
    const own = log ?? (await kind.connect(on.url, { stream }));
    const all = { durability: 'none', ...options };
    const shared = await SharedIndex.open<never>(
      folder.join(`${kind.name}-${name}`),
      own,
      all as never,
    );
    open.push(shared);
    return shared;
  }

  test('has the entries of a log in memory: positions, times, ends, trimming', async () => {
    const log = await kind.connect(server.url, { stream: 'adapter' });
    const memory = new MemoryLog();
    const { signal } = new AbortController();
    const ask = async (log: OrderedLog, from: number, limit = 10) => {
      const { entries, last } = await log.read(from, { limit, wait: 20, signal });
      return { last, entries: entries.map(({ position, entry }) => [position, entry]) };
    };
    const same = async (from: number, limit?: number) =>
      expect(await ask(log, from, limit)).toEqual(await ask(memory, from, limit));
    await same(0);
    // The longest has the default of maxEntry.
    const long = 'x'.repeat(768 * 1024);
    for (const entry of ['a', '文字 "\\u0000\r\n', '', long]) {
      await Promise.all([log.append(entry), memory.append(entry)]);
    }
    for (const from of [0, 1, 3, 4]) await same(from);
    await same(2, 2);
    await Promise.all([log.trim(3), memory.trim(3)]);
    for (const from of [0, 2, 3, 4]) await same(from);
    await Promise.all([log.trim(5), memory.trim(5)]);
    await same(4);
    // The newest are gone: where the log ends is told all the same.
    await Promise.all([log.append('gone'), memory.append('gone')]);
    memory.entries.length = 0;
    await kind.empty(server.url, 'adapter');
    for (const from of [0, 3, 4, 5]) await same(from);
    await log.trim(90);
    await log.append('later');
    const { entries } = await log.read(5, { limit: 5, wait: 0, signal });
    expect(entries).toEqual([{ position: 6, time: expect.any(Number), entry: 'later' }]);
    expect(Math.abs((entries[0]?.time ?? 0) - Date.now())).toBeLessThan(60_000);
    await log.close?.();
  });

  test('a part of long entries is short, and all of them come', async () => {
    const log = await kind.connect(server.url, { stream: 'long' });
    const sizes = [10, 20, ...Array.from({ length: 40 }, (_, n) => 700_000 + n), 30];
    for (const size of sizes) await log.append('x'.repeat(size));
    const { signal } = new AbortController();
    const found: number[] = [];
    let parts = 0;
    while (found.length < sizes.length) {
      const from = found.length;
      const { entries, last } = await log.read(from, { limit: 256, wait: 0, signal });
      const bytes = entries.reduce((sum, { entry }) => sum + entry.length, 0);
      // 8 MiB, and the few that were asked for at once.
      expect(bytes).toBeLessThan(20 << 20);
      const news = entries.filter(({ position }) => position > from);
      expect([last, news[0]?.position]).toEqual([sizes.length, from + 1]);
      found.push(...news.map(({ entry }) => entry.length));
      parts += 1;
    }
    expect([found, parts > 2]).toEqual([sizes, true]);
    await log.close?.();
  });

  test('a read that waits has what another connection appends, and ends when it is told to', async () => {
    const [one, other] = [
      await kind.connect(server.url, { stream: 'waits' }),
      await kind.connect(server.url, { stream: 'waits' }),
    ];
    await one.append('first');
    const ending = new AbortController();
    const options = { limit: 10, wait: 100_000, signal: ending.signal };
    const waiting = one.read(1, options);
    await other.append('second');
    expect((await waiting).entries.map(({ entry }) => entry)).toEqual(['first', 'second']);
    const more = one.read(2, options);
    ending.abort();
    // Redis ends with its connection, NATS at once.
    await one.close?.();
    await more.catch(() => {});
    await other.close?.();
  });

  test('a server that is not there is a typed error without the password', async () => {
    const options = { client: kind.once } as never;
    const error = await kind.connect(kind.nowhere, options).catch((error) => error);
    expect(error).toMatchObject({ code: 'ERR_SIMHASH_LOG_LOST' });
    expect(error.message).toContain(kind.nowhere.replace('user:secret@', ''));
    expect(error.message).not.toContain('secret');
    // Who forgot to escape a password has other characters in it.
    const odd = kind.nowhere.replace('user:secret', `user:sec'r et`);
    const told = await kind.connect(odd, options).catch((error) => error);
    expect(told.message).not.toMatch(/sec|r et/);
    await expect(kind.connect(kind.nowhere, { strem: 'x' } as never)).rejects.toThrow("'stream'");
    const ended = AbortSignal.abort(new Error('enough'));
    await expect(kind.connect(kind.nowhere, { signal: ended } as never)).rejects.toThrow('enough');
    const soon = AbortSignal.timeout(50);
    await expect(kind.connect(kind.nowhere, { signal: soon } as never)).rejects.toThrow('timeout');
  });

  test('entries that come again and again are applied once', async () => {
    const a = await service('twice');
    await filled(a, 0, 12);
    const log = await kind.connect(server.url, { stream: 'twice' });
    const twice: OrderedLog = {
      append: (entry) => log.append(entry),
      trim: (before) => log.trim(before),
      close: async () => log.close?.(),
      read: async (from, options) => {
        const part = await log.read(Math.max(0, from - 3), { ...options, limit: 5 });
        return { ...part, entries: part.entries.flatMap((one) => [one, one]) };
      },
    };
    const b = await service('twice', {}, { log: twice });
    await until(() => b.position === a.position);
    expect([b.size, b.state]).toEqual([a.size, 'ready']);
  });

  test('an entry that is missing is noticed, and so are three hundred', async () => {
    const a = await service('gap');
    await filled(a, 0, 8);
    await kind.remove(server.url, 'gap', [5]);
    const b = await service('gap');
    await until(() => b.state === 'broken');
    expect(b.error?.message).toContain('entries 5 to 5 of the log are missing');
    expect(codeOf(b)).toBe('ERR_SIMHASH_LOG_GAP');
    // More than are read at once.
    const log = await kind.connect(server.url, { stream: 'long-gap' });
    const c = await service('long-gap');
    await c.check('x');
    await c.close();
    for (let n = 3; n <= 304; n++) await log.append('no entry');
    const missing = Array.from({ length: 301 }, (_, n) => n + 3);
    await kind.remove(server.url, 'long-gap', missing);
    await log.close?.();
    const d = await service('long-gap');
    await until(() => d.state === 'broken');
    expect(d.error?.message).toContain('entries 3 to 303 of the log are missing');
  });

  test('the newest entries that are missing are noticed, by one that was stopped and by one that is new', async () => {
    const a = await service('newest');
    await filled(a, 0, 4);
    const b = await service('newest', {}, { name: 'newest' });
    await until(() => b.position === a.position);
    await b.close();
    await filled(a, 4, 3);
    await kind.empty(server.url, 'newest');
    const first = { newest: 6, 'newest-fresh': 1 };
    for (const [name, from] of Object.entries(first)) {
      const one = await service('newest', {}, { name });
      await until(() => one.state === 'broken');
      expect(codeOf(one)).toBe('ERR_SIMHASH_LOG_GAP');
      expect(one.error?.message).toContain(`entries ${from} to 8 of the log are missing`);
    }
    // Who has them goes on.
    expect((await asked(a, 20)).duplicateOf).toBe(undefined);
    expect(a.state).toBe('ready');
  });

  test('a log that was trimmed past a stopped service is noticed; with a snapshot it goes on', async () => {
    const snapshots = folder.join(`${kind.name}-snapshots`);
    const a = await service('trimmed', { snapshots, keepSnapshots: 1 });
    await filled(a, 0, 3);
    const late = await service('trimmed', {}, { name: 'late' });
    await until(() => late.position === a.position);
    await late.close();
    await filled(a, 10, 5);
    await a.snapshot();
    await a.check(textOf(30), { key: 'k30' });
    const without = await service('trimmed', {}, { name: 'late' });
    await until(() => without.state === 'broken');
    expect(codeOf(without)).toBe('ERR_SIMHASH_LOG_GAP');
    await without.close();
    const again = await service('trimmed', { snapshots }, { name: 'late' });
    await until(() => again.position === a.position);
    expect([again.size, again.state]).toEqual([a.size, 'ready']);
    expect(await again.check(textOf(30), { key: 'k30' })).toMatchObject({ repeated: true });
  });

  test('a stream that was made anew is noticed, by a service that runs and by one that was stopped', async () => {
    const a = await service('anew');
    const b = await service('anew', {}, { name: 'stopped' });
    await filled(a, 0, 5);
    await until(() => b.position === a.position);
    await b.close();
    await kind.drop(server.url, 'anew');
    await until(() => a.state === 'broken');
    expect(codeOf(a)).toBe('ERR_SIMHASH_LOG_BEHIND');
    await expect(a.check(textOf(70))).rejects.toMatchObject({ code: 'ERR_SIMHASH_LOG_BEHIND' });
    const c = await service('anew');
    await filled(c, 0, 8);
    const again = await service('anew', {}, { name: 'stopped' });
    await until(() => again.state === 'broken');
    expect(codeOf(again)).toBe('ERR_SIMHASH_LOG_IDENTITY');
    expect(c.state).toBe('ready');
  });

  test('an older copy of the server is noticed, by what it ends at and by what follows, and begun again from', async () => {
    const own = await kind.open();
    const codes: (string | undefined)[] = [];
    const onState = (_: string, error?: { code: string }) => codes.push(error?.code);
    const a = await service('older', {}, { on: own });
    const b = await service('older', { onState }, { on: own });
    const stopped = await service('older', {}, { on: own, name: 'away' });
    await filled(a, 0, 4);
    await own.copy();
    await Promise.all([a.ready(), b.ready(), stopped.ready()]);
    const position = a.position;
    await filled(a, 4, 5);
    await until(() => [b, stopped].every((one) => one.position === a.position));
    await stopped.close();
    await own.restore();
    await until(() => codes.includes('ERR_SIMHASH_LOG_BEHIND'));
    await Promise.all([a, b].map((one) => one.ready()));
    await until(() => [a, b].every((one) => one.state === 'ready' && one.size === 4));
    expect([a.position, b.position]).toEqual([position, position]);
    // What was forgotten is new, for all.
    const [first, second] = await Promise.all([a, b].map((one, n) => asked(one, 8, `again${n}`)));
    const kept = [first, second].filter((checked) => checked?.duplicateOf === undefined);
    expect(kept).toHaveLength(1);
    // One that was stopped meanwhile finds a log that has grown beyond what it knows.
    await filled(a, 40, 12);
    const again = await service('older', {}, { on: own, name: 'away' });
    await until(() => again.position === a.position && again.state === 'ready');
    expect(again.size).toBe(a.size);
    for (const one of open.splice(0)) await one.close();
    await own.close();
  });
};

for (const kind of KINDS) {
  describe.skipIf(kind.missing !== undefined)(kind.name, () => over(kind));
}
