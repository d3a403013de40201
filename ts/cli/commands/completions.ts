import { suggest } from '../../suggest';
import { defineCommand } from '../command';
import { completions, SHELLS } from '../completions';
import { EXIT, UsageError } from '../exit';
import { didYouMean, list } from '../parse';
import { loaded } from '.';

export const completion = defineCommand({
  name: 'completions',
  summary: 'print what a shell needs to complete commands and options',
  arguments: { usage: 'SHELL', min: 1, max: 1, help: 'bash, zsh or fish', choices: SHELLS },
  options: {},
  examples: ['completions bash >> ~/.bashrc', 'completions zsh > _simhash-native'],
  notes: [
    'bash reads the script from ~/.bashrc, zsh as _simhash-native in a folder of its fpath, fish as simhash-native.fish in ~/.config/fish/completions. It completes the command simhash-native of an installed package. Print it again after an upgrade, because it lists the options of this release.',
  ],
  async run([name = ''], _values, terminal) {
    const shell = SHELLS.find((shell) => shell === name);
    if (shell === undefined) {
      const hint = didYouMean(suggest(name, SHELLS));
      throw new UsageError(`SHELL must be ${list(SHELLS)}, got '${name}'`, hint);
    }
    const commands = (await loaded()).flatMap(({ commands }) => commands);
    await terminal.write(completions(shell, commands));
    return EXIT.done;
  },
});
