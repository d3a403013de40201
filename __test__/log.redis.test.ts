/** What Redis alone has: replicas that are waited for, and ways to say who one is. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { redisLog, SharedIndex } from '../dist/connect/log.js';
import { certified, missing as noOpenssl } from './certificate';
import { ended, Folder } from './cli-run';
import { missing, RedisServer } from './redis-server';
import { Served, textOf } from './served';
import { freePort } from './server-process';
import { TcpProxy } from './tcp-proxy';

const folder = new Folder();
const started: RedisServer[] = [];
const proxies: TcpProxy[] = [];
afterEach(async () => {
  for (const proxy of proxies.splice(0)) proxy.close();
  for (const server of started.splice(0)) await server.close();
});

/** A server that ends with the test. */
async function own(options: readonly string[]): Promise<RedisServer> {
  const server = await RedisServer.open(options);
  started.push(server);
  return server;
}

/** What stands before a server, and its address. */
async function before(server: RedisServer): Promise<{ proxy: TcpProxy; url: string }> {
  const proxy = await TcpProxy.open(server.port);
  proxies.push(proxy);
  return { proxy, url: `redis://127.0.0.1:${proxy.port}` };
}

/** One command, on a connection of its own. */
async function told(server: RedisServer, ...command: string[]): Promise<unknown> {
  const { createClient } = await import('redis');
  const client = await createClient({ url: server.url }).connect();
  try {
    return await client.sendCommand(command);
  } finally {
    client.destroy();
  }
}

/** Why there is no connection. It says so at once, or this test hangs. */
const refused = async (url: string, options: object = {}) =>
  redisLog(url, options).then(
    () => 'connected',
    ({ code, message }) => `${code}: ${message}`,
  );

describe.skipIf(missing !== undefined)('a server', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await RedisServer.open();
  });
  afterAll(() => server?.close());

  test('replicas that were asked for and are not there fail the check', async () => {
    const log = await redisLog(server.url, { stream: 'replicas', replicas: 1, replicaTimeout: 20 });
    await expect(log.append('x')).rejects.toThrow('0 of 1 replicas have the entry');
    await log.close?.();
  });

  test('a replica that has an entry before it is answered goes on in the place of the server', async () => {
    const main = await own([]);
    const replica = await own(['--replicaof', '127.0.0.1', String(main.port)]);
    const options = { stream: 'promoted', replicas: 1, replicaTimeout: 5000 };
    // Until it is a replica, nothing is confirmed.
    const log = await redisLog(main.url, options);
    const first = await redisLog(main.url, { ...options, stream: 'first' });
    const isReplicated = () =>
      first.append('x').then(
        () => true,
        (error) => {
          expect(String(error)).toContain('0 of 1 replicas have the entry');
          return false;
        },
      );
    while (!(await isReplicated()));
    await first.close?.();
    const shared = await SharedIndex.open(folder.join('before'), log);
    const keys = Array.from({ length: 50 }, (_, n) => `k${n}`);
    const answers = await shared.checkMany(
      keys.map((_, n) => textOf(n)),
      { keys },
    );
    await main.kill();
    await shared.close();
    const { createClient } = await import('redis');
    const client = await createClient({ url: replica.url }).connect();
    await client.sendCommand(['REPLICAOF', 'NO', 'ONE']);
    client.destroy();
    // The folder goes on from where it was, and a new service has all that was answered.
    for (const name of ['before', 'after']) {
      const states: unknown[] = [];
      const again = await SharedIndex.open(
        folder.join(name),
        await redisLog(replica.url, { stream: 'promoted' }),
        { onState: (_: string, error?: Error) => states.push(error) },
      );
      const told = await again.checkMany(
        keys.map((_, n) => textOf(n)),
        { keys },
      );
      expect(told).toEqual(answers.map((one) => ({ ...one, repeated: true })));
      expect(states.filter((error) => error !== undefined)).toEqual([]);
      await again.close();
    }
  });

  test('a replica that lacks what the server has said is noticed when it takes its place', async () => {
    const [main, replica] = [await own([]), await own([])];
    await told(replica, 'REPLICAOF', '127.0.0.1', String(main.port));
    const { proxy, url } = await before(main);
    const log = (to = url) => redisLog(to, { stream: 'behind' });
    const errors: (string | undefined)[] = [];
    const onState = (_: string, error?: Error) =>
      errors.push((error as { code?: string } | undefined)?.code);
    const a = await SharedIndex.open(folder.join('behind-a'), await log(), { onState });
    // Two that are stopped when they have applied what the replica lacks.
    const stopped = ['behind-b', 'behind-c'];
    const others = await Promise.all(
      stopped.map(async (name) => SharedIndex.open(folder.join(name), await log())),
    );
    const asked = async (n: number, key: string) => {
      for (;;) {
        try {
          return await a.check(textOf(n), { key });
        } catch (error) {
          // Refused, with the reason; nothing is guessed.
          expect((error as { code?: string }).code).toMatch(
            /^ERR_SIMHASH_LOG_(LOST|BEHIND|CHAIN|TIMEOUT)$/,
          );
          await sleep(5);
        }
      }
    };
    for (let n = 0; n < 10; n++) await asked(n, `k${n}`);
    const length = async (server: RedisServer) => told(server, 'XLEN', 'behind');
    while ((await length(replica)) !== (await length(main))) await sleep(5);
    // The link is gone, and what comes now is answered without it.
    await told(replica, 'REPLICAOF', '127.0.0.1', '1');
    for (let n = 10; n < 15; n++) {
      expect((await asked(n, `k${n}`)).duplicateOf).toBe(undefined);
    }
    for (const one of others) {
      while (one.position !== a.position) await sleep(5);
      await one.close();
    }
    expect(errors.filter((code) => code !== undefined)).toEqual([]);
    await main.kill();
    await told(replica, 'REPLICAOF', 'NO', 'ONE');
    proxy.target = replica.port;
    while (!errors.includes('ERR_SIMHASH_LOG_BEHIND')) await sleep(5);
    await a.ready();
    expect(a.size).toBe(10);
    // What was answered and is lost is new again; what is there has its first answer.
    expect(await asked(14, 'k14')).toEqual({ id: 10 });
    expect(await asked(3, 'k3')).toEqual({ id: 3, repeated: true });
    for (let n = 20; n < 30; n++) await asked(n, `k${n}`);
    // The new log is longer than what the other two know.
    const codes: unknown[] = [];
    const b = await SharedIndex.open(folder.join('behind-b'), await log(), {
      onState: (_: string, error?: Error) => codes.push(error),
    });
    while (b.position !== a.position || b.state !== 'ready') await sleep(5);
    expect(codes).toContainEqual(expect.objectContaining({ code: 'ERR_SIMHASH_LOG_CHAIN' }));
    expect([b.size, a.size]).toEqual([21, 21]);
    // Without the entries that it would begin again from it takes nothing.
    await told(replica, 'XTRIM', 'behind', 'MINID', '5-0');
    const c = await SharedIndex.open(folder.join('behind-c'), await log());
    await expect(c.check(textOf(90))).rejects.toMatchObject({ code: 'ERR_SIMHASH_LOG_CHAIN' });
    expect(c.state).toBe('broken');
    await Promise.all([a, b, c].map((one) => one.close()));
  });

  test('a connection that has gone without a word is given up and made anew', async () => {
    const { proxy, url } = await before(server);
    const shared = await SharedIndex.open(
      folder.join('gone'),
      await redisLog(url, { stream: 'gone' }),
    );
    await shared.ready();
    proxy.isSilent = true;
    proxy.silence();
    await expect(shared.check(textOf(1), { key: 'k' })).rejects.toMatchObject({
      code: 'ERR_SIMHASH_LOG_LOST',
    });
    // The new ones are taken, and say nothing either.
    while (proxy.silent < 2) await sleep(5);
    proxy.isSilent = false;
    await shared.ready();
    expect((await shared.check(textOf(2))).duplicateOf).toBe(undefined);
    await shared.close();
  });

  test('on a connection that brings no answers no more than some commands wait', async () => {
    const { proxy, url } = await before(server);
    const log = await redisLog(url, { stream: 'full' });
    proxy.silence();
    const all = await Promise.all(
      Array.from({ length: 1200 }, () =>
        log.append('x').then(
          () => 'appended',
          ({ message }) => message,
        ),
      ),
    );
    expect(all.filter((message) => message === 'The queue is full')).toHaveLength(200);
    expect(all).not.toContain('appended');
    await log.close?.();
  });

  test('a slow connection is read in parts that come in time, and is not given up', async () => {
    const { proxy, url } = await before(server);
    const fast = await redisLog(server.url, { stream: 'slow' });
    for (let n = 0; n < 16; n++) await fast.append('x'.repeat(500_000));
    await fast.close?.();
    proxy.rate = 1_600_000;
    const log = await redisLog(url, { stream: 'slow' });
    const how = { limit: 256, wait: 0, signal: new AbortController().signal };
    let position = 0;
    while (position < 16) position = (await log.read(position, how)).entries.at(-1)?.position ?? 0;
    // One to read, and one to append.
    expect(proxy.made).toBe(2);
    await log.close?.();
  });

  test('entries that wait for replicas one after the other do not make a connection one that is gone', async () => {
    const { proxy, url } = await before(server);
    const log = await redisLog(url, { stream: 'queued', replicas: 1, replicaTimeout: 600 });
    const why = () =>
      log.append('x').then(
        () => 'appended',
        ({ message }) => message,
      );
    // Together they wait longer than for one, and its answer.
    const all = await Promise.all(Array.from({ length: 10 }, why));
    expect(new Set(all)).toEqual(new Set(['0 of 1 replicas have the entry']));
    expect(proxy.made).toBe(2);
    await log.close?.();
  });

  test('a client whose own strategy makes no further attempt is made anew', async () => {
    const { proxy, url } = await before(server);
    const client = { socket: { reconnectStrategy: () => false } };
    const log = await redisLog(url, { stream: 'given-up', client });
    const shared = await SharedIndex.open(folder.join('given-up'), log);
    await shared.ready();
    proxy.cut();
    while (shared.state !== 'lost') await sleep(5);
    await shared.ready();
    while ((await shared.check(textOf(1), { key: '1' }).catch(() => undefined)) === undefined) {
      await sleep(20);
    }
    await shared.close();
  });

  test('TLS is refused where the server speaks none', async () => {
    const url = server.url.replace('redis:', 'rediss:');
    expect(await refused(url, { client: { socket: { connectTimeout: 500 } } })).toMatch(
      /^ERR_SIMHASH_LOG_LOST: cannot reach the log at rediss:.*: the server answers without TLS there: its address is redis:\/\/$/,
    );
  });

  test('a key that holds something else is refused at once', async () => {
    const { createClient } = await import('redis');
    const client = await createClient({ url: server.url }).connect();
    await client.set('other', 'x');
    client.destroy();
    expect(await refused(server.url, { stream: 'other' })).toMatch(
      /^ERR_SIMHASH_LOG_LOST: cannot reach the log at redis:\/\/127.0.0.1:\d+: WRONGTYPE /,
    );
  });
});

describe.skipIf(missing !== undefined)('who asks', () => {
  test('a wrong password, or none, is refused at once, also by serve', async () => {
    const server = await own(['--requirepass', 's3cret']);
    const at = (who: string) => server.url.replace('//', `//${who}@`);
    const log = await redisLog(at(':s3cret'), { stream: 'named' });
    await log.append('x');
    await log.close?.();
    expect(await refused(server.url)).toMatch(/^ERR_SIMHASH_LOG_LOST: .*: NOAUTH /);
    for (const who of [':wr0ng', 'me:wr0ng']) {
      const said = await refused(at(who));
      expect(said).toMatch(/^ERR_SIMHASH_LOG_LOST: cannot reach the log at redis:.*: WRONGPASS /);
      expect(said).not.toMatch(/wr0ng|me:/);
    }
    for (const [password, reason] of [
      ['wr0ng', 'WRONGPASS'],
      [undefined, 'NOAUTH'],
    ] as const) {
      const args = ['serve', 'refused', '--log', server.url, '--port', '0'];
      const env = { SIMHASH_LOG_PASSWORD: password, SIMHASH_TOKEN: 'a-token-for-tests-only' };
      const { status, stderr } = await ended(folder.start(args, env as NodeJS.ProcessEnv));
      expect([status, stderr]).toEqual([3, expect.stringContaining(reason)]);
      expect(stderr).not.toContain('wr0ng');
    }
    const args = [folder.join('served'), '--log', server.url];
    const served = await Served.open(args, { SIMHASH_LOG_PASSWORD: 's3cret' });
    expect((await served.post('/v1/check', { text: 'x', key: '1' })).status).toBe(200);
    expect((await served.stop()).status).toBe(0);
  });

  test('a password that is changed and changed back is waited for', async () => {
    const server = await own(['--requirepass', 's3cret']);
    const url = server.url.replace('//', '//:s3cret@');
    const shared = await SharedIndex.open(folder.join('changed'), await redisLog(url));
    expect((await shared.check(textOf(1))).duplicateOf).toBe(undefined);
    const { createClient } = await import('redis');
    const client = await createClient({ url }).connect();
    await client.sendCommand(['CONFIG', 'SET', 'requirepass', 'other']);
    await client.sendCommand(['CLIENT', 'KILL', 'TYPE', 'NORMAL', 'SKIPME', 'yes']);
    while (shared.state !== 'lost') await sleep(5);
    // Some attempts to connect fail for it.
    await sleep(300);
    await client.sendCommand(['CONFIG', 'SET', 'requirepass', 's3cret']);
    client.destroy();
    await shared.ready();
    expect((await shared.check(textOf(2))).duplicateOf).toBe(undefined);
    await shared.close();
  });
});

test.skipIf(missing !== undefined)('a log is read only while it can be appended to', async () => {
  const server = await own(['--requirepass', 's3cret']);
  const url = server.url.replace('//', '//:s3cret@');
  const log = await redisLog(url, { stream: 'named' });
  await log.append('x');
  const { createClient } = await import('redis');
  const client = await createClient({ url }).connect();
  const password = (word: string) => client.sendCommand(['CONFIG', 'SET', 'requirepass', word]);
  // The connection on which it was appended alone, which cannot be made again.
  const clients = String(await client.sendCommand(['CLIENT', 'LIST'])).split('\n');
  const writers = clients.filter((one) => / cmd=eval /.test(one));
  expect(writers).toHaveLength(1);
  await password('other');
  await client.sendCommand(['CLIENT', 'KILL', 'ID', String(/id=(\d+)/.exec(writers[0])?.[1])]);
  const { signal } = new AbortController();
  const read = () => log.read(0, { limit: 9, wait: 0, signal });
  const failed = async () =>
    read().then(
      () => undefined,
      ({ message }) => message,
    );
  while ((await failed()) === undefined) await sleep(5);
  await sleep(300);
  expect(await failed()).toMatch('offline');
  await password('s3cret');
  while ((await failed()) !== undefined) await sleep(5);
  await log.append('y');
  expect((await read()).entries.map(({ entry }) => entry)).toEqual(['x', 'y']);
  client.destroy();
  await log.close?.();
});

describe.skipIf(missing !== undefined || noOpenssl !== undefined)('TLS', () => {
  test('a certificate that is not trusted is refused at once; with the file of its authority it is', async () => {
    const { cert, key } = certified(folder);
    const tls = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-auth-clients', 'no'];
    const server = await own([...tls, '--tls-port', '0']);
    const { createClient } = await import('redis');
    const client = await createClient({ url: server.url }).connect();
    const port = await freePort();
    await client.sendCommand(['CONFIG', 'SET', 'tls-port', String(port)]);
    client.destroy();
    const url = `rediss://127.0.0.1:${port}`;
    expect(await refused(url)).toMatch(
      /^ERR_SIMHASH_LOG_LOST: cannot reach the log at .*certificate of the server is not trusted .*NODE_EXTRA_CA_CERTS/,
    );
    const log = await redisLog(url, {
      stream: 'named',
      client: { socket: { ca: readFileSync(cert) } },
    });
    await log.append('x');
    await log.close?.();
    const args = [folder.join('trusts'), '--log', url];
    const served = await Served.open(args, { NODE_EXTRA_CA_CERTS: cert });
    expect((await served.post('/v1/check', { text: 'x', key: '1' })).status).toBe(200);
    expect((await served.stop()).status).toBe(0);
  });
});
