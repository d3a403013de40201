/** What an error says that it is about is what its message begins with: the command line puts its flag there. */
import { expect, test } from 'vitest';
import { asTyped } from '../ts/cli/flags';
import { COMPARISON } from '../ts/comparison';
import { optionsOf } from '../ts/errors';
import { FINGERPRINTER } from '../ts/fingerprinter';
import { FORM } from '../ts/form';
import { checked } from '../ts/options';

const CHECKS = { ...COMPARISON, ...FINGERPRINTER, ...FORM };

function thrown(work: () => unknown): Error {
  try {
    work();
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing was thrown');
}

/** Values that nothing takes, and some that only some options refuse. */
const WRONG = [Symbol('wrong'), -1.5, [1], { none: 1 }, { field: 1 }, '\u0000'];

test.each(Object.keys(CHECKS))('%s', (option) => {
  let refused = 0;
  for (const value of WRONG) {
    let error: Error | undefined;
    try {
      checked({ [option]: value }, CHECKS as never);
    } catch (one) {
      error = one as Error;
    }
    if (error === undefined) continue;
    refused++;
    const [subject = ''] = optionsOf(error);
    expect(subject === option || subject.startsWith(`${option}.`)).toBe(true);
    // `textField[0] must …` is one too.
    const rest = error.message.slice(subject.length);
    expect(error.message.startsWith(subject), error.message).toBe(true);
    expect(rest, error.message).toMatch(/^(\[\d+\])? (must|has|is|can) /);
  }
  expect(refused).toBeGreaterThan(0);
});

test('the flag takes its place, by the name that was typed', () => {
  const error = () => thrown(() => checked({ topK: 0 }, CHECKS as never));
  const table = { 'top-k': { kind: 'text', short: 'k', value: 'K', help: '' } } as const;
  const said = (typed: [string, string][]) =>
    (asTyped(error(), table, new Map(typed)) as Error).message;
  const rest = error().message.slice('topK'.length);
  expect(said([])).toBe(`--top-k${rest}`);
  expect(said([['top-k', '-k']])).toBe(`-k${rest}`);
  expect(said([['top-k', 'topK in run.json']])).toBe(`topK in run.json${rest}`);
});
