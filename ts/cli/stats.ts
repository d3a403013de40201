/** The figures of an index in a sentence. */
import type { Stats } from '..';
import { bytes, count, plural } from './format';

export function describeIndex({
  live,
  fingerprints,
  plan,
  tableBytes,
  idBytes,
}: Stats<'simhash'>): string {
  return `index of ${plural(live, 'document')}: ${count(fingerprints)} fingerprints, plan ${plan}, ${bytes(tableBytes + idBytes)} in memory`;
}
