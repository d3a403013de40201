import { setImmediate } from 'node:timers/promises';
import type { Text } from '../..';
import { defineCommand } from '../command';
import { fill } from '../fill';
import { plural } from '../format';
import { Intake } from '../intake';
import { interruptible } from '../interrupt';
import { comparison, execution, features, fields, fingerprinterOptions, output } from '../options';
import { openOutput } from '../output';
import { ProgressReport } from '../progress';
import { conclude } from '../summary';
import { ALMOST_ONE } from '../verdict';

export const pairs = defineCommand({
  name: 'pairs',
  summary: 'list the pairs of near-duplicates in files',
  arguments: {
    usage: 'IN...',
    min: 1,
    max: Number.POSITIVE_INFINITY,
    help: 'files of JSON lines, plain or gzip; - is standard input',
  },
  options: { ...output, ...comparison, ...features, ...fields, ...execution },
  notes: [
    'Writes a JSON line per pair: a and b, the ids of two documents in the order of the input, similarity (where it is verified) and distance. All pairs within the distance are found, each once.',
    'Documents with the same fingerprint, and short ones with the same text, stand for each other: the first is paired with each of the others at distance 0, and for all of them with documents nearby. A thousand copies are 999 pairs, not half a million.',
    'Verifying holds all texts in memory; with --min-similarity 0 only ids and fingerprints are held.',
    'A malformed line is reported as file:line and counted, and the run goes on (exit status 1). The JSON summary goes to standard error where the pairs go to standard output.',
  ],
  run(inputs, values, terminal) {
    return interruptible(terminal, values.output, async (signal) => {
      const { Fingerprinter, Index, similarity: measure } = await import('../../index.js');
      const { threads, 'max-distance': maxDistance, 'min-similarity': minSimilarity } = values;
      const made = fingerprinterOptions(values);
      const least = Math.min(minSimilarity, ALMOST_ONE);
      const fingerprinter = new Fingerprinter({ ...made, threads });
      const intake = new Intake(inputs, values, terminal, signal);
      const out = openOutput(values.output, inputs, terminal, signal);
      try {
        using index = new Index({ ...made, maxDistance, verify: false, texts: false, threads });
        const [ids, texts]: [string[], Text[]] = [[], []];
        const keep = ({ id, text }: { id: string; text: Text }) => {
          ids.push(id);
          if (minSimilarity > 0) texts.push(text);
        };
        await fill(index, intake, (batch) => batch.forEach(keep), signal);
        let [candidates, found] = [0, 0];
        const progress = values.quiet ? undefined : new ProgressReport(terminal);
        const joined = () =>
          `joining: ${plural(candidates, 'candidate')}, ${plural(found, 'pair')}`;
        progress?.note(joined());
        for await (const { a, b, measures } of index.pairs({ signal })) {
          let lines = '';
          for (let row = 0; row < a.length; row++) {
            const [one, other] = [a[row] ?? 0, b[row] ?? 0];
            const similarity =
              minSimilarity > 0
                ? measure(texts[one] ?? '', texts[other] ?? '', fingerprinter)
                : undefined;
            if (similarity !== undefined && similarity < least) continue;
            const pair = { a: ids[one], b: ids[other], similarity, distance: measures[row] };
            lines += `${JSON.stringify(pair)}\n`;
            found++;
          }
          candidates += a.length;
          progress?.note(joined());
          await out.write(lines);
          // Verifying and writing keep this thread busy; a signal is heard here.
          await setImmediate(undefined, { signal });
        }
        progress?.end();
        await out.commit();
        const options = { ...made, maxDistance, minSimilarity, threads };
        const summary = { candidates, pairs: found, inputs, options };
        const streamed = values.output === '-';
        return await conclude(intake, { ...values, streamed }, terminal, summary, [
          minSimilarity > 0
            ? `${plural(found, 'pair')} of ${plural(candidates, 'candidate')} within ${maxDistance} bits`
            : `${plural(found, 'pair')} within ${maxDistance} bits`,
        ]);
      } finally {
        out.discard();
      }
    });
  },
});
