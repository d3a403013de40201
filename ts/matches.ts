/** What an index finds: a match, and the matches of many searches in columns. */
import { bit } from './bitmap';
import { type Found, found } from './found';
import type { IndexMethod } from './method';
import type { NativeMatches } from './native';
import { Rows } from './rows';

/** What each method knows of two documents. */
interface Known {
  simhash: {
    /** Bits in which the fingerprints differ, 0 to 16; 0 between texts too short for a fingerprint. */
    distance: number;
  };
  minhash: {
    /** How many bands are equal; absent between equal texts without features. */
    bands?: number;
  };
  sentences: {
    /** Sentences in common that count; all of them where the longest sentences are the same, 0 for equal short texts. */
    shared: number;
  };
  exact: unknown;
}

/** How a match is known: by its text, or, where that is not at hand, by what the method found. */
type Confirmed =
  | {
      /** Whether the two texts were compared. */
      verified: true;
      /** Similarity of the texts by the index's measure; 1 where they are equal. */
      similarity: number;
    }
  | {
      verified: false;
      /** The estimate of two MinHash signatures; absent where none are kept, and by other methods. */
      similarity?: number;
    };

/** How two documents match. */
export type How<M extends IndexMethod> = Confirmed & Known[M];

/** A live document near the one asked for. */
export type Match<M extends IndexMethod = IndexMethod> = {
  /** Its id. */
  id: number;
  /** Its key, in an index with `keys`; absent where it came without one. */
  key?: string;
} & How<M>;

/**
 * Puts onto an object how it matches; NaN is an absent similarity. Keys come in one order, so that the objects of an index have
 * one shape.
 */
export function confirm<M extends IndexMethod, O extends object>(
  object: O,
  method: M,
  similarity: number,
  measure: number,
  verified: boolean,
): O & How<M> {
  const how = object as { similarity?: number; verified?: boolean } & Partial<Known['simhash']> &
    Partial<Known['sentences']> &
    Known['minhash'];
  if (!Number.isNaN(similarity)) how.similarity = similarity;
  how.verified = verified;
  if (method === 'simhash') how.distance = measure;
  else if (method === 'sentences') how.shared = measure;
  else if (method === 'minhash' && measure > 0) how.bands = measure;
  return how as O & How<M>;
}

/** A match from its numbers. */
export function match<M extends IndexMethod>(
  method: M,
  id: number,
  key: string | undefined,
  similarity: number,
  measure: number,
  verified: boolean,
): Match<M> {
  return confirm(key === undefined ? { id } : { id, key }, method, similarity, measure, verified);
}

/** What the addon has of every method's matches, in columns. */
interface Columns {
  similarities: Float64Array;
  measures: Uint32Array;
  verified: Uint8Array;
  truncated: Uint8Array;
}

/** Matches in columns; rows become objects when they are read. */
export abstract class Matched<M extends IndexMethod, R> extends Rows<R> {
  /** Similarities; NaN where none is known, or where there was no match. */
  readonly similarities: Float64Array;
  /** Distances (`'simhash'`), equal bands (`'minhash'`) or sentences in common (`'sentences'`); 0 where there was no match. */
  readonly measures: Uint32Array;
  /** Bit i (the lowest bit of a byte first) is 1 where match i was confirmed by its text. */
  readonly verified: Uint8Array;
  /** Bit i is 1 where a limit left candidates of row i out: of a pair, candidates of `b`. */
  readonly truncated: Uint8Array;
  /** @internal */
  protected readonly method: M;

  /** @internal */
  protected constructor(method: M, columns: Columns) {
    super();
    this.method = method;
    this.similarities = columns.similarities;
    this.measures = columns.measures;
    this.verified = columns.verified;
    this.truncated = columns.truncated;
    // No column: it is not shown, and not compared.
    Object.defineProperty(this, 'method', { enumerable: false });
  }

  /** Whether a limit left candidates of row `row` out. */
  isTruncated(row: number): boolean {
    return bit(this.truncated, row);
  }

  /** @internal Puts onto an object how match `at` matches. */
  protected how<O extends object>(object: O, at: number): O & How<M> {
    const [similarity = Number.NaN, measure = 0] = [this.similarities[at], this.measures[at]];
    return confirm(object, this.method, similarity, measure, bit(this.verified, at));
  }
}

/** Answers to a batch of searches, in columns; rows become objects when they are read. */
export class Matches<M extends IndexMethod = IndexMethod> extends Matched<M, Found<Match<M>>> {
  /** Matches of row i are at `offsets[i]` to `offsets[i + 1] - 1` of the other columns; `truncated` has a bit for each row. */
  readonly offsets: Uint32Array;
  /** Ids, the best first within a row: verified ones by similarity, then the others; ties by id. */
  readonly ids: Float64Array;
  /** Keys of `ids`, `undefined` for documents without one; absent in an index without keys. */
  readonly keys?: readonly (string | undefined)[];

  private constructor(method: M, columns: NativeMatches) {
    super(method, columns);
    this.offsets = columns.offsets;
    this.ids = columns.ids;
    if (columns.keys) this.keys = columns.keys.map((key) => key ?? undefined);
  }

  /** @internal */
  static of<M extends IndexMethod>(method: M, columns: NativeMatches): Matches<M> {
    return new Matches(method, columns);
  }

  /** Number of rows: of items searched for. */
  get length(): number {
    return this.offsets.length - 1;
  }

  /** Matches of row `row`, the best first; none where there is no such row. */
  get(row: number): Found<Match<M>> {
    const matches: Match<M>[] = [];
    const end = this.offsets[row + 1] ?? 0;
    for (let at = this.offsets[row] ?? 0; at < end; at++) {
      const id = this.ids[at] ?? Number.NaN;
      const key = this.keys?.[at];
      matches.push(this.how(key === undefined ? { id } : { id, key }, at));
    }
    return found(matches, this.isTruncated(row));
  }
}
