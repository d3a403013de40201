/**
 * What a command is: one record that parsing, validation, help and docs/cli.md read.
 *
 * There is no second list of options: those that the library has too are in `option-table.ts`. A command file exports a record made by {@link defineCommand}; the type of
 * the values that its `run` receives follows from the options it declares.
 */
import type { FlagSpec, NumberSpec, OptionSpec, TextsSpec } from '../option-table';
import type { Terminal } from './terminal';

export type { OptionSpec };

export type OptionTable = Readonly<Record<string, OptionSpec>>;

type ValueOf<S> = S extends FlagSpec
  ? boolean
  : S extends NumberSpec
    ? number
    : S extends TextsSpec
      ? readonly string[]
      : S extends { readonly choices: readonly (infer C)[] }
        ? C
        : string;
type Missing<S> = S extends FlagSpec | { readonly default: unknown } ? never : undefined;

/**
 * The values of a table's options under their long names. An option that was not given has its default; without one it is
 * `false` (a flag) or `undefined`.
 */
export type Values<T extends OptionTable> = {
  readonly [K in keyof T]: ValueOf<T[K]> | Missing<T[K]>;
};

/** Whether the value of an option is the name of a file or a folder. */
export function isOfPath(spec: OptionSpec): boolean {
  return spec.kind !== 'flag' && PATHS.includes(spec.value);
}

/** What help calls them. */
const PATHS: readonly string[] = ['FILE', 'DIR', 'FOLDER', 'IN', 'OUT', 'INDEX'];

/** The positional arguments of a command. */
export interface ArgumentSpec {
  /** As usage shows them, for example `IN...`. */
  readonly usage: string;
  readonly min: number;
  readonly max: number;
  readonly help: string;
  /** What they can be, where that is not files. */
  readonly choices?: 'commands' | readonly string[];
}

export interface Command {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  readonly arguments: ArgumentSpec;
  /** Which addresses may stand where others take files: those of collections, or any, which it looks at itself; without it none. */
  readonly addresses?: 'collections' | 'any';
  readonly options: OptionTable;
  /** Command lines that do something useful, without the name of the program: the first thing that help shows. */
  readonly examples: readonly string[];
  /** Paragraphs below the options. */
  readonly notes: readonly string[];
  /** Runs the command; the result is the exit status, see `exit.ts`. */
  run(args: readonly string[], values: Values<OptionTable>, terminal: Terminal): Promise<number>;
}

/** A command whose `run` sees its own options, typed. */
export function defineCommand<const T extends OptionTable>(
  command: Omit<Command, 'options' | 'run'> & {
    readonly options: T;
    run(args: readonly string[], values: Values<T>, terminal: Terminal): Promise<number>;
  },
): Command {
  // The parser fills `values` from `options` of the same record, so the two types agree by construction.
  return command as unknown as Command;
}
