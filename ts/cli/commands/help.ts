import { defineCommand } from '../command';
import { EXIT, UsageError } from '../exit';
import { commandHelp, overview } from '../help';
import { didYouMean } from '../parse';
import { suggest } from '../suggest';
import { commands } from '.';

export const help = defineCommand({
  name: 'help',
  summary: 'show the commands, or the options of one',
  arguments: { usage: '[COMMAND]', min: 0, max: 1, help: 'name of a command' },
  options: {},
  notes: [],
  async run([name], _values, terminal) {
    const command = commands.find((candidate) => candidate.name === name);
    if (name !== undefined && command === undefined) {
      const nearest = suggest(
        name,
        commands.map((candidate) => candidate.name),
      );
      throw new UsageError(`unknown command '${name}'`, didYouMean(nearest));
    }
    await terminal.write(command === undefined ? overview(commands) : commandHelp(command));
    return EXIT.done;
  },
});
