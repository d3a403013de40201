/** The page of two texts around what the command says of itself, and what it is told of them. */
import type { Explanation } from '../explain';
import { document } from '../report/document';
import type { PairTold } from './told';

/** `about` is the line above the fields: the version, and what texts are compared by. */
export function page(about: string): string {
  return document('explain', { run: about }, "connect-src 'self'");
}

/** What the page shows. */
export function pairTold(
  { fingerprints, distance, similarity, shared, onlyA, onlyB, differingBits }: Explanation,
  duplicates: boolean,
  reason: string,
): PairTold {
  return {
    duplicates,
    reason,
    similarity,
    ...(distance === undefined ? {} : { distance }),
    fingerprints: fingerprints.map((one) => one?.toString(16).padStart(16, '0') ?? null),
    shared: shared.length,
    onlyA: onlyA.map(({ token }) => token),
    onlyB: onlyB.map(({ token }) => token),
    differingBits,
  };
}
