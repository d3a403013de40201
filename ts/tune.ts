/** The right options for a corpus, by trying them on a sample whose truth is known. */
import { abortable } from './abort';
import { COMPARISON, type ComparisonOptions, type Summary } from './comparison';
import { dedup } from './dedup';
import { about, rangeError, typeError } from './errors';
import { type Evaluation, evaluate } from './evaluate';
import {
  FINGERPRINTER,
  Fingerprinter,
  type FingerprinterOptions,
  JOB,
  type JobOptions,
} from './fingerprinter';
import { given } from './given';
import { checksOf } from './option-table';
import * as check from './options';
import { type Corpus, draw, type Sampled, sampleBy } from './sample';
import { type Statement, said } from './statements';

/**
 * What is tried on what. The options of a fingerprinter are those of every trial that does not say otherwise, and define what
 * is true: two documents are duplicates whose features have a Jaccard similarity of `minSimilarity`.
 */
export interface TuneOptions extends FingerprinterOptions, JobOptions {
  /** Documents drawn at random, 1 to 2^32 - 1; as many near them are added. Default 2000. */
  sample?: number | undefined;
  /** Draws another sample, 0 to 2^32 - 1. Default 1. */
  seed?: number | undefined;
  /** Similarity from which two documents are duplicates, above 0, at most 1. Default 0.8. */
  minSimilarity?: number | undefined;
  /**
   * What is true, in place of similarity: clusters and pairs of ids, see {@link evaluate}. The documents that they name join
   * the sample in place of those near it.
   */
  labels?: Iterable<Statement> | undefined;
  /**
   * What is tried, beside the options above, the cheapest first; one that names `features` or `preset` does not take over
   * `ngram`. Default {@link sweep}.
   */
  trials?: readonly ComparisonOptions[] | undefined;
  /** Recall and precision that a recommendation reaches, 0 to 1. Default 0.99. */
  goal?: number | undefined;
  /** Is told of each trial as it ends. */
  onTrial?: ((trial: Trial) => void) | undefined;
}

/** One way to deduplicate the sample, and what came of it. */
export interface Trial {
  /** The options, as `dedup` takes them, without those that all trials share. */
  options: ComparisonOptions;
  /** Document recall; 1 where there is nothing to recall. */
  recall: number;
  /** Share of links that are right: by the texts, or by the labels where these were given. 1 where nothing was linked. */
  precision: number;
  /** Bytes held per document of the sample, texts aside; an index of millions holds fewer. */
  bytesPerDocument: number;
  /** Wall time of everything but reading: normalising, sketching, finding, verifying. */
  documentsPerSecond: number;
  /** All figures. */
  evaluation: Evaluation;
}

/** What came of all trials. */
export interface Tuning {
  /** Documents of the sample. */
  documents: number;
  /** Redundant ones among them. */
  redundant: number;
  trials: Trial[];
  /**
   * The first trial that reaches the goal, so trials go from cheap to dear; where none does, the first of those with the
   * highest B-cubed F1. Absent where the sample has nothing to find.
   */
  recommended?: Trial;
}

/** By SimHash distances from near to the widest that is exact; below 3 little but copies is found. */
const at = (maxDistance: number) => ({ method: 'simhash', maxDistance }) as const;

/** What is tried where nothing else is said: every method, from cheap to dear. */
export function sweep(): ComparisonOptions[] {
  return [
    { method: 'exact' },
    ...[3, 4, 6, 8].map(at),
    { method: 'sentences', sentences: 3 },
    { method: 'sentences', sentences: 5 },
    { method: 'sentences', sentences: 10 },
    // In the field 16 bands of 8 rows are usual; the plan of `dedup` misses one pair in ten thousand at the threshold.
    { method: 'minhash', bands: 16, rows: 8 },
    { method: 'minhash' },
    // Few bytes, but beyond 8 bits much is compared that is not alike.
    ...[10, 12, 14, 16].map(at),
    { method: 'brute-force' },
  ];
}

const OPTIONS: check.Checks<TuneOptions> = {
  ...FINGERPRINTER,
  ...JOB,
  ...checksOf('sample', 'seed', 'minSimilarity'),
  labels: (value, name) => {
    if (typeof value === 'string' || !(Symbol.iterator in Object(value))) {
      throw typeError(`${name} must be an iterable, got ${check.show(value)}`);
    }
    return value as Iterable<Statement>;
  },
  trials: (value, name) => {
    check.array(value, name);
    return (value as unknown[]).map((trial, row) =>
      check.checked<ComparisonOptions>(trial, COMPARISON, `${name}[${row}]`),
    );
  },
  ...checksOf('goal'),
  onTrial: check.callback,
};

/**
 * Tries methods and thresholds on a sample of `corpus` and recommends options for the whole.
 *
 * The truth of the sample is exact: all its pairs are compared (by a join that skips only those that cannot reach the
 * threshold), or it is given as labels. The corpus is read twice, so it is an array or a function that begins anew; the
 * sample is held in memory. A trial of n documents takes what `dedup` takes for them, and the scoring.
 */
export async function tune(corpus: Corpus, options?: TuneOptions): Promise<Tuning> {
  const checked = check.checked(options, OPTIONS);
  const { sample = 2000, seed = 1, minSimilarity = 0.8, labels, goal = 0.99, ...rest } = checked;
  const { trials = sweep(), onTrial, signal, ...by } = rest;
  if (minSimilarity === 0)
    throw about(rangeError('minSimilarity must be above 0, got 0'), 'minSimilarity');
  if (typeof corpus !== 'function') check.array(corpus, 'corpus');
  const native = sampleBy(new Fingerprinter(by), minSimilarity, by.threads ?? 0);
  const stated = labels && [...labels];
  const named = stated && new Set(stated.flatMap(names));
  const docs = await draw(corpus, native, { size: sample, seed, named, signal });
  const truth = stated ?? (await exact(docs, native, signal));
  const tuning: Tuning = { documents: docs.length, redundant: 0, trials: [] };
  for (const own of trials) {
    const all = optionsOf(own, by, minSimilarity);
    const { summary, seconds, clusters } = await run(docs, all, signal);
    const scoring = { ...by, minSimilarity, ...given({ signal }) };
    const evaluation = await evaluate(clusters, truth, { documents: docs, ...scoring });
    const figures = { evaluation, indexBytes: summary.indexBytes, seconds };
    const trial = trialOf(own, figures, docs.length, stated !== undefined);
    tuning.trials.push(trial);
    tuning.redundant = evaluation.redundant;
    onTrial?.(trial);
  }
  return recommending(tuning, goal);
}

/** All options of a trial: its own, and those that all trials share. */
export function optionsOf<O extends FingerprinterOptions>(
  own: ComparisonOptions,
  { ngram, ...others }: O,
  minSimilarity: number,
): ComparisonOptions {
  // A length is one of certain units, a threshold that of some verification.
  const sameUnits = own.features === undefined && own.preset === undefined;
  const length = sameUnits ? given({ ngram }) : {};
  const least = own.verify === false ? {} : { minSimilarity };
  return { ...others, ...length, ...least, ...own };
}

/** What is measured of a trial. */
interface Figures {
  readonly evaluation: Evaluation;
  readonly indexBytes: number;
  readonly seconds: number;
}

/** A trial on so many documents, whose truth was stated or computed. */
export function trialOf(
  options: ComparisonOptions,
  { evaluation, indexBytes, seconds }: Figures,
  documents: number,
  stated: boolean,
): Trial {
  const precision = stated ? evaluation.labelledPrecision : evaluation.pairPrecision;
  return {
    options,
    recall: evaluation.documentRecall ?? 1,
    precision: precision ?? 1,
    bytesPerDocument: documents > 0 ? indexBytes / documents : 0,
    documentsPerSecond: documents / seconds,
    evaluation,
  };
}

/** The same with the trial that is recommended, if there is one. */
export function recommending(tuning: Tuning, goal: number): Tuning {
  const recommended = recommend(tuning, goal);
  return recommended === undefined ? tuning : { ...tuning, recommended };
}

/** All pairs of the sample, as labels. */
async function exact(
  docs: readonly Sampled[],
  native: ReturnType<typeof sampleBy>,
  signal: AbortSignal | undefined,
): Promise<Statement[]> {
  const texts = docs.map(({ text }) => text);
  const { offsets, numbers, a, b, similarity } = await abortable(signal, (cancel) =>
    native.truth(texts, cancel),
  );
  const id = (number: number | undefined) => docs[number ?? -1]?.id ?? '';
  const groups = Array.from(offsets.subarray(1), (end, row) =>
    Array.from(numbers.subarray(offsets[row], end), id),
  );
  const pairs = Array.from(a, (one, row) => ({
    a: id(one),
    b: id(b[row]),
    similarity: similarity[row],
  }));
  return [...groups, ...pairs];
}

interface Ran {
  readonly summary: Summary;
  readonly seconds: number;
  readonly clusters: string[][];
}

async function run(
  docs: readonly Sampled[],
  options: ComparisonOptions,
  signal: AbortSignal | undefined,
): Promise<Ran> {
  const clusters = new Map<number, string[]>();
  const start = performance.now();
  // Large batches keep all cores busy.
  const decisions = dedup(docs, { ...options, batch: 65_536, ...given({ signal }) });
  for (;;) {
    const { done, value } = await decisions.next();
    if (done === true) {
      const seconds = (performance.now() - start) / 1000;
      return { summary: value, seconds, clusters: [...clusters.values()] };
    }
    const { doc, index, duplicateOf: kept } = value;
    if (kept === undefined) continue;
    const cluster = clusters.get(kept);
    if (cluster === undefined) clusters.set(kept, [docs[kept]?.id ?? `${kept}`, doc.id]);
    else cluster.push(doc.id ?? `${index}`);
  }
}

function recommend({ trials, redundant }: Tuning, goal: number): Trial | undefined {
  if (redundant === 0) return undefined;
  const best = Math.max(...trials.map(({ evaluation }) => evaluation.bcubedF1 ?? 1));
  return (
    trials.find(({ recall, precision }) => recall >= goal && precision >= goal) ??
    trials.find(({ evaluation }) => evaluation.bcubedF1 === best)
  );
}

function names(statement: Statement): readonly string[] {
  const read = said(statement);
  if (typeof read === 'string') return [];
  return 'ids' in read ? read.ids : [read.a, read.b];
}
