/** What an index takes, and how batches of it reach the addon. */
import { types } from 'node:util';
import { binding } from './binding';
import type { Text } from './documents';
import { native, typeError } from './errors';
import { type FingerprintColumn, Fingerprints, validityOf } from './fingerprints';
import type { IndexMethod } from './method';
import { Signatures } from './min-hasher';
import type { NativeStaging } from './native';
import * as check from './options';
import type { Elements } from './staging';

/** What an index without texts takes beside texts: fingerprints, or signatures made with the same options. */
type Bare<M extends IndexMethod, T extends boolean> = [T] extends [false]
  ? [M] extends ['simhash']
    ? bigint
    : [M] extends ['minhash']
      ? Uint32Array
      : never
  : never;

/** Whole batches of these. */
type BareBatch<M extends IndexMethod, T extends boolean> = [T] extends [false]
  ? [M] extends ['simhash']
    ? BigUint64Array | Fingerprints
    : [M] extends ['minhash']
      ? Signatures
      : never
  : never;

/**
 * What an index takes: a text; with `method: 'simhash'` and `texts: false` a fingerprint made elsewhere, with `'minhash'` and
 * `texts: false` a signature.
 */
export type Item<M extends IndexMethod = IndexMethod, T extends boolean = boolean> =
  | Text
  | Bare<M, T>;

/**
 * Many of them. Fingerprints alone may be a typed array, each element of which counts, or a batch of {@link Fingerprints},
 * whose rows without a fingerprint count as empty texts: they get an id and match nothing. The `values` of such a batch, and
 * views of them, are known as its own; copies of them are not, and then 0n is a fingerprint like any other.
 */
export type Items<M extends IndexMethod = IndexMethod, T extends boolean = boolean> =
  | readonly Item<M, T>[]
  | BareBatch<M, T>;

const NEEDS = {
  items: "method: 'simhash' and texts: false",
  signatures: "method: 'minhash' and texts: false",
};

/** What elements an index of a method takes. */
export function elementsOf(method: IndexMethod, texts: boolean): Elements {
  if (texts) return 'documents';
  return { simhash: 'items', minhash: 'signatures', sentences: 'documents', exact: 'documents' }[
    method
  ] as Elements;
}

/** Checked items: an array, fingerprints that all count, or some that do not. */
export function checkedItems(
  items: unknown,
  elements: Elements,
): readonly unknown[] | BigUint64Array | FingerprintColumn {
  if (Array.isArray(items)) return items;
  if (items instanceof Signatures) {
    if (elements === 'signatures') return [...items];
    throw needs('Signatures', 'signatures');
  }
  const isColumn = items instanceof Fingerprints;
  if (!isColumn && !types.isBigUint64Array(items)) {
    throw check.wrongType('items', expected[elements], items);
  }
  if (elements !== 'items') throw needs(isColumn ? 'Fingerprints' : 'a BigUint64Array', 'items');
  return isColumn
    ? { values: items.values, valid: items.valid, first: 0 }
    : (validityOf(items) ?? items);
}

const expected: Record<Elements, string> = {
  strings: 'an array',
  texts: 'an array',
  documents: 'an array',
  items: 'an array, a BigUint64Array or Fingerprints',
  signatures: 'an array or Signatures',
};

function needs(given: string, elements: keyof typeof NEEDS): TypeError {
  const expected = `an array of texts, unless the index has ${NEEDS[elements]}`;
  return typeError(`items must be ${expected}, got ${given}`);
}

/** Items as a call of the addon takes them that copies all of them before it returns. */
export function batchOf(
  items: unknown,
  elements: Elements,
): readonly unknown[] | BigUint64Array | NativeStaging {
  const checked = checkedItems(items, elements);
  return Array.isArray(checked) || !('valid' in checked) ? checked : staged(checked);
}

function staged({ values, valid, first }: FingerprintColumn): NativeStaging {
  return native(() => {
    const staging = new binding.NativeStaging('items', 'items');
    staging.pushFingerprints(values, valid, first);
    return staging;
  });
}
