import type { NativeDescribed } from '../../native';
import { defineCommand } from '../command';
import { EXIT } from '../exit';
import { bytes, count } from '../format';
import { described } from '../indexed';
import { READ_INDEX, words, wordsOf } from '../options';
import { watched } from '../run';
import { versions } from '../version';

export const indexStats = defineCommand({
  name: 'index stats',
  summary: 'show the counts and bytes of an index',
  arguments: READ_INDEX,
  options: { ...words, json: { kind: 'flag', help: 'print everything as JSON' } },
  examples: ['index stats news.index'],
  notes: [
    'Reads the whole index (exit status 4 if it is damaged); another process may write to the index meanwhile. Give the dictionary, stop words and idf that the index was built with again.',
  ],
  run([path = ''], values, terminal) {
    return watched(terminal, '-', async (signal) => {
      const { describeIndex } = await import('../../index-files.js');
      const index = await describeIndex(path, wordsOf(values), signal);
      if (values.json) {
        const { stats, ...about } = described(index);
        const all = { index: path, documents: stats.live, ...about, ...stats };
        await terminal.write(`${JSON.stringify({ ...all, versions: versions() })}\n`);
        return EXIT.done;
      }
      const lines = rows(index).map(([name = '', text]) => `${name.padEnd(14)}${text}\n`);
      await terminal.write(lines.join(''));
      return EXIT.done;
    });
  },
});

function rows({ about, madeBy, stats }: NativeDescribed): string[][] {
  const { method, verify, minSimilarity, texts } = about;
  const verified =
    verify && (texts ? `${verify}, from ${minSimilarity} on` : 'no texts are stored');
  const optional = (name: string, amount: number | undefined) =>
    amount ? [[name, bytes(amount)]] : [];
  return [
    ['documents', count(stats.live)],
    ['method', [about.method, ...shape(stats)].join(', ')],
    ['verified by', method === 'exact' ? 'equal texts' : (verified ?? 'nothing')],
    ...optional('tables', stats.tableBytes),
    ...optional('signatures', stats.signatureBytes),
    ...optional('ids', stats.idBytes),
    ...optional('keys', stats.keyBytes),
    ...optional('texts', stats.textBytes),
    ['in memory', bytes(stats.bytes)],
    ['made by', madeBy],
  ];
}

/** What only one method has. */
function shape({ fingerprints, plan, tables, bands, rows }: NativeDescribed['stats']): string[] {
  if (plan !== undefined)
    return [`${count(fingerprints ?? 0)} fingerprints, plan ${plan} of ${tables} tables`];
  return bands === undefined ? [] : [`${bands} bands of ${rows} rows`];
}
