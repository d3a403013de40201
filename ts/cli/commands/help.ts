import { defineCommand } from '../command';
import { EXIT, UsageError } from '../exit';
import { find } from '../find';
import { commandHelp, familyHelp, overview } from '../help';
import { entries, loaded } from '.';

export const help = defineCommand({
  name: 'help',
  summary: 'show the commands, or the options of one',
  arguments: { usage: '[COMMAND]', min: 0, max: 2, help: 'name of a command', choices: 'commands' },
  options: {},
  examples: ['help dedup', 'help index build'],
  notes: [],
  async run(words, _values, terminal) {
    await terminal.write(words.length === 0 ? overview(await loaded()) : await helpOf(words));
    return EXIT.done;
  },
});

async function helpOf(words: readonly string[]): Promise<string> {
  const found = find(words, entries);
  const extra = found.rest[0];
  if (extra !== undefined) throw new UsageError(`help does not take '${extra}' here`);
  if (!('group' in found)) return commandHelp(await found.command.load());
  return familyHelp(found.name, await Promise.all(found.group.map(({ load }) => load())));
}
