/** An address of Redis that is none: the error of the client would have it whole. */
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { redisLog } from '../dist/connect/log.js';

test.each(['redis://user:secret@h:bad', 'user:secret@h'])('%s is no address', async (url) => {
  const error = await redisLog(url).catch((error) => error);
  expect(error).toBeInstanceOf(TypeError);
  expect(error.message).toContain('url must be redis://HOST:PORT or rediss://HOST:PORT, got "');
  // In no property either.
  expect(inspect(error, { depth: 9 })).not.toContain('secret');
});
