/**
 * Arguments to values, by the table of one command.
 *
 * `util.parseArgs` splits the arguments; its strict mode would stop at the first unknown option without a suggestion, so
 * the checks are made here on its tokens.
 */
import { parseArgs } from 'node:util';
import { suggest } from '../suggest';
import type { Command, OptionSpec, OptionTable, Values } from './command';
import { CONFIG, type Configured, configured, isConfigurable } from './config';
import { UsageError } from './exit';

/** Every command has it. */
const HELP: OptionSpec = { kind: 'flag', short: 'h', help: 'show this help' };

/** What every command takes beside its own options. */
export function common(command: Command): OptionTable {
  return isConfigurable(command) ? { ...CONFIG, help: HELP } : { help: HELP };
}

export interface Parsed {
  readonly help: boolean;
  readonly printConfig: boolean;
  /** How the options that were given are called where they were: `-o`, `--method`, `method in run.json`. */
  readonly typed: ReadonlyMap<string, string>;
  readonly args: readonly string[];
  readonly values: Values<OptionTable>;
}

/**
 * The positional arguments and option values of a command, those of `--config FILE` too.
 *
 * @throws InputError for a file that cannot be read; UsageError for an unknown option, an option given twice, a missing or wrong value, or a wrong number of arguments.
 */
export function parse(command: Command, argv: readonly string[]): Parsed {
  const table: OptionTable = { ...command.options, ...common(command) };
  const { tokens, positionals } = parseArgs({
    args: [...argv],
    options: Object.fromEntries(
      Object.entries(table).map(([name, spec]) => [
        name,
        {
          type: spec.kind === 'flag' ? ('boolean' as const) : ('string' as const),
          ...(spec.short === undefined ? {} : { short: spec.short }),
        },
      ]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const given: Record<string, Value> = {};
  const typed = new Map<string, string>();
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const spec = Object.hasOwn(table, token.name) ? table[token.name] : undefined;
    if (spec === undefined) throw unknownOption(token.rawName, command.name, table);
    const before = given[token.name];
    if (before !== undefined && spec.kind !== 'texts') {
      throw new UsageError(`${token.rawName} is given twice`);
    }
    const value = read(spec, token.rawName, token.value, token.inlineValue === true);
    given[token.name] = spec.kind === 'texts' ? [...texts(before), String(value)] : value;
    typed.set(token.name, token.rawName);
  }
  const { help, config, 'print-config': print } = given;
  if (help !== true && typeof config === 'string') {
    for (const one of configured(config, command)) {
      if (typed.has(one.name)) continue;
      given[one.name] = ofFile(one);
      typed.set(one.name, one.typed);
    }
  }
  if (help !== true && print !== true) checkCount(command, positionals);
  for (const [name, spec] of Object.entries(table)) {
    const initial = spec.kind === 'flag' ? false : spec.default;
    if (initial !== undefined) given[name] ??= initial;
  }
  const values = given as Values<OptionTable>;
  return { help: help === true, printConfig: print === true, typed, args: positionals, values };
}

type Value = boolean | string | number | readonly string[];

function ofFile({ spec, typed, value }: Configured): Value {
  if (typeof value === 'boolean') return value;
  const all = value.map((one) => read(spec, typed, one, true));
  return spec.kind === 'texts' ? all.map(String) : (all[0] as Value);
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value : [];
}

function read(
  spec: OptionSpec,
  name: string,
  value: string | undefined,
  inline: boolean,
): boolean | string | number {
  if (spec.kind === 'flag') {
    if (value !== undefined) throw new UsageError(`${name} takes no value, got '${value}'`);
    return true;
  }
  // `-o --json` forgot the file name; a name that begins with a dash can be written `-o=--json` or `./--json`.
  const forgotten = value !== undefined && !inline && /^--?[a-z]/i.test(value);
  if (value === undefined || value === '' || forgotten) {
    throw new UsageError(`${name} needs a value: ${name} ${spec.value}`);
  }
  switch (spec.kind) {
    case 'text':
    case 'texts':
      return value;
    case 'choice':
      if (spec.choices.includes(value)) return value;
      throw new UsageError(
        `${name} must be ${list(spec.choices)}, got '${value}'`,
        didYouMean(suggest(value, spec.choices)),
      );
    default:
      return readNumber(spec, name, value);
  }
}

function readNumber(
  spec: Extract<OptionSpec, { min: number }>,
  name: string,
  text: string,
): number {
  const form = spec.kind === 'integer' ? /^-?\d+$/ : /^-?(\d+\.?\d*|\.\d+)$/;
  const value = form.test(text) ? Number(text) : Number.NaN;
  if (value >= spec.min && value <= spec.max) return value;
  const what = spec.kind === 'integer' ? 'an integer' : 'a number';
  throw new UsageError(`${name} must be ${what} from ${spec.min} to ${spec.max}, got '${text}'`);
}

function checkCount(command: Command, args: readonly string[]): void {
  const { min, max, usage } = command.arguments;
  if (args.includes('')) {
    throw new UsageError(
      `${command.name} got an empty name`,
      'a variable of the shell that is not set becomes one, between quotes',
    );
  }
  const extra = args[max];
  if (extra !== undefined) {
    throw new UsageError(
      `${command.name} does not take '${extra}'`,
      `usage: simhash-native ${command.name} ${usage}`.trimEnd(),
    );
  }
  if (args.length < min) {
    throw new UsageError(
      `${command.name} needs ${usage}: ${command.arguments.help}`,
      `see: simhash-native help ${command.name}`,
    );
  }
}

function unknownOption(rawName: string, command: string, table: OptionTable): UsageError {
  const nearest = suggest(rawName.replace(/^-+/, ''), Object.keys(table));
  return new UsageError(
    `unknown option ${rawName}`,
    didYouMean(nearest && `--${nearest}`) ?? `see: simhash-native help ${command}`,
  );
}

/** `did you mean …?`, where there is something to suggest. */
export function didYouMean(name: string | undefined): string | undefined {
  return name === undefined ? undefined : `did you mean ${name}?`;
}

/** `a, b or c`. */
export function list(words: readonly string[]): string {
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
