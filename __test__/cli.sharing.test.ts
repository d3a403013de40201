/** What the command line makes of an address of a log that is none: by the code of the error, whatever its words are. */
import { expect, test, vi } from 'vitest';
import { UsageError } from '../ts/cli/exit';
import { sharingOf } from '../ts/cli/sharing';

const thrown = vi.hoisted(() => ({ error: new Error() }));
vi.mock('../ts/connect/log/nats', () => ({
  partsOf: () => {
    throw thrown.error;
  },
}));

const refused = (): unknown => {
  try {
    sharingOf({ log: 'nats://me:secret@h:bad/x' } as never);
  } catch (error) {
    return error;
  }
  return undefined;
};

test('an address that is none is a usage error in the words of the command line', () => {
  thrown.error = Object.assign(new TypeError('secret words'), { code: 'ERR_INVALID_ARG_TYPE' });
  const error = refused();
  expect(error).toBeInstanceOf(UsageError);
  expect((error as Error).message).toBe(
    "--log must be nats://HOST:PORT or tls://HOST:PORT, of several servers with commas between, got 'nats://h:bad/x'",
  );
});

test('a defect stays one', () => {
  thrown.error = new RangeError('a defect');
  expect(refused()).toBe(thrown.error);
});
