/** What became of documents: the four kinds of decision, and how they are made of the addon's columns. */
import { bit } from './bitmap';
import type { NativeDecisions } from './native';

/** A document's own id, as its source has it. */
export type DocKey = string | number;

/** What every decision says. */
interface Decided<D> {
  /** The document as it was given. */
  doc: D;
  /** Its position in the stream, from 0. */
  index: number;
  /** Its own id, by the option `key`; absent where it has none. */
  key?: DocKey;
}

/** What is known of a document that was compared. */
interface Compared<D> extends Decided<D> {
  /**
   * A limit cut the candidates of this text (`maxVerifications`, or a band or sentence that hundreds of texts share): an original, or
   * a better one, may have been missed. Absent where none did.
   */
  truncated?: true;
  /** Its 64-bit fingerprint, by the option `fingerprint`; absent where the text is too short to have one. */
  fingerprint?: bigint;
}

/** How a duplicate relates to the document that is kept. */
interface Relation {
  /** The key of that document, by the option `key`, or in the index that is `known`; absent where it has none. */
  duplicateKey?: DocKey;
  /**
   * Similarity to that document; absent without verification. With `cluster: 'components'` it may be below `minSimilarity`: another
   * member is what connects the two.
   */
  similarity?: number;
  /** Hamming distance to that document, by method `'simhash'`. */
  distance?: number;
}

/** What a decision of another status says and this one does not: always absent, so that it can be read of any decision. */
type Absent<K extends string> = { readonly [P in K]?: undefined };

/** The document is kept. */
export type KeptDecision<D = unknown> = Compared<D> & {
  status: 'kept';
} & Absent<keyof Relation | 'duplicateOf' | 'duplicateOfKnown' | 'reason'>;

/** The document is a near-duplicate of another one of the stream, which is kept. */
export type DuplicateDecision<D = unknown> = Compared<D> &
  Relation & {
    status: 'duplicate';
    /** Position of the kept document in the stream. */
    duplicateOf: number;
  } & Absent<'duplicateOfKnown' | 'reason'>;

/** The document is a near-duplicate of one that was there already, by the option `known`. It counts as a duplicate. */
export type KnownDecision<D = unknown> = Compared<D> &
  Relation & {
    status: 'known';
    /** Position of that document in `known`, from 0; its id where `known` is an index. */
    duplicateOfKnown: number;
  } & Absent<'duplicateOf' | 'reason'>;

/** The document has no text, by `onMissing: 'reject'`. */
export type RejectedDecision<D = unknown> = Decided<D> & {
  status: 'rejected';
  /** What is wrong with it. */
  reason: string;
} & Absent<keyof Relation | 'duplicateOf' | 'duplicateOfKnown' | 'truncated' | 'fingerprint'>;

/** What became of a document; `status` says which of the four it is. */
export type Decision<D = unknown> =
  | KeptDecision<D>
  | DuplicateDecision<D>
  | KnownDecision<D>
  | RejectedDecision<D>;

/** A decision while it is made. */
type Draft = { -readonly [K in keyof KnownDecision]?: unknown };

/** Documents that were handed to the addon together. */
export interface Batch<D> {
  readonly docs: readonly D[];
  /** Position of the first. */
  readonly first: number;
  /** By row: why the document was not handed on. Absent where all were. */
  readonly reasons: ReadonlyMap<number, string> | undefined;
}

/**
 * Positions of documents by the numbers that the addon gave them: it numbers those that it was given, without the rejected ones, and
 * the known ones before all others. 8 bytes per rejected document.
 */
export class Places {
  /** For each rejected document the number of the one that followed it. */
  readonly #rejected: number[] = [];
  /** The number that the next document gets. */
  next: number;

  /** `base` is the position of the first document. */
  constructor(
    readonly first: number,
    readonly base = 0,
  ) {
    this.next = first;
  }

  reject(): void {
    this.#rejected.push(this.next);
  }

  /** How many documents were rejected. */
  get rejected(): number {
    return this.#rejected.length;
  }

  /** The position of the document with this number. */
  at(number: number): number {
    return this.base + number - this.first + upTo(this.#rejected, number);
  }
}

/** How many of the ascending numbers are at most `limit`. */
function upTo(numbers: readonly number[], limit: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] as number) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Keys of kept documents, by the numbers that the addon gave them: 16 bytes each beside the key. */
export class Keys {
  readonly #numbers: number[] = [];
  readonly #keys: DocKey[] = [];

  /** Numbers come in ascending order. */
  note(number: number, key: DocKey | undefined): void {
    if (key === undefined) return;
    this.#numbers.push(number);
    this.#keys.push(key);
  }

  get(number: number): DocKey | undefined {
    const row = upTo(this.#numbers, number) - 1;
    return this.#numbers[row] === number ? this.#keys[row] : undefined;
  }
}

/** Where known documents stand. */
export interface KnownPlaces {
  /** How many there are. */
  readonly next: number;
  /** The position of the document with this number, or its id. */
  at(number: number): number;
  /** Whether they are the beginning of the stream itself, by its state. */
  readonly isStream?: boolean;
  /** Its key, where that is no option of the loop. */
  keyAt?(number: number): DocKey | undefined;
}

/** Where decisions find what the addon does not know. */
export interface Context<D> {
  readonly places: Places;
  /** The known documents. */
  readonly known: KnownPlaces;
  /** Where there are keys: the key of the document at this position, and those of kept documents. */
  readonly keyOf: ((doc: D, index: number) => DocKey | undefined) | undefined;
  readonly keys: Keys;
}

/** The decisions of a batch, whose first document has the number `number` in the addon. */
export function* decisions<D>(
  batch: Batch<D>,
  number: number,
  columns: NativeDecisions,
  context: Context<D>,
): Generator<Decision<D>> {
  const { docs, first, reasons } = batch;
  const { places, known, keys } = context;
  const { duplicateOf, similarity, distance, truncated, fingerprints, valid } = columns;
  const own = noteKeys(batch, number, columns, context);
  // Of the columns: rejected documents have none.
  let at = 0;
  for (const [row, doc] of docs.entries()) {
    const decision: Draft = { status: 'kept', doc, index: first + row };
    const key = own?.[row];
    if (key !== undefined) decision.key = key;
    const reason = reasons?.get(row);
    if (reason !== undefined) {
      yield Object.assign(decision, { status: 'rejected', reason }) as Decision<D>;
      continue;
    }
    const of = duplicateOf[at] as number;
    if (!Number.isNaN(of)) {
      const isBefore = of < places.first;
      if (isBefore && !known.isStream) {
        decision.status = 'known';
        decision.duplicateOfKnown = known.at(of);
      } else {
        decision.status = 'duplicate';
        decision.duplicateOf = isBefore ? known.at(of) : places.at(of);
      }
      const original = isBefore && known.keyAt ? known.keyAt(of) : own && keys.get(of);
      if (original !== undefined) decision.duplicateKey = original;
      // A column's NaN is an absent key.
      if (!Number.isNaN(similarity[at])) decision.similarity = similarity[at];
      if (!Number.isNaN(distance[at])) decision.distance = distance[at];
    }
    if (bit(truncated, at)) decision.truncated = true;
    if (fingerprints && valid && bit(valid, at)) decision.fingerprint = fingerprints[at];
    yield decision as Decision<D>;
    at += 1;
  }
}

/** The key of each document of a batch; those of kept documents are noted. */
export function noteKeys<D>(
  { docs, first, reasons }: Batch<D>,
  number: number,
  { duplicateOf }: NativeDecisions,
  { keyOf, keys }: Context<D>,
): (DocKey | undefined)[] | undefined {
  if (keyOf === undefined) return undefined;
  let at = 0;
  return docs.map((doc, row) => {
    const key = keyOf(doc, first + row);
    if (reasons?.has(row)) return key;
    if (Number.isNaN(duplicateOf[at])) keys.note(number + at, key);
    at += 1;
    return key;
  });
}
