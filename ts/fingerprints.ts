import { bit } from './bitmap';

/** Fingerprints of a batch, in columns: one typed array instead of an object per text. */
export class Fingerprints implements Iterable<bigint | undefined> {
  /**
   * Fingerprint of each text; 0n where there is none. For loops that cannot afford a bigint per element, the same bytes
   * are `new Uint32Array(values.buffer, values.byteOffset, values.length * 2)`.
   */
  readonly values: BigUint64Array;
  /** Bit i (the lowest bit of a byte first) is 1 where text i has a fingerprint. */
  readonly valid: Uint8Array;

  /** @internal */
  constructor(values: BigUint64Array, valid: Uint8Array) {
    this.values = values;
    this.valid = valid;
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

  *[Symbol.iterator](): IterableIterator<bigint | undefined> {
    for (let row = 0; row < this.length; row++) yield this.get(row);
  }
}
