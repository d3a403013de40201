import { defineCommand } from '../command';
import { count, plural } from '../format';
import { Intake } from '../intake';
import { interruptible } from '../interrupt';
import { comparison, execution, fields, output, savedIndex } from '../options';
import { openOutput } from '../output';
import { openSaved, required } from '../saved';
import { conclude } from '../summary';

const { default: _ofTheIndex, ...distance } = comparison['max-distance'];

export const indexQuery = defineCommand({
  name: 'index query',
  summary: 'find the documents of a saved index near those in files',
  arguments: {
    usage: 'IN...',
    min: 1,
    max: Number.POSITIVE_INFINITY,
    help: 'files of JSON lines, plain or .gz; - is standard input',
  },
  options: {
    ...savedIndex,
    ...output,
    'max-distance': {
      ...distance,
      help: `${distance.help}; without it that of the index`,
    },
    limit: {
      kind: 'integer',
      value: 'N',
      min: 1,
      max: Number.MAX_SAFE_INTEGER,
      help: 'at most N matches for each document, the nearest first',
    },
    ...fields,
    ...execution,
  },
  notes: [
    'Writes a JSON line per document: id and matches, each with id and distance, the nearest first; those equally near in the order in which they were added. Where --limit left matches out, truncated is true. The index is not changed.',
    'Matches rest on fingerprints alone, no text is compared; a short text matches only the same text.',
    'The JSON summary goes to standard error where the matches go to standard output.',
  ],
  run(inputs, values, terminal) {
    const path = required(values, 'index query');
    return interruptible(terminal, values.output, async (signal) => {
      const { threads, limit, 'max-distance': maxDistance } = values;
      const intake = new Intake(inputs, values, terminal, signal);
      const out = openOutput(values.output, [...inputs, path], terminal);
      try {
        const { index, ids } = await openSaved(path, threads, signal);
        let [matched, matches] = [0, 0];
        for await (const batch of intake.batches()) {
          const texts = batch.map(({ text }) => text);
          const found = await index.searchManyAsync(texts, { maxDistance, limit, signal });
          let lines = '';
          for (const [row, { id }] of batch.entries()) {
            const near = found.get(row).map(({ id, distance }) => ({ id: ids.get(id), distance }));
            const truncated = found.isTruncated(row) ? true : undefined;
            lines += `${JSON.stringify({ id, matches: near, truncated })}\n`;
            matches += near.length;
            if (near.length > 0) matched++;
          }
          await out.write(lines);
        }
        out.commit();
        const summary = {
          index: path,
          matched,
          matches,
          inputs,
          options: { maxDistance, limit, threads },
        };
        const streamed = values.output === '-';
        return await conclude(intake, { ...values, streamed }, terminal, summary, [
          `${plural(matched, 'document')} with ${count(matches)} matches`,
        ]);
      } finally {
        out.discard();
      }
    });
  },
});
