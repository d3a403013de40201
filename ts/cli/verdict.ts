/** What an explanation means for `dedup`, and how it is told. */
import type { Explanation } from '..';
import { oneLine } from './format';

export interface Limits {
  /** Of `simhash`. Absent: of a method that goes by similarity alone, as the default does. */
  readonly maxDistance?: number | undefined;
  /** 0, with a distance: not verified. */
  readonly minSimilarity: number;
}

export interface Verdict {
  readonly duplicates: boolean;
  readonly reason: string;
}

/** The largest number below 1: what similarity texts have that are not equal but of which no difference is seen. */
export const ALMOST_ONE = 1 - Number.EPSILON / 2;

/** Tokens and bits shown per row; the rest is counted. */
const SHOWN = 12;

/** Whether `dedup` with these limits takes the second text for a duplicate of the first. */
export function judge(explanation: Explanation, limits: Limits): Verdict {
  const { distance, similarity, equal } = explanation;
  if (equal) return { duplicates: true, reason: 'equal after normalisation' };
  const { maxDistance, minSimilarity } = limits;
  if (maxDistance !== undefined && distance === undefined) {
    const reason =
      'too short for a fingerprint, and such texts are compared by equality after normalisation';
    return { duplicates: false, reason };
  }
  if (maxDistance !== undefined && distance !== undefined && distance > maxDistance) {
    return { duplicates: false, reason: `distance ${distance} is above ${maxDistance}` };
  }
  const near = maxDistance === undefined ? [] : [`distance ${distance} is at most ${maxDistance}`];
  if (minSimilarity === 0) return { duplicates: true, reason: `${near}; not verified` };
  const duplicates = similarity >= Math.min(minSimilarity, ALMOST_ONE);
  const relation = duplicates ? 'is at least' : 'is below';
  const similar = `similarity ${similarity.toFixed(3)} ${relation} ${minSimilarity}`;
  return { duplicates, reason: [...near, similar].join(duplicates ? ' and ' : ' but ') };
}

/** The lines that `explain` prints. */
export function describe(explanation: Explanation, verdict: Verdict): string[] {
  const { fingerprints, distance, jaccard, longJaccard, similarity, numbers } = explanation;
  const { differingBits, shared, onlyA, onlyB } = explanation;
  const compared = jaccard === longJaccard ? 'runs of five characters' : 'the features';
  const differ = numbers[0].join('\n') !== numbers[1].join('\n');
  return [
    `${verdict.duplicates ? 'near-duplicates' : 'not duplicates'}: ${verdict.reason}`,
    `similarity   ${similarity.toFixed(3)} (Jaccard of ${compared}${differ ? `, ${jaccard.toFixed(3)}, and the numbers differ` : ''})`,
    ...(differ
      ? [`numbers      ${numbers.map((list) => list.join(' ') || '-').join('  |  ')}`]
      : []),
    `distance     ${distance === undefined ? '-' : `${distance} of 64 bits`}`,
    `fingerprints ${fingerprints.map(hex).join(' ')}`,
    `in both      ${shared.length} tokens`,
    `only in A    ${some(onlyA.map(visible))}`,
    `only in B    ${some(onlyB.map(visible))}`,
    `bits         ${some(differingBits.map(({ bit, margins }) => `${bit} (${margins.map(percent).join(', ')})`))}`,
  ];
}

function some(items: readonly string[]): string {
  if (items.length === 0) return 'none';
  const more = items.length > SHOWN ? `  and ${items.length - SHOWN} more` : '';
  return `${items.length}:  ${items.slice(0, SHOWN).join('  ')}${more}`;
}

/** A token with space at its edge would look like the gap between two. */
function visible({ token }: { readonly token: string }): string {
  return oneLine(token, '␣');
}

function hex(fingerprint: bigint | undefined): string {
  return fingerprint === undefined ? '-' : fingerprint.toString(16).padStart(16, '0');
}

function percent(margin: number): string {
  return `${(margin * 100).toFixed(0)} %`;
}
