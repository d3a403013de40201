/**
 * Services in processes of their own over a real server: one of two is kept, whoever is killed. Twice: over Redis and over NATS.
 *
 * SIMHASH_LONG=1: 100,000 pairs and 100 rounds of kill -9 in place of some.
 */
import { createHash } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Checked } from '..';
import { SharedIndex } from '../dist/connect/log.js';
import { Folder } from './cli-run';
import { Service } from './log-process';
import { KINDS, type LogKind, type LogServer } from './log-servers';
import { Served, textOf } from './served';

const LONG = process.env['SIMHASH_LONG'] !== undefined;
const PAIRS = LONG ? 100_000 : 1000;
const ROUNDS = LONG ? 100 : 4;
const folder = new Folder();

const over = (kind: LogKind) => {
  let server: LogServer;
  beforeAll(async () => {
    server = await kind.open();
  });
  afterAll(() => server?.close());
  const place = (stream: string) => {
    return { kind, url: server.url, stream: `${kind.name}-${stream}`, folder };
  };

  test.each([2, 5])(
    `of ${PAIRS} pairs that come to %i processes at once one of each is kept, and all decide alike`,
    async (count) => {
      const names = ['a', 'b', 'c', 'd', 'e'].slice(0, count);
      const services = names.map((name) => new Service(place(`of-${count}`), name));
      await Promise.all(services.map(({ ready }) => ready));
      // The two copies of a text come to two services, whichever.
      const numbers: number[][] = names.map(() => []);
      for (let n = 0; n < PAIRS; n++) {
        const first = n % names.length;
        const second =
          (first + 1 + (Math.floor(n / names.length) % (names.length - 1))) % names.length;
        for (const at of [first, second]) numbers[at]?.push(n);
      }
      const of = names.map((name, at) => ({ name, numbers: numbers[at] }));
      const kept = await Promise.all(services.map((one, at) => one.told<number[]>('keep', of[at])));
      const counts = new Uint8Array(PAIRS);
      for (const n of kept.flat()) counts[n] = (counts[n] ?? 0) + 1;
      expect(counts.filter((count) => count > 1)).toHaveLength(0);
      expect(counts.filter((count) => count === 0)).toHaveLength(0);
      // Each writes down all decisions, its own and those of the others.
      const hashes = new Set<string>();
      for (const [at, one] of services.entries()) {
        const file = folder.join(`${kind.name}-decisions-${count}-${at}`);
        const told = await one.told<object>('decisions', { of, file });
        expect(told).toEqual({ repeated: 2 * PAIRS, size: PAIRS });
        hashes.add(createHash('sha256').update(readFileSync(file)).digest('hex'));
        rmSync(file);
      }
      expect([...hashes]).toHaveLength(1);
      if (LONG)
        console.log(`${kind.name}: ${PAIRS} pairs, ${count} processes, decisions ${[...hashes]}`);
      for (const one of services) await one.kill();
    },
    3_600_000,
  );

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
    const killed = place('killed');
    const start = (name: string) => new Service(killed, name);
    const services = new Map(['a', 'b'].map((name) => [name, start(name)]));
    await Promise.all([...services.values()].map(({ ready }) => ready));
    const loads = new Map([...services].map(([name, one]) => [name, load(one, name)]));
    let [seed, fromSnapshots] = [11, 0];
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
      const { position } = await other.told<{ position: number }>('snapshot');
      // One in four has lost its folder, too, and begins from the snapshot.
      if (round % 4 === 3) rmSync(folder.join(`${killed.stream}-${name}`), { recursive: true });
      const again = start(name);
      expect(await again.ready).toBeGreaterThanOrEqual(position);
      if (round % 4 === 3) fromSnapshots += 1;
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
    console.log(
      `${kind.name}: ${all.length} answers, ${ROUNDS} kills, ${fromSnapshots} begun from a snapshot`,
    );
    for (const one of [...services.values(), fresh]) await one.kill();
  }, 3_600_000);

  test('the server killed and started again loses nothing that was answered', async () => {
    const own = await kind.open();
    const shared = await SharedIndex.open(
      folder.join(`${kind.name}-restarted`),
      await kind.connect(own.url),
    );
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
    const fresh = await SharedIndex.open(
      folder.join(`${kind.name}-restarted-b`),
      await kind.connect(own.url),
    );
    for (const [n, checked] of first.entries()) {
      const again = await fresh.check(textOf(n), { key: `k${n}` });
      expect(again).toEqual({ ...checked, repeated: true });
    }
    await Promise.all([shared.close(), fresh.close()]);
    await own.close();
  });

  test('two servers of one log keep one of two, and say when the log is gone', async () => {
    const own = await kind.open();
    const common = ['--log', own.url, '--log-stream', 'served', '--max-age', '2d'];
    const both = await Promise.all(
      ['x', 'y'].map((name) =>
        Served.open([folder.join(`${kind.name}-served-${name}`), ...common]),
      ),
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
    for (const one of both) {
      const { status, stderr } = await one.stop();
      expect(status).toBe(0);
      // What changed is said, and of what was asked nothing.
      const said = stderr.split('\n').filter((line) => line.includes('shared window: '));
      const lines = said.join('\n');
      expect(lines).toMatch(
        /: ready: .*: lost the log; checks are not answered until it is back \(ERR_SIMHASH_LOG_LOST: .*: ready: /s,
      );
      for (const text of texts) expect(stderr).not.toContain(text);
    }
    await own.close();
  });

  test('a document that is too long for an entry is status 413; an option makes room for it', async () => {
    const common = ['--log', server.url, '--log-stream', `${kind.name}-long`];
    const served = await Served.open([folder.join(`${kind.name}-long`), ...common]);
    const text = '长'.repeat(270_000);
    const long = await served.post('/v1/check', { text, key: 'long' });
    expect([long.status, long.json.error]).toEqual([
      413,
      {
        code: 'too-large',
        message: expect.stringMatching(/^the document must be of at most 785920 bytes as JSON/),
      },
    ]);
    const many = await served.many([{ text: textOf(1) }, { text }, { text: textOf(2) }]);
    expect(many.map(({ error }) => error?.code)).toEqual([undefined, 'too-large', undefined]);
    expect((await served.stop()).status).toBe(0);
    const more = await Served.open([
      folder.join(`${kind.name}-long`),
      ...common,
      ...['--log-max-entry', '900K'],
    ]);
    expect((await more.post('/v1/check', { text, key: 'long' })).status).toBe(200);
    expect((await more.stop()).status).toBe(0);
  });

  test('a server that waits for the log ends when it is asked to', async () => {
    const log = kind.nowhere.replace('user:secret@', '');
    const served = await Served.start([folder.join(`${kind.name}-waits`), '--log', log]);
    expect((await served.get('/ready')).json.reasons).toEqual(['opening']);
    expect((await served.stop()).status).toBe(0);
  });
};

for (const kind of KINDS) {
  describe.skipIf(kind.missing !== undefined)(`over ${kind.name}`, () => over(kind));
}

test.each([
  ['redis://user:secret@127.0.0.1:1', [], '--log must not have the password in it'],
  ['nats://user:secret@127.0.0.1:1', [], '--log must not have the password in it'],
  ['nats://127.0.0.1:1,nats://secret@127.0.0.1:2', [], '--log must not have the password in it'],
  ['nats://me@127.0.0.1:1,nats://me:secret@127.0.0.1:2', [], '--log must not have the password'],
  ['nats://me:sec,secret@127.0.0.1:1', [], '--log must be nats://HOST:PORT'],
  ["nats://user:sec'secret@127.0.0.1:1", [], '--log must not have the password in it'],
  ['nats://127.0.0.1:1,kafka://127.0.0.1:2', [], '--log must be nats://HOST:PORT or tls://'],
  ['kafka://x', [], '--log must be redis://HOST:PORT'],
  ['redis://x', ['--memory', '1G'], '--memory must be left out beside --log'],
  ['nats://x', ['--log-replicas', '6'], '--log-replicas must be from 1 to 5 for NATS, got 6'],
  ['redis://x', ['--log-max-entry', '1'], '--log-max-entry must be a size from 1K to 512M'],
  [undefined, ['--log-max-entry', '1M'], '--log-max-entry is for a shared window'],
  [undefined, ['--snapshots', 'x'], '--snapshots is for a shared window'],
  [undefined, ['--log-replicas', '2'], '--log-replicas is for a shared window'],
])('serve --log %s %j is refused', async (log, args, reason) => {
  const all = log === undefined ? args : ['--log', log, ...args];
  const { status, stderr } = await folder.run(['serve', 'refused', ...all]);
  expect([status, stderr]).toEqual([2, expect.stringContaining(reason)]);
  expect(stderr).not.toContain('secret');
});
