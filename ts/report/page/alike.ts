/** How alike members of a group are to its first. */
import type { Member } from './data';
import { similar } from './format';

/** From 0 to 1. Of what was not measured a distance says whether it is equal, as in the addon, which chose the members by it. */
export function share({ similarity, distance = 0 }: Member): number {
  return similarity ?? (distance > 0 ? 0 : 1);
}

/** The order of members, the least alike first. */
export function byAlike(a: Member, b: Member): number {
  return share(a) - share(b) || (b.distance ?? 0) - (a.distance ?? 0);
}

/** What the list says of the members behind the first: `equal` only where all are known to be; nothing where nothing is known. */
export function howAlike(others: readonly Member[]): string | undefined {
  const shares = others.map(({ similarity }) => similarity);
  const measured = shares.filter((one) => one !== undefined);
  if (measured.length === others.length) {
    const least = Math.min(1, ...measured);
    return least < 1 ? `from ${similar(least)}` : 'equal';
  }
  const distances = others.flatMap(({ distance }) => (distance === undefined ? [] : [distance]));
  return distances.length > 0 ? `distance up to ${Math.max(...distances)}` : undefined;
}
