import { resolve } from 'node:path';
import { defineCommand } from '../command';
import { UsageError } from '../exit';
import { fill } from '../fill';
import { Intake } from '../intake';
import { interruptible } from '../interrupt';
import { comparison, execution, features, fields, fingerprinterOptions } from '../options';
import { BARE, Saving } from '../saved';
import { describeIndex } from '../stats';
import { conclude } from '../summary';

export const indexBuild = defineCommand({
  name: 'index build',
  summary: 'make a saved index of the documents in files',
  arguments: {
    usage: 'IN...',
    min: 1,
    max: Number.POSITIVE_INFINITY,
    help: 'files of JSON lines, plain or gzip; - is standard input',
  },
  options: {
    output: { kind: 'text', short: 'o', value: 'INDEX', help: 'file for the index' },
    'max-distance': comparison['max-distance'],
    plan: {
      kind: 'text',
      value: 'NAME',
      default: 'auto',
      help: 'which tables to keep: auto, classic, or a name that the command plan shows',
    },
    capacity: {
      kind: 'integer',
      value: 'N',
      min: 0,
      max: Number.MAX_SAFE_INTEGER,
      help: 'documents expected in the end, a hint for the plan',
    },
    ...features,
    ...fields,
    ...execution,
  },
  notes: [
    'Writes INDEX, and beside it INDEX.ids.jsonl with the ids of the documents and the options that made their fingerprints. The two belong together: copy and move both. Both appear when the run has ended, or neither.',
    'Copies are not looked for: every document gets its place in the index. A malformed line is reported as file:line and counted, and the run goes on (exit status 1).',
  ],
  run(inputs, values, terminal) {
    const path = values.output;
    if (path === undefined || path === '-') {
      throw new UsageError('index build needs -o INDEX', 'an index is a file, not a stream');
    }
    return interruptible(terminal, path, async (signal) => {
      const { Index } = await import('../../index.js');
      const { threads, plan, capacity, 'max-distance': maxDistance } = values;
      const made = withFullNames(fingerprinterOptions(values));
      using index = new Index({ ...made, ...BARE, maxDistance, plan, capacity, threads });
      const intake = new Intake(inputs, values, terminal, signal);
      const saving = await Saving.begin(path, made, inputs, terminal);
      try {
        await fill(index, intake, (batch) => saving.add(batch), signal);
        await saving.commit(index, signal);
      } finally {
        saving.discard();
      }
      const options = { ...made, maxDistance, plan, capacity, threads };
      const summary = { index: path, stats: index.stats(), inputs, options };
      return await conclude(intake, values, terminal, summary, [describeIndex(index.stats())]);
    });
  },
});

/** Files by their full names: what uses the index may run in another folder. */
function withFullNames(options: ReturnType<typeof fingerprinterOptions>) {
  const { dictionary, stopWords, idf } = options;
  const full = Object.entries({ dictionary, stopWords, idf }).flatMap(([name, file]) =>
    file === undefined ? [] : [[name, resolve(file)]],
  );
  return { ...options, ...Object.fromEntries(full) } as typeof options;
}
