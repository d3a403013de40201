/** Services in processes of their own over Redis: one of two is kept, whoever is killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Checked } from '..';
import { MemoryLog, type OrderedLog, redisLog, SharedIndex } from '../dist/connect/log.js';
import { Folder } from './cli-run';
import { missing, RedisServer } from './redis-server';
import { Served, textOf } from './served';

/** `SIMHASH_KILLS=100 npx vitest run __test__/log.redis.test.ts` kills more often. */
const ROUNDS = Number(process.env['SIMHASH_KILLS'] ?? 4);
const folder = new Folder();

const SCRIPT = `
  const { SharedIndex, redisLog } = require(process.argv[1]);
  const [, , url, stream, folder, snapshots] = process.argv;
  const say = (value) => process.stdout.write(JSON.stringify(value) + '\\n');
  (async () => {
    const log = await redisLog(url, { stream });
    const shared = await SharedIndex.open(folder, log, { snapshots, window: { maxAge: 172800000 } });
    await shared.ready();
    say({ ready: shared.position });
    require('node:readline').createInterface({ input: process.stdin }).on('line', async (line) => {
      const { call, texts, keys } = JSON.parse(line);
      try {
        if (texts !== undefined) say({ call, answer: await shared.checkMany(texts, { keys }) });
        else say({ call, answer: { size: shared.size, position: shared.position, name: (await shared.snapshot()).name } });
      } catch (error) {
        say({ call, code: error.code });
      }
    }).on('close', () => shared.close());
  })();`;

interface Said {
  readonly call?: number;
  readonly ready?: number;
  readonly code?: string;
  readonly answer?: unknown;
}

/** A service in a process of its own. */
class Service {
  readonly #child: ChildProcess;
  readonly #calls = new Map<number, (said: Said) => void>();
  #next = 0;
  readonly ready: Promise<unknown>;

  constructor(url: string, stream: string, name: string) {
    const log = join(__dirname, '..', 'dist', 'connect', 'log.js');
    const args = [log, url, stream, folder.join(name), folder.join(`${stream}-snapshots`)];
    this.#child = spawn(process.execPath, ['-e', SCRIPT, ...args], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    afterAll(() => void this.#child.kill('SIGKILL'));
    this.#child.stdin?.on('error', () => {});
    const lines = createInterface({ input: this.#child.stdout as NodeJS.ReadableStream });
    this.ready = once(lines, 'line');
    lines.on('line', (line) => {
      const said = JSON.parse(line) as Said;
      if (said.call !== undefined) this.#calls.get(said.call)?.(said);
    });
    this.#child.on('exit', () => {
      for (const done of this.#calls.values()) done({ code: 'KILLED' });
    });
  }

  ask(body: object): Promise<Said> {
    const call = this.#next++;
    return new Promise((done) => {
      this.#calls.set(call, done);
      this.#child.stdin?.write(`${JSON.stringify({ call, ...body })}\n`);
      if (this.#child.signalCode !== null) done({ code: 'KILLED' });
    });
  }

  /** Outcomes, or why there are none. */
  async check(texts: readonly string[], keys: readonly string[]): Promise<Checked[] | string> {
    const { answer, code } = await this.ask({ texts, keys });
    return code ?? (answer as Checked[]);
  }

  async kill(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }
}

describe.skipIf(missing !== undefined)('over Redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await RedisServer.open();
  });
  afterAll(() => server?.close());

  test('of copies that come to two processes at once exactly one is kept, and both decide alike', async () => {
    const both = [new Service(server.url, 'two', 'two-a'), new Service(server.url, 'two', 'two-b')];
    await Promise.all(both.map(({ ready }) => ready));
    const texts = Array.from({ length: 2000 }, (_, n) => textOf(n));
    const ask = (one: Service, name: string) =>
      Promise.all(
        Array.from({ length: 100 }, (_, part) => {
          const own = texts.slice(part * 20, part * 20 + 20);
          return one.check(
            own,
            own.map((_, n) => `${name}${part * 20 + n}`),
          );
        }),
      );
    const [ofA, ofB] = (await Promise.all(both.map((one, n) => ask(one, 'ab'[n] ?? '')))).map(
      (all) => all.flat(),
    ) as [Checked[], Checked[]];
    const kept = texts.map(
      (_, n) => [ofA[n], ofB[n]].filter((one) => one?.duplicateOf === undefined).length,
    );
    expect(kept.filter((count) => count !== 1)).toEqual([]);
    // Each asks for the answers of the other.
    for (const [at, one] of both.entries()) {
      const [others, name] = at === 0 ? [ofB, 'b'] : [ofA, 'a'];
      const again = await one.check(
        texts,
        texts.map((_, n) => `${name}${n}`),
      );
      expect(again).toEqual(others.map((checked) => ({ ...checked, repeated: true })));
    }
    for (const one of both) await one.kill();
  });

  test(`nothing that was answered is decided otherwise in ${ROUNDS} rounds of kill -9`, async () => {
    const answers = new Map<string, { text: string; checked: Checked }>();
    let next = 0;
    const load = async (one: Service, name: string) => {
      for (;;) {
        const from = next;
        next += 10;
        const texts = Array.from({ length: 10 }, (_, n) => textOf(10_000 + ((from + n) % 700)));
        const keys = texts.map((_, n) => `${name}${from + n}`);
        const outcomes = await one.check(texts, keys);
        if (typeof outcomes === 'string') return outcomes;
        for (const [n, checked] of outcomes.entries()) {
          answers.set(keys[n] ?? '', { text: texts[n] ?? '', checked });
        }
      }
    };
    const start = (name: string) => new Service(server.url, 'killed', `killed-${name}`);
    const services = new Map(['a', 'b'].map((name) => [name, start(name)]));
    await Promise.all([...services.values()].map(({ ready }) => ready));
    const loads = new Map([...services].map(([name, one]) => [name, load(one, name)]));
    let seed = 11;
    for (let round = 0; round < ROUNDS; round++) {
      seed = (seed * 48_271) % 2_147_483_647;
      const name = 'ab'[seed % 2] ?? 'a';
      const before = answers.size;
      while (answers.size < before + 50) await sleep(5);
      await sleep(seed % 150);
      await services.get(name)?.kill();
      expect(await loads.get(name)).toBe('KILLED');
      // Meanwhile the other one publishes, and lets go of what it holds.
      const other = services.get(name === 'a' ? 'b' : 'a') as Service;
      expect((await other.ask({})).code).toBe(undefined);
      const again = start(name);
      await again.ready;
      services.set(name, again);
      loads.set(name, load(again, name));
    }
    // A new one, from the newest snapshot, knows every answer.
    const fresh = start('fresh');
    await fresh.ready;
    const all = [...answers];
    for (let from = 0; from < all.length; from += 500) {
      const part = all.slice(from, from + 500);
      const again = (await fresh.check(
        part.map(([, { text }]) => text),
        part.map(([key]) => key),
      )) as Checked[];
      for (const [n, [, { checked }]] of part.entries()) {
        const { id, duplicateOf } = checked;
        expect(again[n]).toMatchObject({ repeated: true });
        expect([again[n]?.id, again[n]?.duplicateOf]).toEqual([id, duplicateOf]);
      }
    }
    console.log(`${all.length} answers, ${ROUNDS} kills`);
    for (const one of [...services.values(), fresh]) await one.kill();
  }, 600_000);

  test('the server killed and started again loses nothing that was answered', async () => {
    const own = await RedisServer.open();
    const shared = await SharedIndex.open(folder.join('restarted'), await redisLog(own.url));
    await shared.ready();
    const first = await shared.checkMany(
      Array.from({ length: 100 }, (_, n) => textOf(n)),
      {
        keys: Array.from({ length: 100 }, (_, n) => `k${n}`),
      },
    );
    await own.kill();
    await expect(shared.check('x')).rejects.toMatchObject({ code: 'ERR_SIMHASH_LOG_LOST' });
    while (shared.state !== 'lost') await sleep(5);
    await own.start();
    await shared.ready();
    const fresh = await SharedIndex.open(folder.join('restarted-b'), await redisLog(own.url));
    for (const [n, checked] of first.entries()) {
      const again = await fresh.check(textOf(n), { key: `k${n}` });
      expect(again).toEqual({ ...checked, repeated: true });
    }
    await Promise.all([shared.close(), fresh.close()]);
    await own.close();
  });

  test('two servers of one log keep one of two, and say when the log is gone', async () => {
    const own = await RedisServer.open();
    const common = ['--log', own.url, '--log-stream', 'served', '--max-age', '2d'];
    const both = await Promise.all(
      ['x', 'y'].map((name) => Served.open([folder.join(`served-${name}`), ...common])),
    );
    const [x, y] = both as [Served, Served];
    const texts = Array.from({ length: 100 }, (_, n) => textOf(20_000 + n));
    const ask = (one: Served, name: string) =>
      Promise.all(texts.map((text, n) => one.post('/v1/check', { text, key: `${name}${n}` })));
    const [ofX, ofY] = await Promise.all([ask(x, 'x'), ask(y, 'y')]);
    for (const [n, one] of ofX.entries()) {
      const kept = [one, ofY[n]].filter((answer) => answer?.json.duplicateOf === undefined);
      expect(kept).toHaveLength(1);
    }
    const lines = await y.many(texts.map((text, n) => ({ text, key: `x${n}` })));
    expect(lines).toEqual(ofX.map(({ json }) => ({ ...json, repeated: true })));
    const timed = await x.post('/v1/check', { text: 'x', at: 1 });
    expect([timed.status, timed.json.error.message]).toEqual([
      400,
      'at must be left out: times come from the log',
    ]);
    const mixed = await x.many([{ text: '新的一段文字' }, { text: 'z', key: 'k'.repeat(65_537) }]);
    expect([mixed[0].duplicateOf, mixed[1].error.code]).toEqual([undefined, 'invalid']);
    expect((await x.post('/v1/delete', { key: 'x0' })).status).toBe(200);
    await own.kill();
    expect((await x.post('/v1/check', { text: 'x', key: 'late' })).status).toBe(503);
    while ((await x.get('/ready')).status === 200) await sleep(20);
    expect((await x.get('/ready')).json).toEqual({ ready: false, reasons: ['log-lost'] });
    expect((await x.post('/v1/search', { text: texts[1] })).json.matches).toHaveLength(1);
    expect((await x.get('/metrics')).text).toMatch(/^simhash_shared_behind 0$/m);
    await own.start();
    await Promise.all(both.map((one) => one.ready()));
    expect((await x.post('/v1/check', { text: 'x', key: 'late' })).status).toBe(200);
    for (const one of both) expect((await one.stop()).status).toBe(0);
    await own.close();
  });

  test.each([
    [['--log', 'redis://user:secret@127.0.0.1:1'], '--log must not have the password in it'],
    [['--log', 'kafka://x'], '--log must be redis://HOST:PORT'],
    [['--snapshots', 'x'], '--snapshots is for a shared window'],
    [['--log', 'redis://x', '--memory', '1G'], '--memory must be left out beside --log'],
  ])('serve %j is refused', async (args, reason) => {
    const { status, stderr } = await folder.run(['serve', 'refused', ...args]);
    expect([status, stderr]).toEqual([2, expect.stringContaining(reason)]);
    expect(stderr).not.toContain('secret');
  });

  test('has the entries of a log in memory: positions, times, ends, trimming', async () => {
    const redis = await redisLog(server.url, { stream: 'adapter' });
    const memory = new MemoryLog();
    const { signal } = new AbortController();
    const ask = async (log: OrderedLog, from: number, limit = 10) => {
      const { entries, last } = await log.read(from, { limit, wait: 20, signal });
      return { last, entries: entries.map(({ position, entry }) => [position, entry]) };
    };
    const same = async (from: number, limit?: number) =>
      expect(await ask(redis, from, limit)).toEqual(await ask(memory, from, limit));
    await same(0);
    for (const entry of ['a', '文字 "\\u0000\r\n', '', 'x'.repeat(100_000)]) {
      await Promise.all([redis.append(entry), memory.append(entry)]);
    }
    for (const from of [0, 1, 3, 4]) await same(from);
    await same(2, 2);
    await Promise.all([redis.trim(3), memory.trim(3)]);
    for (const from of [0, 2, 3, 4]) await same(from);
    await Promise.all([redis.trim(5), memory.trim(5)]);
    await same(4);
    await redis.append('later');
    const { entries } = await redis.read(4, { limit: 5, wait: 0, signal });
    expect(entries).toEqual([{ position: 5, time: expect.any(Number), entry: 'later' }]);
    expect(Math.abs((entries[0]?.time ?? 0) - Date.now())).toBeLessThan(60_000);
    await redis.close?.();
  });

  test('replicas that were asked for and are not there fail the check', async () => {
    const log = await redisLog(server.url, { stream: 'replicas', replicas: 1, replicaTimeout: 20 });
    await expect(log.append('x')).rejects.toThrow('0 of 1 replicas have the entry');
    await log.close?.();
  });

  test('a server that is not there is a typed error without the password', async () => {
    const socket = { reconnectStrategy: false };
    const error = await redisLog('redis://user:secret@127.0.0.1:1', { client: { socket } }).catch(
      (error) => error,
    );
    expect(error).toMatchObject({ code: 'ERR_SIMHASH_LOG_LOST' });
    expect(error.message).toContain('redis://127.0.0.1:1');
    expect(error.message).not.toContain('secret');
    await expect(redisLog('redis://x', { strem: 'x' } as never)).rejects.toThrow("'stream'");
  });
});

test('a server that waits for Redis ends when it is asked to', async () => {
  const served = await Served.start([folder.join('waits'), '--log', 'redis://127.0.0.1:1']);
  expect((await served.get('/ready')).json.reasons).toEqual(['opening']);
  expect((await served.stop()).status).toBe(0);
});
