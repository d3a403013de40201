/** From arguments to an exit status. */
import { refuseAddresses } from './addresses';
import type { Command } from './command';
import { commands, sections } from './commands';
import { printed } from './config';
import { codeOf, EXIT, statusOf, UsageError } from './exit';
import { find, ownNames } from './find';
import { asTyped } from './flags';
import { commandHelp, familyHelp, overview } from './help';
import { list, parse } from './parse';
import { Terminal } from './terminal';

/** Runs one command line (without `node` and the script) and says with which status the process should end. */
export async function main(argv: readonly string[]): Promise<number> {
  const terminal = new Terminal();
  try {
    return await dispatch(argv, terminal);
  } catch (error) {
    const status = statusOf(error);
    const message = error instanceof Error ? error.message : String(error);
    if (status === EXIT.defect) terminal.fail(`${codeOf(error) ?? 'defect'}: ${stack(error)}`);
    else terminal.fail(message, error instanceof UsageError ? error.hint : undefined);
    return status;
  }
}

async function dispatch(argv: readonly string[], terminal: Terminal): Promise<number> {
  const [first, ...others] = argv;
  if (first === undefined) {
    terminal.say(overview(sections).trimEnd());
    return EXIT.usage;
  }
  const found = find([ALIASES[first] ?? first, ...others], commands);
  if ('group' in found) {
    if (!HELP_OPTIONS.includes(found.rest[0] ?? '')) throw incomplete(found.name, found.group);
    await terminal.write(familyHelp(found.name, found.group));
    return EXIT.done;
  }
  const { help, printConfig, typed, args, values } = parse(found.command, found.rest);
  if (help || printConfig) {
    await terminal.write(help ? commandHelp(found.command) : printed(found.command, values));
    return EXIT.done;
  }
  refuseAddresses(found.command, args, values, typed);
  try {
    return await found.command.run(args, values, terminal);
  } catch (error) {
    throw asTyped(error, found.command.options, typed);
  }
}

function incomplete(name: string, group: readonly Command[]): UsageError {
  return new UsageError(
    `${name} needs a command: ${list(ownNames(group))}`,
    `see: simhash-native help ${name}`,
  );
}

const HELP_OPTIONS: readonly string[] = ['--help', '-h'];

/** What people type at any program. */
const ALIASES: Readonly<Record<string, string>> = {
  '--help': 'help',
  '-h': 'help',
  '--version': 'version',
  '-v': 'version',
  '-V': 'version',
};

function stack(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
