/** A result against labels. The figures are defined in crates/dedup/src/evaluate. */
import { abortable } from './abort';
import { binding } from './binding';
import { type Text, textOf } from './documents';
import { typeError } from './errors';
import {
  FINGERPRINTER,
  Fingerprinter,
  type FingerprinterOptions,
  JOB,
  type JobOptions,
} from './fingerprinter';
import type { NativeEvaluation, NativeLists } from './native';
import { NATIVE } from './native-part';
import * as check from './options';
import { type DocId, type Statement, saidBy } from './statements';

/** A document of the corpus that a result is about. */
export interface EvaluatedDocument {
  /** Its id; without one its position, from 0. */
  readonly id?: DocId | undefined;
  /** Its text; without one its links count as wrong where texts are compared. */
  readonly text?: Text | undefined;
}

/** How a result is scored. The options of a fingerprinter say what similarity is: the features whose sets are compared. */
export interface EvaluateOptions extends FingerprinterOptions, JobOptions {
  /**
   * All documents of the corpus. Where they have texts, links are verified. Without them the corpus is what labels and
   * decisions name, and figures about whole partitions leave out the documents that neither names. Texts are held in memory
   * only of documents that the result links.
   */
  documents?: Documents | undefined;
  /** Similarity from which a pair is a pair of duplicates, 0 to 1. Default 0.8. */
  minSimilarity?: number | undefined;
}

/** How good a result is. Shares are from 0 to 1; a share of nothing is absent: recall (and B-cubed F1) where the labels name no duplicates, precision without links. */
export interface Evaluation {
  /** Documents of the corpus. */
  documents: number;
  /** Documents beyond the first of each labelled cluster: those that could be removed. */
  redundant: number;
  /** Documents that the result names as duplicates. */
  removed: number;
  /** Links that the result stands for: its pairs, and one less than the members of each of its clusters. */
  pairs: number;
  /** Pairs that are labelled as different. */
  apart: number;
  /** Those of them that the result puts into one cluster. */
  merged: number;
  /** Share of redundant documents that are linked to a true mate, directly or by a chain. */
  documentRecall?: number;
  /** Removed documents by redundant ones, in each labelled cluster at most as many as are redundant there. */
  removalRecall?: number;
  /** Share of true pairs that are in one cluster; a labelled cluster counts as its number of pairs, 50 at most. */
  pairRecall?: number;
  /** Share of links between documents of one labelled cluster. */
  labelledPrecision?: number;
  /** Share of links whose similarity, computed from the texts, is at least `minSimilarity`. */
  pairPrecision?: number;
  /** The same at 0.5: what is below has little in common. */
  halfPrecision?: number;
  /** Share of removed documents whose similarity to the document kept in their place is at least `minSimilarity`. */
  keptPrecision?: number;
  /** For a random document, the share of its reported cluster that belongs there. */
  bcubedPrecision: number;
  /** For a random document, the share of its labelled cluster that is with it. */
  bcubedRecall?: number;
  /** Harmonic mean of the two. */
  bcubedF1?: number;
  /** Adjusted Rand index: 1 where both partitions are equal, about 0 by chance. */
  adjustedRand: number;
  /** Ids in the decisions that no document has; they are left out. */
  unknownDecisions: number;
  /** Ids in the labels that no document has; they are left out. */
  unknownLabels: number;
}

type Statements = Iterable<Statement> | AsyncIterable<Statement>;
type Documents = Iterable<EvaluatedDocument> | AsyncIterable<EvaluatedDocument>;

const iterable: check.Check<Documents> = (value, name) => {
  const can = Symbol.iterator in Object(value) || Symbol.asyncIterator in Object(value);
  if (!can || typeof value === 'string') {
    throw typeError(`${name} must be an iterable or async iterable, got ${check.show(value)}`);
  }
  return value as Documents;
};

const OPTIONS: check.Checks<EvaluateOptions> = {
  ...FINGERPRINTER,
  ...JOB,
  documents: iterable,
  minSimilarity: check.share,
};

/**
 * Scores the decisions of a run against labels.
 *
 * Decisions are what `dedup --mark` and `--clusters` write, or `dedup()` yields: links to the document that was kept, or
 * clusters. A cluster is judged by its best reading: its links are the maximum spanning tree over what the labels know, and
 * the star around its first member for the rest. Labels are clusters, whose members are all duplicates of each other, and
 * pairs, which link the clusters of their two documents where their similarity is at least `minSimilarity`, and state that
 * they are different where it is below.
 */
export async function evaluate(
  decisions: Statements,
  labels: Statements,
  options?: EvaluateOptions,
): Promise<Evaluation> {
  const given = check.checked(options, OPTIONS);
  const { documents, minSimilarity = 0.8, signal, ...by } = given;
  iterable(decisions, 'decisions');
  iterable(labels, 'labels');
  signal?.throwIfAborted();
  const corpus = new Corpus();
  const [truth, found] = [new Columns(), new Columns()];
  await corpus.read(labels, 'labels', truth);
  await corpus.read(decisions, 'decisions', found);
  if (documents !== undefined) await corpus.load(documents, found);
  const [known, reported] = [corpus.known(truth), corpus.known(found)];
  const verifies = documents !== undefined && corpus.texts.length > 0;
  const maker = verifies ? new Fingerprinter(by)[NATIVE] : undefined;
  const figures = await abortable(signal, (cancel) =>
    binding.evaluate(
      {
        documents: corpus.size,
        least: minSimilarity,
        groups: known.clusters,
        a: known.kept,
        b: known.removed,
        similarity: known.similarity,
      },
      reported,
      maker,
      { numbers: Uint32Array.from(corpus.rows), texts: corpus.texts, threads: by.threads ?? 0 },
      cancel,
    ),
  );
  const unknown = { unknownDecisions: reported.unknown, unknownLabels: known.unknown };
  return evaluationOf(figures, unknown);
}

type Shares = Pick<Evaluation, 'bcubedPrecision' | 'adjustedRand'>;

const NOTHING_TO_RECALL = {
  documentRecall: undefined,
  removalRecall: undefined,
  pairRecall: undefined,
  bcubedRecall: undefined,
  bcubedF1: undefined,
};

/** Figures of the addon, and ids that no document has. */
export function evaluationOf(
  figures: NativeEvaluation,
  unknown: Pick<Evaluation, 'unknownDecisions' | 'unknownLabels'>,
): Evaluation {
  const { documents, redundant, removed, pairs, apart, merged, ...shares } = figures;
  const recalls = redundant > 0 ? {} : NOTHING_TO_RECALL;
  const known = Object.entries({ ...shares, ...recalls }).filter(([, share]) => share != null);
  const counts = { documents, redundant, removed, pairs, apart, merged };
  return { ...counts, ...(Object.fromEntries(known) as Shares), ...unknown };
}

/** Statements in columns of numbers. */
class Columns {
  readonly kept: number[] = [];
  readonly removed: number[] = [];
  readonly similarity: number[] = [];
  readonly clusters: number[][] = [];
}

interface Known {
  readonly kept: Uint32Array;
  readonly removed: Uint32Array;
  readonly similarity: Float64Array;
  readonly clusters: NativeLists;
  /** Ids that no document has. */
  readonly unknown: number;
}

/** Ids as numbers, and the texts that are needed. */
class Corpus {
  readonly #numbers = new Map<string, number>();
  /** By number: its place among the documents. Absent where there are no documents to be among. */
  #places: (number | undefined)[] | undefined;
  /** How many documents there are. */
  size = 0;
  readonly texts: Text[] = [];
  /** By text: the place of its document. */
  readonly rows: number[] = [];

  async read(statements: Statements, name: string, into: Columns): Promise<void> {
    let row = 0;
    for await (const statement of statements) {
      const said = saidBy(statement, `${name}[${row++}]`);
      if ('ids' in said) into.clusters.push(said.ids.map((id) => this.#number(id)));
      else {
        into.kept.push(this.#number(said.a));
        into.removed.push(this.#number(said.b));
        into.similarity.push(said.similarity);
      }
    }
    this.size = this.#numbers.size;
  }

  /** The documents; texts are kept of those that `found` links. A repeated id counts once, with its first text. */
  async load(documents: Documents, found: Columns): Promise<void> {
    const members = found.clusters.filter(({ length }) => length > 1);
    const linked = new Set([found.kept, found.removed, ...members].flat());
    const places: (number | undefined)[] = [];
    let [row, size] = [0, 0];
    for await (const document of documents) {
      const { id = row, text } = document;
      const number = this.#number(String(id));
      if (places[number] === undefined) {
        if (text !== undefined && linked.has(number)) {
          this.texts.push(textOf({ text }, row));
          this.rows.push(size);
        }
        places[number] = size++;
      }
      row++;
    }
    this.#places = places;
    this.size = size;
  }

  /** `columns` by place, without what no document has. */
  known({ kept, removed, similarity, clusters }: Columns): Known {
    let unknown = 0;
    const place = (number: number): number | undefined => {
      const found = this.#places === undefined ? number : this.#places[number];
      if (found === undefined) unknown++;
      return found;
    };
    const places = (numbers: readonly number[]) => numbers.map(place);
    const [a, b] = [places(kept), places(removed)];
    const both = (_: unknown, row: number) => a[row] !== undefined && b[row] !== undefined;
    const lists = clusters.map((members) => places(members).filter((at) => at !== undefined));
    return {
      kept: Uint32Array.from(a.filter(both) as number[]),
      removed: Uint32Array.from(b.filter(both) as number[]),
      similarity: Float64Array.from(similarity.filter(both)),
      clusters: columnsOf(lists),
      unknown,
    };
  }

  #number(id: string): number {
    const known = this.#numbers.get(id);
    if (known !== undefined) return known;
    this.#numbers.set(id, this.#numbers.size);
    return this.#numbers.size - 1;
  }
}

/** Lists one behind the other; those of one member say nothing. */
function columnsOf(lists: readonly (readonly number[])[]): NativeLists {
  const long = lists.filter(({ length }) => length > 1);
  const offsets = new Uint32Array(long.length + 1);
  long.forEach(({ length }, row) => {
    offsets[row + 1] = (offsets[row] ?? 0) + length;
  });
  return { offsets, numbers: Uint32Array.from(long.flat()) };
}
