/** What Redis alone has: replicas that are waited for. */
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { redisLog } from '../dist/connect/log.js';
import { missing, RedisServer } from './redis-server';

test.each(['redis://user:secret@h:bad', 'user:secret@h'])('%s is no address', async (url) => {
  const error = await redisLog(url).catch((error) => error);
  expect(error).toBeInstanceOf(TypeError);
  expect(error.message).toContain('url must be redis://HOST:PORT or rediss://HOST:PORT, got "');
  // In no property either.
  expect(inspect(error, { depth: 9 })).not.toContain('secret');
});

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
});
