/** From arguments to an exit status. */
import { refuseAddresses } from './addresses';
import { entries, loaded } from './commands';
import { printed } from './config';
import { codeOf, EXIT, statusOf, UsageError } from './exit';
import { find, type Named, ownNames } from './find';
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
    terminal.say(overview(await loaded()).trimEnd());
    return EXIT.usage;
  }
  const found = find([ALIASES[first] ?? first, ...others], entries);
  if ('group' in found) {
    if (!HELP_OPTIONS.includes(found.rest[0] ?? '')) throw incomplete(found.name, found.group);
    const group = await Promise.all(found.group.map(({ load }) => load()));
    await terminal.write(familyHelp(found.name, group));
    return EXIT.done;
  }
  const command = await found.command.load();
  const { help, printConfig, typed, args, values } = parse(command, found.rest);
  if (help || printConfig) {
    await terminal.write(help ? commandHelp(command) : printed(command, values));
    return EXIT.done;
  }
  refuseAddresses(command, args, values, typed);
  try {
    return await command.run(args, values, terminal);
  } catch (error) {
    throw asTyped(error, command.options, typed);
  }
}

function incomplete(name: string, group: readonly Named[]): UsageError {
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
