import { statSync } from 'node:fs';
import { extname } from 'node:path';
import type { ComparisonOptions, Trial } from '../..';
import { OPTIONS } from '../../option-table';
import { isPattern } from '../../report/pattern';
import { refuseReport } from '../../report/refused';
import { file, flags, PROGRAM, word } from '../../shell';
import { defineCommand } from '../command';
import { EXIT, InputError, UsageError } from '../exit';
import { count } from '../format';
import { execution, features, fields, fieldsOf, fingerprinterOptions } from '../options';
import { rejections, watched } from '../run';
import { table } from '../table';
import { versions } from '../version';
import { unknownIds } from './eval';

export const tuning = defineCommand({
  name: 'tune',
  summary: 'choose a method and threshold on a sample of files',
  arguments: {
    usage: 'IN...',
    min: 1,
    max: Number.POSITIVE_INFINITY,
    help: 'files of documents, or folders',
  },
  options: {
    sample: { ...OPTIONS.sample, default: 2000 },
    seed: { ...OPTIONS.seed, default: 1 },
    labels: {
      kind: 'texts',
      value: 'FILE',
      help: 'the correct answers, as for eval, in place of similarity',
    },
    'min-similarity': {
      ...OPTIONS.minSimilarity,
      default: 0.8,
      help: 'similarity from which two documents count as duplicates',
    },
    goal: { ...OPTIONS.goal, default: 0.99 },
    ...features,
    ...fields,
    ...execution,
  },
  examples: ['tune news.jsonl', 'tune news.jsonl --labels labels.jsonl --goal 0.95'],
  notes: [
    'Compares all pairs of the sample exactly, then deduplicates it with each method, from cheap to expensive, and shows recall (of redundant documents), precision (of links), bytes per document without the texts, and documents per second. The arrow marks the first method that reaches the goal, or else the best one. The last line is the command with its options.',
    'The sample consists of random documents and of documents near them, so that there are duplicates to find: the share of duplicates is not that of the files. The files are read twice. With --labels the labelled documents are added instead of near ones.',
    'The sample is held in memory. An index of few documents holds more bytes for each than one of millions.',
  ],
  run(inputs, values, terminal) {
    if (inputs.includes('-')) {
      throw new UsageError(
        'tune reads its files twice, and standard input (-) can be read only once',
      );
    }
    return watched(
      terminal,
      '-',
      async (signal) => {
        const { sweep } = await import('../../tune.js');
        const { tuneFiles } = await import('../../evaluate-files.js');
        const { sample, seed, labels, goal, threads, quiet, 'min-similarity': least } = values;
        if (least === 0) throw new UsageError('--min-similarity must be above 0, got 0');
        const by = fingerprinterOptions(values);
        const compared = { by, minSimilarity: least, threads };
        const form = fieldsOf(values);
        const files = { labels, documents: inputs, form, ...compared };
        const onTrial = quiet ? undefined : (trial: Trial) => terminal.say(progress(trial));
        const how = { sample, seed, goal, trials: sweep(), onTrial };
        const { rejected, firstRejected, recommended, ...tuning } = await tuneFiles(
          files,
          how,
          signal,
        );
        rejections({ rejected, firstRejected }, terminal);
        if (tuning.documents === 0) {
          const field = values['text-field']?.join(' or ') ?? 'text';
          const what = `no record with a ${field}; name its field by --text-field`;
          throw new InputError(inputs.join(', '), new Error(what));
        }
        // What is kept is written in the format of the inputs, as its name has to say.
        const output = outputOf(inputs, values.format);
        const given = { ...by, ...form, minSimilarity: least };
        const command = recommended && commandOf(inputs, output, recommended.options, given);
        if (values.json) {
          const options = { ...by, sample, seed, goal, minSimilarity: least };
          const figures = { ...tuning, recommended: recommended?.options, command };
          const run = { rejected, inputs, labels, options, versions: versions() };
          await terminal.write(`${JSON.stringify({ ...figures, ...run })}\n`);
        } else {
          const rows = tuning.trials.map((trial) => cells(trial, trial === recommended));
          await terminal.write(table(HEAD, rows));
          terminal.say(
            `${count(tuning.documents)} documents, ${count(tuning.redundant)} of them redundant`,
          );
          const unknown = tuning.trials[0]?.evaluation.unknownLabels ?? 0;
          for (const line of unknownIds(unknown, 'labels')) terminal.say(line);
          if (command !== undefined) await terminal.write(`${command}\n`);
          else terminal.say('nothing to find in this sample: try a larger one');
        }
        return rejected > 0 ? EXIT.rejected : EXIT.done;
      },
      values.quiet,
    );
  },
});

const HEAD = ['', 'options', 'recall', 'precision', 'bytes', 'documents/s'] as const;

function cells(trial: Trial, recommended: boolean): string[] {
  const { recall, precision, bytesPerDocument, documentsPerSecond } = trial;
  return [
    recommended ? '→' : '',
    flags(trial.options).join(' '),
    recall.toFixed(4),
    precision.toFixed(4),
    bytesPerDocument.toFixed(1),
    count(Math.round(documentsPerSecond)),
  ];
}

function progress({ options, recall }: Trial): string {
  return `${flags(options).join(' ')}: recall ${recall.toFixed(4)}`;
}

/** The command that deduplicates the whole by the options of a trial, and by those that were given here. */
function commandOf(
  inputs: readonly string[],
  output: string,
  trial: ComparisonOptions,
  given: object,
): string {
  const files = inputs.map(file).join(' ');
  const options = [...flags(trial), ...flags(given)].join(' ');
  return `${PROGRAM} dedup ${files} -o ${word(output)} ${options}`;
}

/** Names for what is kept: the first that is not a file of the run. */
const NAMES = ['unique', 'kept', 'deduplicated'];

function outputOf(inputs: readonly string[], format: string): string {
  const ending = endingOf(inputs[0] ?? '', format);
  const isFree = (name: string) => {
    try {
      refuseReport(name, { inputs, outputs: [] });
      return true;
    } catch {
      return false;
    }
  };
  const names = NAMES.map((name) => `${name}${ending}`);
  return names.find(isFree) ?? `unique${ending}`;
}

/** Of what is kept of files like this one: the format of the output follows it. */
function endingOf(input: string, format: string): string {
  const texts = isPattern(input) || statSync(input, { throwIfNoEntry: false })?.isDirectory();
  if (format === 'files' || (format === 'auto' && texts)) return '.jsonl';
  if (format === 'auto') return extname(input.replace(/\.(gz|zst|bz2|xz)$/i, ''));
  return `.${format === 'lines' ? 'txt' : format}`;
}
