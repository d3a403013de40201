/** From arguments to an exit status. */
import { commands } from './commands';
import { codeOf, EXIT, statusOf, UsageError } from './exit';
import { commandHelp, overview } from './help';
import { didYouMean, parse } from './parse';
import { suggest } from './suggest';
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

async function dispatch([first, ...rest]: readonly string[], terminal: Terminal): Promise<number> {
  if (first === undefined) {
    terminal.say(overview(commands).trimEnd());
    return EXIT.usage;
  }
  const name = ALIASES[first] ?? first;
  const command = commands.find((candidate) => candidate.name === name);
  if (command === undefined) {
    const nearest = suggest(
      name,
      commands.map((candidate) => candidate.name),
    );
    throw new UsageError(
      `unknown ${name.startsWith('-') ? 'option' : 'command'} '${name}'`,
      didYouMean(nearest) ?? 'see: simhash-native help',
    );
  }
  const { help, args, values } = parse(command, rest);
  if (help) {
    await terminal.write(commandHelp(command));
    return EXIT.done;
  }
  return command.run(args, values, terminal);
}

/** What people type at any program. */
const ALIASES: Readonly<Record<string, string>> = {
  '--help': 'help',
  '-h': 'help',
  '--version': 'version',
  '-v': 'version',
};

function stack(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
