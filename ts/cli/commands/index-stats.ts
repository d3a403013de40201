import { defineCommand } from '../command';
import { EXIT } from '../exit';
import { bytes, count } from '../format';
import { interruptible } from '../interrupt';
import { openSaved } from '../saved';
import { versions } from '../version';

export const indexStats = defineCommand({
  name: 'index stats',
  summary: 'check a saved index and show its counts and bytes',
  arguments: { usage: 'INDEX', min: 1, max: 1, help: 'a saved index' },
  options: { json: { kind: 'flag', help: 'print everything as JSON' } },
  notes: [
    'Reads the whole index and its ids, and checks that they are undamaged and belong together (exit status 4 where not).',
  ],
  run([path = ''], values, terminal) {
    return interruptible(terminal, '-', async (signal) => {
      const { index, ids } = await openSaved(path, 0, signal);
      const stats = index.stats();
      if (values.json) {
        const all = { index: path, documents: ids.length, ...stats };
        const options = ids.fingerprinter;
        await terminal.write(`${JSON.stringify({ ...all, options, versions: versions() })}\n`);
        return EXIT.done;
      }
      const rows = [
        ['documents', count(ids.length)],
        ['fingerprints', count(stats.fingerprints)],
        ['plan', `${stats.plan}, ${stats.tables} tables`],
        ['tables', bytes(stats.tableBytes)],
        ['id map', bytes(stats.idBytes)],
        ['made by', JSON.stringify(ids.fingerprinter)],
      ];
      await terminal.write(rows.map(([name = '', text]) => `${name.padEnd(14)}${text}\n`).join(''));
      return EXIT.done;
    });
  },
});
