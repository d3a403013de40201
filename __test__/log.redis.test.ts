/** What Redis alone has: replicas that are waited for. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { redisLog } from '../dist/connect/log.js';
import { missing, RedisServer } from './redis-server';

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
