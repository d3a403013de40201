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

const folder = new Folder();
const started: RedisServer[] = [];
afterEach(async () => {
  for (const server of started.splice(0)) await server.close();
});

/** A server that ends with the test. */
async function own(options: readonly string[]): Promise<RedisServer> {
  const server = await RedisServer.open(options);
  started.push(server);
  return server;
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
