import { expect, test } from 'vitest';
import { about, fromNative, native, optionsOf, SimHashError } from '../ts/errors';

const coded = (code: string) => Object.assign(new Error('what happened'), { code });

test.each([
  ['ERR_INVALID_ARG_TYPE', TypeError],
  ['ERR_INVALID_ARG_VALUE', TypeError],
  ['ERR_OUT_OF_RANGE', RangeError],
  ['ERR_SIMHASH_CLOSED', SimHashError],
  ['ERR_SIMHASH_PIPE', SimHashError],
  ['ERR_SIMHASH_INTERNAL', SimHashError],
])('%s keeps code and message and has its class', (code, type) => {
  const error = fromNative(coded(code));
  expect(error).toBeInstanceOf(type);
  expect(error).toMatchObject({ code, message: 'what happened' });
});

test.each(['GenericFailure', 'InvalidArg', 'StringExpected'])(
  '%s, which only the outermost guard of the addon gives, is a defect of ours',
  (code) => {
    const cause = coded(code);
    const error = fromNative(cause);
    expect(error).toBeInstanceOf(SimHashError);
    expect(error).toMatchObject({ code: 'ERR_SIMHASH_INTERNAL', cause });
  },
);

test('the option that the addon names behind a code is taken off', () => {
  const error = fromNative(coded('ERR_OUT_OF_RANGE bands * rows')) as Error;
  expect(error).toBeInstanceOf(RangeError);
  expect(error).toMatchObject({ code: 'ERR_OUT_OF_RANGE', message: 'what happened' });
  expect(optionsOf(error)).toEqual(['bands * rows']);
  expect(optionsOf(about(error, 'ngram'))).toEqual(['bands * rows']);
  expect(optionsOf(fromNative(coded('ERR_OUT_OF_RANGE')) as Error)).toEqual([]);
});

test('what user code threw passes as it is', () => {
  for (const thrown of [new Error('mine'), coded('ENOENT'), 'text', undefined, { code: 3 }]) {
    expect(fromNative(thrown)).toBe(thrown);
    const call = () =>
      native(() => {
        throw thrown;
      });
    let caught: unknown;
    try {
      call();
    } catch (error) {
      caught = error;
    }
    expect(caught).toBe(thrown);
  }
});
