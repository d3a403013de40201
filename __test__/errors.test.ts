import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
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

test('the union of codes has those that the addon and the typed layer throw, and no other', () => {
  const root = join(__dirname, '..');
  const texts = (folder: string, ending: string) => {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    const named = files.filter((file) => file.endsWith(ending) && file !== 'errors.ts');
    return named.map((file) => readFileSync(join(folder, file), 'utf8')).join('\n');
  };
  const codes = (text: string, made = '') =>
    new Set(text.match(new RegExp(`(?<=${made})ERR_SIMHASH_[A-Z_]+(?=['"])`, 'g')));
  const union = codes(readFileSync(join(root, 'ts', 'errors.ts'), 'utf8'));
  const addon = codes(texts(join(root, 'crates', 'node', 'src'), '.rs'));
  const typed = codes(texts(join(root, 'ts'), '.ts'), "new SimHashError\\(\\s*'");
  expect(addon.size).toBeGreaterThan(15);
  expect(typed.size).toBeGreaterThan(5);
  // They end jobs that were given up, and never come out.
  for (const inner of ['ERR_SIMHASH_CANCELLED', 'ERR_SIMHASH_STOPPED']) addon.delete(inner);
  expect([...union].sort()).toEqual([...new Set([...addon, ...typed])].sort());
});

test('an error is printed with its code, once, and is JSON', () => {
  const cause = coded('ERR_SIMHASH_CLOSED');
  const error = fromNative(cause) as SimHashError;
  const printed = inspect(error);
  expect(printed).toMatch(/^SimHashError \[ERR_SIMHASH_CLOSED\]: what happened\n {4}at /);
  expect(printed.split('what happened')).toHaveLength(2);
  expect(inspect({ error })).toContain('SimHashError [ERR_SIMHASH_CLOSED]: what happened');
  const other = new SimHashError('ERR_SIMHASH_INPUT', 'cannot read a', { cause: new Error('why') });
  expect(inspect(other)).toMatch(/\[cause\]: Error: why/);
  expect(JSON.parse(JSON.stringify(other))).toEqual({
    name: 'SimHashError',
    code: 'ERR_SIMHASH_INPUT',
    message: 'cannot read a',
  });
});
