/** What NATS alone has: streams that keep less than is asked for, and ways to say who one is. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { natsLog, SharedIndex } from '../dist/connect/log.js';
import { partsOf } from '../ts/connect/log/nats';
import { certified, missing as noOpenssl } from './certificate';
import { ended, Folder } from './cli-run';
import { natsStreams } from './log-servers';
import { missing, NatsServer } from './nats-server';
import { Served, TOKEN, textOf } from './served';

const folder = new Folder();
const started: NatsServer[] = [];
afterEach(async () => {
  for (const server of started.splice(0)) await server.close();
});

/** A server that ends with the test. */
async function own(options: readonly string[]): Promise<NatsServer> {
  const server = await NatsServer.open(options);
  started.push(server);
  return server;
}

describe('an address', () => {
  test.each([
    ['nats://h', { servers: ['h'], isSecure: false }],
    ['tls://h:1/', { servers: ['h:1'], isSecure: true }],
    ['nats://a:1,nats://b:2', { servers: ['a:1', 'b:2'], isSecure: false }],
    ['nats://t%40k@h', { servers: ['h'], isSecure: false, token: 't@k' }],
    ['nats://u:p%2F@h', { servers: ['h'], isSecure: false, user: 'u', pass: 'p/' }],
    ['nats://u:p@a,nats://b', { servers: ['a', 'b'], isSecure: false, user: 'u', pass: 'p' }],
  ])('%s', (url, parts) => expect(partsOf(url)).toEqual(parts));

  test.each(['redis://h', 'nats://', 'h:1', 'nats://a,b', 'nats://u:secret@'])(
    '%s is refused',
    (url) => {
      expect(() => partsOf(url)).toThrow('url must be nats://HOST:PORT');
      expect(() => partsOf(url)).not.toThrow('secret');
    },
  );
});

test.each([
  [{ stream: 'a.b' }, 'stream must be a name of letters'],
  [{ stream: '' }, 'stream must be a name of letters'],
  [{ replicas: 0 }, 'replicas must be a whole number from 1 to 5'],
  [{ storage: 'disk' }, "storage must be one of 'file', 'memory'"],
  [{ client: 7 }, 'client must be an object of options'],
  [{ strem: 'x' }, "'stream'"],
])('options %j are refused: %s', async (options, reason) => {
  await expect(natsLog('nats://127.0.0.1:1', options as never)).rejects.toThrow(reason);
});

describe.skipIf(missing !== undefined)('a server', () => {
  let server: NatsServer;
  beforeAll(async () => {
    server = await NatsServer.open();
  });
  afterAll(() => server?.close());

  test('makes a stream in a file, which takes nothing more when it is full', async () => {
    const log = await natsLog(server.url, { stream: 'made' });
    const { config } = await natsStreams(server.url, (streams) => streams.info('made'));
    expect(config).toMatchObject({
      ...{ subjects: ['made'], storage: 'file', num_replicas: 1, retention: 'limits' },
      ...{ discard: 'new', max_msgs: -1, max_bytes: -1, max_age: 0 },
    });
    await natsStreams(server.url, (streams) => streams.update('made', { max_msgs: 1 }));
    await log.append('one');
    await expect(log.append('two')).rejects.toThrow('maximum messages exceeded');
    await log.close?.();
  });

  test.each([
    [{ storage: 'memory' }, {}, "is kept in memory, and storage 'file' was asked for"],
    [{ subjects: ['x.>'] }, {}, 'takes the subjects x.>, and a log takes'],
    [{ retention: 'workqueue' }, {}, 'has retention workqueue, and a log has limits'],
    [{ no_ack: true }, {}, 'acknowledges nothing'],
    [{ max_age: 3_600e9 }, {}, 'lets go of entries by max_age'],
    [{ max_msgs_per_subject: 1 }, {}, 'lets go of entries by max_msgs_per_subject'],
    [{ max_msgs: 9, discard: 'old' }, {}, 'lets go of entries by max_msgs'],
    [{ max_bytes: 1 << 20, discard: 'old' }, {}, 'lets go of entries by max_bytes'],
    [{}, { replicas: 3 }, 'has 1 replicas, and 3 were asked for'],
  ])('refuses a stream of %j for %j', async (config, options, reason) => {
    const name = `other-${JSON.stringify(config).length}-${JSON.stringify(options).length}`;
    const all = { name, subjects: [name], storage: 'file', ...config };
    await natsStreams(server.url, (streams) => streams.add(all as never));
    const log = natsLog(server.url, { ...options, stream: name });
    await expect(log).rejects.toMatchObject({
      code: 'ERR_SIMHASH_LOG_LOST',
      message: expect.stringContaining(`the stream ${name} of NATS ${reason}`),
    });
    await natsStreams(server.url, (streams) => streams.delete(name));
  });

  test('takes a stream in memory where it is asked for, and not another in its place', async () => {
    const [stream, storage] = ['forgets', 'memory'] as const;
    const shared = await SharedIndex.open(
      folder.join('forgets'),
      await natsLog(server.url, { stream, storage }),
    );
    expect((await shared.check(textOf(1))).duplicateOf).toBe(undefined);
    await shared.close();
    // Asked for a file, a running service is lost where the stream is made anew in memory.
    const strict = await natsLog(server.url, { stream: 'strict' });
    await natsStreams(server.url, async (streams) => {
      await streams.delete('strict');
      await streams.add({ name: 'strict', subjects: ['strict'], storage: 'memory' } as never);
    });
    const { signal } = new AbortController();
    const read = strict.read(0, { limit: 2, wait: 0, signal });
    await expect(read).rejects.toThrow("is kept in memory, and storage 'file' was asked for");
    await strict.close?.();
  });

  test('takes no more than its longest message', async () => {
    const log = await natsLog(server.url, { stream: 'long' });
    await expect(log.append('x'.repeat(2 << 20))).rejects.toThrow('max_payload');
    await log.close?.();
  });
});

describe.skipIf(missing !== undefined)('who asks', () => {
  test('a name and a password, in the address or beside it; a wrong one is refused at once', async () => {
    const server = await own(['--user', 'me', '--pass', 's3cret']);
    const at = server.url.replace('//', '//me:s3cret@');
    const log = await natsLog(at, { stream: 'named' });
    await log.append('x');
    await log.close?.();
    const error = await natsLog(server.url.replace('//', '//me:wr0ng@')).catch((error) => error);
    expect(error).toMatchObject({ code: 'ERR_SIMHASH_LOG_LOST' });
    expect(error.message).toMatch(
      /^cannot reach the log at nats:\/\/127.0.0.1:\d+: .*Authorization/i,
    );
    expect(error.message).not.toMatch(/wr0ng|me:/);
    // The command has the password from its environment alone.
    const named = server.url.replace('//', '//me@');
    const args = [folder.join('served'), '--log', named, '--log-stream', 'served'];
    const served = await Served.open(args, { SIMHASH_LOG_PASSWORD: 's3cret' });
    expect((await served.post('/v1/check', { text: 'x', key: '1' })).status).toBe(200);
    expect((await served.stop()).status).toBe(0);
  });

  test('a token', async () => {
    const server = await own(['--auth', 't0ken']);
    const at = server.url.replace('//', '//t0ken@');
    const log = await natsLog(at, { stream: 'token' });
    await log.append('x');
    await log.close?.();
    const args = [folder.join('token'), '--log', server.url];
    const served = await Served.open(args, { SIMHASH_LOG_PASSWORD: 't0ken' });
    expect((await served.stop()).status).toBe(0);
  });
});

describe.skipIf(missing !== undefined || noOpenssl !== undefined)('TLS', () => {
  test('a certificate that is not trusted is refused at once; with the file of its authority it is', async () => {
    const { cert, key } = certified(folder);
    const server = await own(['--tls', '--tlscert', cert, '--tlskey', key]);
    const url = server.url.replace('nats:', 'tls:');
    const refused = await natsLog(url).catch((error) => error);
    expect(refused).toMatchObject({ code: 'ERR_SIMHASH_LOG_LOST' });
    expect(refused.message).toMatch(
      /certificate of the server is not trusted .*NODE_EXTRA_CA_CERTS/,
    );
    const log = await natsLog(url, { client: { tls: { caFile: cert } } });
    await log.append('x');
    await log.close?.();
    const args = [folder.join('trusts'), '--log', url, '--log-stream', 'served'];
    const said = await ended(
      folder.start(['serve', ...args, '--port', '0'], { SIMHASH_TOKEN: TOKEN }),
    );
    expect([said.status, said.stderr]).toEqual([3, expect.stringContaining('NODE_EXTRA_CA_CERTS')]);
    const served = await Served.open(args, { NODE_EXTRA_CA_CERTS: cert });
    expect((await served.post('/v1/check', { text: 'x', key: '1' })).status).toBe(200);
    expect((await served.stop()).status).toBe(0);
  });

  test('a server without it is refused at once', async () => {
    const server = await own([]);
    const error = await natsLog(server.url.replace('nats:', 'tls:')).catch((error) => error);
    expect(error).toMatchObject({
      code: 'ERR_SIMHASH_LOG_LOST',
      message: expect.stringContaining("server does not support 'tls'"),
    });
  });
});

describe.skipIf(missing !== undefined)('a cluster', () => {
  test('that has no leader yet is waited for', async () => {
    const servers = await NatsServer.cluster(3, 1);
    started.push(...servers);
    const [first, ...others] = servers as [NatsServer, ...NatsServer[]];
    const stream = 'leaderless';
    const once = natsLog(first.url, { stream, client: { reconnect: false } });
    await expect(once).rejects.toMatchObject({ code: 'ERR_SIMHASH_LOG_LOST' });
    const ending = natsLog(first.url, { stream, signal: AbortSignal.timeout(200) });
    await expect(ending).rejects.toThrow('timeout');
    let isOver = false;
    const waiting = natsLog(first.url, { stream, replicas: 3 }).finally(() => {
      isOver = true;
    });
    waiting.catch(() => {});
    await new Promise((done) => setTimeout(done, 1000));
    expect(isOver).toBe(false);
    await Promise.all(others.map((server) => server.start()));
    const log = await waiting;
    await log.append('x');
    await log.close?.();
  });

  test('of fewer servers than a stream asks for is an error', async () => {
    const servers = await NatsServer.cluster(3);
    started.push(...servers);
    const [first] = servers as [NatsServer];
    const error = await natsLog(first.url, { stream: 'five', replicas: 5 }).catch((error) => error);
    expect(error).toMatchObject({ code: 'ERR_SIMHASH_LOG_LOST' });
    expect(error.message).toMatch(/peers/);
  });

  test('of which the leader of the stream is killed loses nothing that was answered, and goes on', async () => {
    const servers = await NatsServer.cluster(3);
    started.push(...servers);
    const all = servers.map(({ url }) => url).join(',');
    const connected = () => natsLog(all, { stream: 'three', replicas: 3 });
    const [a, b] = [
      await SharedIndex.open(folder.join('three-a'), await connected()),
      await SharedIndex.open(folder.join('three-b'), await connected()),
    ];
    const asked = async (n: number, key: string) => {
      for (;;) {
        try {
          return await a.check(textOf(n), { key });
        } catch (error) {
          expect((error as { code: string }).code).toMatch(/^ERR_SIMHASH_LOG_(LOST|TIMEOUT)$/);
        }
      }
    };
    const before = await a.checkMany(
      Array.from({ length: 50 }, (_, n) => textOf(n)),
      { keys: Array.from({ length: 50 }, (_, n) => `k${n}`) },
    );
    const [first] = servers as [NatsServer];
    const { config, cluster } = await natsStreams(first.url, (streams) => streams.info('three'));
    expect(config.num_replicas).toBe(3);
    expect(cluster?.leader).toMatch(/^n[0-2]$/);
    await servers[Number(cluster?.leader?.slice(1))]?.kill();
    // Nothing is begun again: the log is the one that it was.
    const states: unknown[] = [];
    for (let n = 0; n < 60; n++) {
      const checked = await asked(n, `k${n}`);
      if (n < 50) expect(checked).toEqual({ ...before[n], repeated: true });
      else expect(checked.duplicateOf).toBe(undefined);
      states.push((a.error as { code?: string } | undefined)?.code);
    }
    for (const code of states) expect([undefined, 'ERR_SIMHASH_LOG_LOST']).toContain(code);
    while (b.size !== 60) await new Promise((done) => setTimeout(done, 5));
    await Promise.all([a.close(), b.close()]);
  });
});
