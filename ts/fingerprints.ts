import { types } from 'node:util';
import { bit } from './bitmap';
import { rangeError } from './errors';
import { toHex } from './measure';
import * as check from './options';
import { Rows } from './rows';

/** Fingerprints in a column, and which of its zeros stand for no fingerprint. */
export interface FingerprintColumn {
  readonly values: BigUint64Array;
  /** Bit `first + row` (the lowest bit of a byte first) is 1 where the row has a fingerprint. */
  readonly valid: Uint8Array;
  readonly first: number;
}

/**
 * Which rows have a fingerprint, by the buffer of the `values`, or by these where they share a buffer with others. So the
 * column alone is not mistaken for fingerprints that all count: the zeros of short texts would be one fingerprint.
 */
const KNOWN = new WeakMap<object, Uint8Array>();

/** Fingerprints of a batch, in columns: one typed array instead of an object per text. Any index of fingerprints takes it whole. */
export class Fingerprints extends Rows<bigint | undefined> {
  /**
   * Fingerprint of each text; 0n where there is none. For loops that cannot afford a bigint per element, the same bytes
   * are `new Uint32Array(values.buffer, values.byteOffset, values.length * 2)`. An index that is given this array, or a view
   * of it, leaves out the texts that have none; in a copy of it they can no longer be told from a fingerprint of 0n.
   */
  readonly values: BigUint64Array;
  /** Bit i (the lowest bit of a byte first) is 1 where text i has a fingerprint. */
  readonly valid: Uint8Array;

  /**
   * A batch from its columns, which are not copied: for those that were sent to another thread or kept in a file.
   *
   * @throws TypeError, RangeError for columns of other types, or where `valid` has fewer bits than `values` has elements.
   */
  constructor(values: BigUint64Array, valid: Uint8Array) {
    super();
    if (!types.isBigUint64Array(values))
      throw check.wrongType('values', 'a BigUint64Array', values);
    if (!types.isUint8Array(valid)) throw check.wrongType('valid', 'a Uint8Array', valid);
    const bytes = Math.ceil(values.length / 8);
    if (valid.length < bytes) {
      throw rangeError(`valid must have a bit for each value, ${bytes} bytes, got ${valid.length}`);
    }
    this.values = values;
    this.valid = valid;
    KNOWN.set(values.byteLength === values.buffer.byteLength ? values.buffer : values, valid);
  }

  /** @internal Batches one after the other; all but the last have a multiple of 8 rows. */
  static joined(parts: readonly { values: BigUint64Array; valid: Uint8Array }[]): Fingerprints {
    const [only] = parts;
    if (parts.length === 1 && only) return new Fingerprints(only.values, only.valid);
    const rows = parts.reduce((sum, { values }) => sum + values.length, 0);
    const [values, valid] = [new BigUint64Array(rows), new Uint8Array(Math.ceil(rows / 8))];
    let row = 0;
    for (const part of parts) {
      values.set(part.values, row);
      valid.set(part.valid, row / 8);
      row += part.values.length;
    }
    return new Fingerprints(values, valid);
  }

  /** Number of texts. */
  get length(): number {
    return this.values.length;
  }

  /** The fingerprint of text `row`; `undefined` where it has too few features, or there is no such row. */
  get(row: number): bigint | undefined {
    return bit(this.valid, row) ? this.values[row] : undefined;
  }

  /** 16 hexadecimal digits for each text, `null` where there is no fingerprint: JSON has no whole numbers of 64 bits. */
  override toJSON(): (string | null)[] {
    return Array.from(this, (value) => (value === undefined ? null : toHex(value)));
  }
}

/** Fingerprints that are the `values` of a batch, or a view of them, with the rows that have none; `undefined` for others. */
export function validityOf(values: BigUint64Array): FingerprintColumn | undefined {
  const [own, whole] = [KNOWN.get(values), KNOWN.get(values.buffer)];
  if (own !== undefined) return { values, valid: own, first: 0 };
  return whole && { values, valid: whole, first: values.byteOffset / 8 };
}
