// How much of what is true each way of deduplicating finds, and how much of what it reports is right, on every corpus with
// exact truth: the matrix behind the defaults. `--set NAME` takes one corpus, `--write FILE` writes the page with all figures.
import { writeFileSync } from 'node:fs';
import { open, truths } from './corpora.mjs';
import { controls } from './quality-controls.mjs';
import { page } from './quality-page.mjs';

const components = { cluster: 'components' };
const at = (maxDistance) => ({ method: 'simhash', maxDistance });
const bands = (bands, rows) => ({ method: 'minhash', bands, rows });
const all = (group, ways, more = {}) =>
  ways.map((options) => ({ group, ...more, options: { ...components, ...options } }));

/** From the classic distance to the widest that the index knows; on long texts each, so that the smallest that is enough is read off. */
const DISTANCES = Array.from({ length: 14 }, (_, row) => row + 3);
const kindOf = (maxDistance) => (maxDistance % 2 === 0 || maxDistance === 3 ? undefined : 'long');

/** What features are made of. Long texts of one language share nearly all their single characters. */
const FEATURES = [
  { features: 'chars', ngram: 1, kind: 'short' },
  ...[2, 3, 5].map((ngram) => ({ features: 'chars', ngram })),
  ...[1, 2, 3].map((ngram) => ({ features: 'words', ngram })),
  { features: 'jieba', ngram: 1 },
];
const weighted = ({ features }) =>
  features === 'chars'
    ? ['count', 'binary']
    : features === 'jieba'
      ? ['count', 'tfidf']
      : ['count'];

const FINDERS = [at(3), at(8), { method: 'minhash' }];

/** The ways that are tried: `group` is the table in which a row stands. Edit distance is quadratic in the length of a text. */
const TRIALS = [
  ...all('defaults', [{}]),
  { group: 'defaults', options: {} },
  // What is chosen where no shingle is given, and pairs in every script and length; judged by the shingles of the truth.
  ...all('unsaid', [{ features: 'auto' }, { features: 'chars', ngram: 2 }]),
  ...all('unsaid', [
    { features: 'auto', ...at(8) },
    { features: 'chars', ngram: 2, ...at(8) },
  ]),
  ...DISTANCES.flatMap((maxDistance) =>
    all('distance', [at(maxDistance)], { kind: kindOf(maxDistance) }),
  ),
  ...FINDERS.flatMap((way) =>
    all(
      'verification',
      [false, 'containment', 'cosine'].map((verify) => ({ ...way, verify })),
    ),
  ),
  ...all(
    'verification',
    FINDERS.map((way) => ({ ...way, verify: 'edit' })),
    { kind: 'short' },
  ),
  ...FEATURES.flatMap(({ kind, ...by }) =>
    all(
      'features',
      weighted(by).map((weighting) => ({ ...at(8), ...by, weighting })),
      { kind },
    ),
  ),
  // Weights are nothing to a set.
  ...FEATURES.flatMap(({ kind, ...by }) =>
    all('features', [{ method: 'minhash', ...by }], { kind }),
  ),
  ...all('methods', [
    { method: 'exact' },
    ...[3, 5, 10].map((sentences) => ({ method: 'sentences', sentences })),
  ]),
  ...all(
    'methods',
    [
      [16, 8],
      [14, 8],
      [25, 10],
      [20, 5],
      [50, 4],
    ].map(([count, rows]) => bands(count, rows)),
  ),
  ...all('methods', [{ method: 'minhash' }, { method: 'brute-force' }]),
];

/** Tables for which a corpus of which most pairs would have to be compared is left out. */
const COSTLY = ['features', 'verification'];

/** The figures of one corpus: of the whole by the defaults, of a sample by all else where it is large. */
async function measure(truth, library) {
  const { tune } = library;
  const { docs, labels, numbered } = open(truth, library);
  if (numbered.length > 0)
    console.error(
      `${truth.set}: ${numbered.length} true pairs are two because their numbers differ`,
    );
  for (const [a, b] of numbered) console.error(`  ${a.slice(0, 60)} | ${b.slice(0, 60)}`);
  const { ngram, normalize, kind: own, widest = 16 } = truth;
  const fits = ({ kind, group, options }) =>
    (kind ?? own) === own &&
    (options.maxDistance ?? 0) <= widest &&
    (widest === 16 || !COSTLY.includes(group));
  const onTrial = ({ options, recall, documentsPerSecond }) =>
    console.error(
      `${truth.set} ${ngram}, ${words(options)}: recall ${recall.toFixed(4)}, ${documentsPerSecond.toFixed(0)} documents/s`,
    );
  const run = async (sample, trials) => {
    const options = trials.map(({ options }) => options);
    const tuning = await tune(docs, {
      features: 'chars',
      ngram,
      normalize,
      labels,
      sample,
      trials: options,
      onTrial,
    });
    return {
      ...tuning,
      rows: tuning.trials.map((trial, row) => ({ group: trials[row].group, ...trial })),
    };
  };
  const whole = 2 ** 32 - 1;
  const first = await run(
    whole,
    TRIALS.filter(({ group }) => group === 'defaults'),
  );
  const rest = await run(
    truth.sample ?? whole,
    TRIALS.filter((trial) => trial.group !== 'defaults' && fits(trial)),
  );
  return {
    ...truth,
    all: docs.length,
    numbered: numbered.length,
    documents: rest.documents,
    redundant: first.redundant,
    rows: [...first.rows, ...rest.rows],
  };
}

export async function bench(options) {
  const library = await import('../dist/index.mjs');
  const value = (name) => (options.includes(name) ? options[options.indexOf(name) + 1] : undefined);
  const only = value('--set');
  const corpora = [];
  for (const truth of truths(only)) corpora.push(await measure(truth, library));
  const file = value('--write');
  if (file !== undefined)
    writeFileSync(file, page(corpora, only === undefined ? await controls(library) : {}));
  const name = (truth) => `${truth.set}, ${truth.ngram}-grams`;
  const split = corpora.map(({ numbered, ...truth }) => ({
    what: `${name(truth)}: true pairs whose numbers differ, taken for two`,
    value: numbered,
    unit: 'pairs',
  }));
  const rows = corpora.flatMap((truth) =>
    truth.rows
      .filter(({ group }) => !COSTLY.includes(group))
      .map(({ options, recall }) => ({
        what: `${name(truth)}: ${words(options)}`,
        value: recall,
        unit: 'recall',
      })),
  );
  return {
    bench: 'quality',
    setup: corpora
      .map((truth) => `${name(truth)}: ${truth.documents} documents, ${truth.redundant} redundant`)
      .join('; '),
    rows: [...split, ...rows],
  };
}

/** Options in words. */
function words(options) {
  const parts = Object.entries(options).map(([name, value]) =>
    ['method', 'cluster', 'features'].includes(name) ? value : `${name} ${value}`,
  );
  return parts.length > 0 ? parts.join(', ') : 'defaults';
}
