/** `--config FILE`: options as JSON, under the names that flags have in camel case; and `--print-config`, which writes such a file. */
import { readFileSync } from 'node:fs';
import { suggest } from '../suggest';
import type { Command, OptionSpec, OptionTable, Values } from './command';
import { InputError, UsageError } from './exit';
import { camelCase } from './flags';
import { didYouMean } from './parse';

/** Options of every command that has any to configure. */
export const CONFIG = {
  config: {
    kind: 'text',
    value: 'FILE',
    help: 'take options from a file of JSON, as {"minSimilarity": 0.9}; those given here win',
  },
  'print-config': { kind: 'flag', help: 'print all options as --config takes them, and end' },
} as const satisfies OptionTable;

/** An option of a file: its value as the command line would have it, or several of them, and how it is called there. */
export interface Configured {
  readonly name: string;
  readonly spec: OptionSpec;
  readonly typed: string;
  readonly value: boolean | readonly string[];
}

/** Whether there is anything to configure: a command that only has `--json` takes no file. */
export function isConfigurable({ options }: Command): boolean {
  return Object.keys(options).length > 1;
}

/**
 * The options that a file gives.
 *
 * @throws InputError where it cannot be read, UsageError for what is no option of the command or no value of it
 */
export function configured(file: string, command: Command): Configured[] {
  const given = objectOf(file);
  const names = new Map(Object.keys(command.options).map((name) => [camelCase(name), name]));
  return Object.entries(given).map(([key, value]) => {
    const name = names.get(key);
    const spec = name === undefined ? undefined : command.options[name];
    if (name === undefined || spec === undefined) {
      const hint =
        didYouMean(suggest(key, [...names.keys()])) ?? `see: simhash-native help ${command.name}`;
      throw new UsageError(`${command.name} has no option ${key}, which is in ${file}`, hint);
    }
    const typed = `${key} in ${file}`;
    return { name, spec, typed, value: wordsIn(spec, typed, value) };
  });
}

function objectOf(file: string): object {
  let given: unknown;
  try {
    given = JSON.parse(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''));
  } catch (cause) {
    throw new InputError(file, cause);
  }
  if (typeof given === 'object' && given !== null && !Array.isArray(given)) return given;
  throw new UsageError(`${file} must be an object of options, as {"minSimilarity": 0.9}`);
}

function wordsIn(spec: OptionSpec, typed: string, value: unknown): boolean | readonly string[] {
  const got = JSON.stringify(value);
  if (spec.kind === 'flag') {
    if (typeof value === 'boolean') return value;
    throw new UsageError(`${typed} must be true or false, got ${got}`);
  }
  const all = spec.kind === 'texts' && Array.isArray(value) ? value : [value];
  if (all.every((one) => typeof one === 'string' || typeof one === 'number')) {
    return all.map(String);
  }
  throw new UsageError(`${typed} must be ${EXPECTED[spec.kind]}, got ${got}`);
}

const EXPECTED = {
  text: 'a string',
  texts: 'a string or an array of strings',
  choice: 'a string',
  integer: 'a number',
  number: 'a number',
} as const;

/** All options of a command with their values, as a file of them. */
export function printed(command: Command, values: Values<OptionTable>): string {
  const options = Object.keys(command.options).flatMap((name) =>
    values[name] === undefined ? [] : [[camelCase(name), values[name]]],
  );
  return `${JSON.stringify(Object.fromEntries(options), undefined, 2)}\n`;
}
