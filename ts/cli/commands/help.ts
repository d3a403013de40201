import { defineCommand } from '../command';
import { EXIT, UsageError } from '../exit';
import { find } from '../find';
import { commandHelp, groupHelp, overview } from '../help';
import { commands } from '.';

export const help = defineCommand({
  name: 'help',
  summary: 'show the commands, or the options of one',
  arguments: { usage: '[COMMAND]', min: 0, max: 2, help: 'name of a command' },
  options: {},
  notes: [],
  async run(words, _values, terminal) {
    await terminal.write(words.length === 0 ? overview(commands) : helpOf(words));
    return EXIT.done;
  },
});

function helpOf(words: readonly string[]): string {
  const found = find(words, commands);
  const extra = found.rest[0];
  if (extra !== undefined) throw new UsageError(`help does not take '${extra}' here`);
  return 'group' in found ? groupHelp(found.name, found.group) : commandHelp(found.command);
}
