/** What an index of fingerprints takes, and how batches of it reach the addon. */
import { types } from 'node:util';
import { binding } from './binding';
import type { Text } from './documents';
import { native } from './errors';
import { type FingerprintColumn, Fingerprints, validityOf } from './fingerprints';
import type { NativeStaging } from './native';
import * as check from './options';

/** What an index takes: a text, or a fingerprint made elsewhere. */
export type Item = Text | bigint;
/**
 * Many of them. Fingerprints alone may be a typed array, each element of which counts, or a batch of {@link Fingerprints},
 * whose rows without a fingerprint count as empty texts: they get an id and match nothing. The `values` of such a batch, and
 * views of them, are known as its own; copies of them are not, and then 0n is a fingerprint like any other.
 */
export type Items = readonly Item[] | BigUint64Array | Fingerprints;

/** Checked items: an array, fingerprints that all count, or some that do not. */
export function checkedItems(
  items: unknown,
): readonly unknown[] | BigUint64Array | FingerprintColumn {
  if (items instanceof Fingerprints) {
    const { values, valid } = items;
    return { values, valid, first: 0 };
  }
  if (types.isBigUint64Array(items)) return validityOf(items) ?? items;
  if (Array.isArray(items)) return items;
  throw check.wrongType('items', 'an array, a BigUint64Array or Fingerprints', items);
}

/** Items as a call of the addon takes them that copies all of them before it returns. */
export function batchOf(items: unknown): readonly unknown[] | BigUint64Array | NativeStaging {
  const checked = checkedItems(items);
  return Array.isArray(checked) || !('valid' in checked) ? checked : staged(checked);
}

function staged({ values, valid, first }: FingerprintColumn): NativeStaging {
  return native(() => {
    const staging = new binding.NativeStaging('items', 'items');
    staging.pushFingerprints(values, valid, first);
    return staging;
  });
}
