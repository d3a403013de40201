import { defineCommand } from '../command';
import { EXIT } from '../exit';
import { versions } from '../version';

export const version = defineCommand({
  name: 'version',
  summary: 'show the version',
  arguments: { usage: '', min: 0, max: 0, help: '' },
  options: {
    json: { kind: 'flag', help: 'as JSON, with those of the specification, Node and the platform' },
  },
  examples: ['version --json'],
  notes: [],
  async run(_args, values, terminal) {
    const all = versions();
    await terminal.write(`${values.json ? JSON.stringify(all) : all['simhash-native']}\n`);
    return EXIT.done;
  },
});
