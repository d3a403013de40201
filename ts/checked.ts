/** Outcomes of check-and-add: one, and those of a batch in columns. */
import { bit } from './bitmap';
import { confirm, type How } from './matches';
import type { IndexMethod } from './method';
import type { NativeChecked } from './native';
import { Rows } from './rows';

/** What is known of a match and not of an item that has none: always absent, so that it can be read of any outcome. */
type Absent = {
  readonly [P in 'verified' | 'similarity' | 'distance' | 'bands' | 'shared' | 'key']?: undefined;
};

/** The item had no match and was added. */
export interface Unique extends Absent {
  /** Id under which it was added. */
  id: number;
  /** Absent: there is no match. */
  duplicateOf?: undefined;
  /** A limit left candidates out: a match may have been missed. Absent otherwise. */
  truncated?: true;
}

/** The item has a match: the most similar, ties to the lowest id. */
export type Duplicate<M extends IndexMethod = IndexMethod> = {
  /** Id under which it was added all the same, with `onDuplicate: 'add'`; else absent. */
  id?: number;
  /** Id of the match. */
  duplicateOf: number;
  /** The match's key, in an index with `keys`; absent where it came without one. */
  key?: string;
  /** A limit left candidates out: a better match may have been missed. Absent otherwise. */
  truncated?: true;
} & How<M>;

/** The outcome of one check-and-add; `duplicateOf` says which, and `verified` of a duplicate whether the texts were compared. */
export type Checked<M extends IndexMethod = IndexMethod> = Unique | Duplicate<M>;

/** An outcome from its numbers; NaN stands for what is absent. */
export function outcome<M extends IndexMethod>(
  method: M,
  [id, duplicateOf, similarity, measure]: readonly [number, number, number, number],
  [verified, truncated]: readonly [boolean, boolean],
  key: string | undefined,
): Checked<M> {
  if (Number.isNaN(duplicateOf)) return truncated ? { id, truncated } : { id };
  const found = Number.isNaN(id) ? { duplicateOf } : { id, duplicateOf };
  const named = key === undefined ? found : { ...found, key };
  const checked = confirm(named, method, similarity, measure, verified);
  return (truncated ? { ...checked, truncated } : checked) as Duplicate<M>;
}

/** Outcomes of a batch, in columns; rows become objects when they are read. */
export class CheckedItems<M extends IndexMethod = IndexMethod> extends Rows<Checked<M>> {
  /** Id under which each item was added; NaN where it was not. */
  readonly ids: Float64Array;
  /** Id of each item's match; NaN where there was none. */
  readonly duplicateOf: Float64Array;
  /** Similarity to the match; NaN where none is known. */
  readonly similarities: Float64Array;
  /** Distance (`'simhash'`), equal bands (`'minhash'`) or sentences in common (`'sentences'`); 0 where there was no match. */
  readonly measures: Uint32Array;
  /** Bit i (the lowest bit of a byte first) is 1 where the match of item i was confirmed by its text. */
  readonly verified: Uint8Array;
  /** Bit i is 1 where a limit left candidates of item i out. */
  readonly truncated: Uint8Array;
  /** Keys of the matches, `undefined` where there is none; absent in an index without keys. */
  readonly keys?: readonly (string | undefined)[];
  readonly #method: M;

  private constructor(
    method: M,
    { ids, duplicateOf, similarities, measures, verified, truncated, keys }: NativeChecked,
  ) {
    super();
    this.#method = method;
    this.ids = ids;
    this.duplicateOf = duplicateOf;
    this.similarities = similarities;
    this.measures = measures;
    this.verified = verified;
    this.truncated = truncated;
    if (keys) this.keys = keys.map((key) => key ?? undefined);
  }

  /** @internal */
  static of<M extends IndexMethod>(method: M, columns: NativeChecked): CheckedItems<M> {
    return new CheckedItems(method, columns);
  }

  /** Number of items. */
  get length(): number {
    return this.ids.length;
  }

  /** Outcome of item `row`; `undefined` where there is no such row. */
  get(row: number): Checked<M> | undefined {
    const [id, duplicateOf] = [this.ids[row], this.duplicateOf[row]];
    if (id === undefined || duplicateOf === undefined) return undefined;
    const [similarity = Number.NaN, measure = 0] = [this.similarities[row], this.measures[row]];
    const bits = [bit(this.verified, row), bit(this.truncated, row)] as const;
    return outcome(
      this.#method,
      [id, duplicateOf, similarity, measure],
      bits,
      this.keys?.[row] ?? undefined,
    );
  }

  *[Symbol.iterator](): IterableIterator<Checked<M>> {
    for (let row = 0; row < this.length; row++) yield this.get(row) as Checked<M>;
  }
}
