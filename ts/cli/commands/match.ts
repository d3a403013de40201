import { defineCommand, type OptionTable } from '../command';
import { searchCorpus } from '../corpus';
import { EXIT, UsageError } from '../exit';
import { Intake } from '../intake';
import { interruptible } from '../interrupt';
import { writeNear } from '../near';
import { comparison, execution, features, fields, fingerprinterOptions, output } from '../options';
import { searchSaved } from '../saved';

/** Those of a saved index are its own where nothing is said. */
const { default: distance, ...maxDistance } = comparison['max-distance'];

export const match = defineCommand({
  name: 'match',
  summary: 'find the documents of a corpus or an index near new ones',
  arguments: {
    usage: 'IN...',
    min: 1,
    max: Number.POSITIVE_INFINITY,
    help: 'files of new documents, JSON lines, plain or gzip; - is standard input',
  },
  options: {
    corpus: { kind: 'texts', value: 'FILE', help: 'the documents to look among' },
    index: { kind: 'text', value: 'INDEX', help: 'a saved index to look in, in place of a corpus' },
    ...output,
    'max-distance': {
      ...maxDistance,
      help: `${maxDistance.help}; without it ${distance}, or that of the index`,
    },
    'min-similarity': comparison['min-similarity'],
    limit: {
      kind: 'integer',
      value: 'N',
      min: 1,
      max: Number.MAX_SAFE_INTEGER,
      help: 'at most N matches for each document, the nearest first',
    },
    ...features,
    ...fields,
    ...execution,
  },
  notes: [
    'Writes a JSON line per document: id and matches, each with id, similarity (where it is verified) and distance, the most similar first; those equally similar by distance, then in the order of the corpus. Where --limit left matches out, truncated is true. New documents are not compared with each other.',
    'With --corpus fingerprints within the distance are verified on the texts, which are held in memory; with --min-similarity 0 they are not. With --index nothing is verified, it has no texts: it says how features are made, and this is index query.',
    'The JSON summary goes to standard error where the matches go to standard output.',
  ],
  run(inputs, values, terminal) {
    const { corpus, index, threads, limit } = values;
    if ((corpus === undefined) === (index === undefined)) {
      throw new UsageError('match needs --corpus FILE or --index INDEX', 'and not both');
    }
    if ([...inputs, ...(corpus ?? [])].filter((input) => input === '-').length > 1) {
      throw new UsageError('standard input (-) can be read only once');
    }
    if (index !== undefined) checkUnused(values);
    return interruptible(terminal, values.output, async (signal) => {
      const { 'max-distance': asked, 'min-similarity': minSimilarity } = values;
      if (index !== undefined) {
        const about = { index, options: { maxDistance: asked, limit, threads } };
        const open = () => searchSaved(index, { maxDistance: asked, limit, threads, signal });
        return writeNear(inputs, [index], values, terminal, signal, about, open);
      }
      const files = corpus ?? [];
      const made = fingerprinterOptions(values);
      const how = { maxDistance: asked ?? distance, minSimilarity, limit, threads };
      const intake = new Intake(files, values, terminal, signal);
      const open = () => searchCorpus(intake, { made, ...how }, signal);
      const about = { corpus: files, options: { ...made, ...how } };
      const status = await writeNear(inputs, files, values, terminal, signal, about, open);
      return status === EXIT.done && intake.rejected > 0 ? EXIT.rejected : status;
    });
  },
});

/** @throws UsageError for an option that an index has decided already. */
function checkUnused(values: Readonly<Record<string, unknown>>): void {
  const table: OptionTable = { 'min-similarity': comparison['min-similarity'], ...features };
  for (const [name, spec] of Object.entries(table)) {
    const initial = spec.kind === 'flag' ? false : spec.default;
    if (values[name] === initial) continue;
    throw new UsageError(
      `--${name} is for --corpus`,
      'an index has no texts to verify, and says itself how features are made',
    );
  }
}
