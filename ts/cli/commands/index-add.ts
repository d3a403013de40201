import { defineCommand } from '../command';
import { fill } from '../fill';
import { Intake } from '../intake';
import { interruptible } from '../interrupt';
import { execution, fields, savedIndex } from '../options';
import { openSaved, required, Saving } from '../saved';
import { describeIndex } from '../stats';
import { conclude } from '../summary';

export const indexAdd = defineCommand({
  name: 'index add',
  summary: 'add the documents in files to a saved index',
  arguments: {
    usage: 'IN...',
    min: 1,
    max: Number.POSITIVE_INFINITY,
    help: 'files of JSON lines, plain or gzip; - is standard input',
  },
  options: { ...savedIndex, ...fields, ...execution },
  notes: [
    'Fingerprints are made with the options that the index was built with. The index is read, changed in memory and written anew: it is replaced when the run has ended, or stays as it was.',
    'A record without an id has its line number as id, as everywhere; after several runs such ids name several documents.',
  ],
  run(inputs, values, terminal) {
    const path = required(values, 'index add');
    return interruptible(terminal, path, async (signal) => {
      const intake = new Intake(inputs, values, terminal, signal);
      const { index, ids } = await openSaved(path, values.threads, signal);
      const saving = await Saving.begin(path, ids, inputs, terminal);
      try {
        await fill(index, intake, (batch) => saving.add(batch), signal);
        await saving.commit(index, signal);
      } finally {
        saving.discard();
      }
      const options = { ...ids.fingerprinter, threads: values.threads };
      const summary = { index: path, stats: index.stats(), inputs, options };
      return await conclude(intake, values, terminal, summary, [describeIndex(index.stats())]);
    });
  },
});
