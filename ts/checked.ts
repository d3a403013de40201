/** Outcomes of check-and-add: one, and those of a batch in columns. */
import { bit } from './bitmap';
import { confirm, type How, Matched } from './matches';
import type { IndexMethod } from './method';
import type { NativeChecked } from './native';

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
  /** The key was checked before, and this was the answer (`onSameKey: 'repeat'`). Absent otherwise. */
  repeated?: true;
}

/** The item has a match: the most similar, ties to the lowest id. */
export type Duplicate<M extends IndexMethod = IndexMethod> = {
  /** Id under which it was added all the same, with `onDuplicate: 'add'`; else absent. */
  id?: number;
  /** Id of the match. */
  duplicateOf: number;
  /** The match's key, in an index with `keys`; absent where it came without one, or has left. */
  key?: string;
  /** A limit left candidates out: a better match may have been missed. Absent otherwise. */
  truncated?: true;
  /** The key was checked before, and this was the answer (`onSameKey: 'repeat'`). The match may have left since. Absent otherwise. */
  repeated?: true;
} & How<M>;

/** The outcome of one check-and-add; `duplicateOf` says which, and `verified` of a duplicate whether the texts were compared. */
export type Checked<M extends IndexMethod = IndexMethod> = Unique | Duplicate<M>;

/** An outcome from its numbers; NaN stands for what is absent. */
export function outcome<M extends IndexMethod>(
  method: M,
  [id, duplicateOf, similarity, measure]: readonly [number, number, number, number],
  [verified, truncated, repeated]: readonly [boolean, boolean, boolean],
  key: string | undefined,
): Checked<M> {
  const flags = {
    ...(truncated && { truncated }),
    ...(repeated && { repeated }),
  };
  if (Number.isNaN(duplicateOf)) return truncated || repeated ? { id, ...flags } : { id };
  const found = Number.isNaN(id) ? { duplicateOf } : { id, duplicateOf };
  const named = key === undefined ? found : { ...found, key };
  const checked = confirm(named, method, similarity, measure, verified);
  return (truncated || repeated ? { ...checked, ...flags } : checked) as Duplicate<M>;
}

/** Outcomes of a batch, in columns; rows become objects when they are read. */
export class CheckedItems<M extends IndexMethod = IndexMethod> extends Matched<M, Checked<M>> {
  /** Id under which each item was added; NaN where it was not. */
  readonly ids: Float64Array;
  /** Id of each item's match; NaN where there was none. */
  readonly duplicateOf: Float64Array;
  /** Bit i is 1 where item i was answered as its key was answered before. */
  readonly repeated: Uint8Array;
  /** Keys of the matches, `undefined` where there is none; absent in an index without keys. */
  readonly keys?: readonly (string | undefined)[];

  private constructor(method: M, columns: NativeChecked) {
    super(method, columns);
    this.ids = columns.ids;
    this.duplicateOf = columns.duplicateOf;
    this.repeated = columns.repeated;
    if (columns.keys) this.keys = columns.keys.map((key) => key ?? undefined);
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
    const numbers = [id, duplicateOf, similarity, measure] as const;
    const bits = [bit(this.verified, row), this.isTruncated(row), bit(this.repeated, row)] as const;
    return outcome(this.method, numbers, bits, this.keys?.[row]);
  }
}
