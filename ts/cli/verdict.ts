/** What the engine decides of two texts, in words. */
import type { ComparisonOptions, Explanation } from '..';
import type { NativeVerdict } from '../native';
import { oneLine } from './format';

/** Tokens and bits shown per row; the rest is counted. */
const SHOWN = 12;

/** Why the engine decides as it does. */
export function reason(
  { duplicates, equal, empty, short, similarity, distance, shared }: NativeVerdict,
  { method, maxDistance, minSimilarity, verify }: ComparisonOptions,
): string {
  if (empty) return 'a text that says nothing matches nothing';
  if (equal) return 'equal after normalisation';
  if (method === 'exact') return 'not equal after normalisation, and exact looks at nothing else';
  if (method === 'simhash' && short) {
    return 'too short for a fingerprint, and such texts are compared by equality after normalisation';
  }
  if (short) {
    return `too short for ${method}, and such texts are compared by equality after normalisation`;
  }
  const looked: string[] = [];
  if (distance !== undefined) {
    const near = distance <= (maxDistance ?? 0);
    looked.push(`distance ${distance} is ${near ? 'at most' : 'above'} ${maxDistance}`);
    if (!near) return looked.join();
  }
  const measured =
    verify === 'auto' || verify === 'jaccard' ? 'similarity' : `${verify} similarity`;
  const [equals, of] = shared ?? [];
  const things = method === 'minhash' ? 'bands' : 'longest sentences';
  const common = shared && `${equals} of ${of} ${things} ${equals === 1 ? 'is' : 'are'} equal`;
  if (similarity === undefined) {
    return [...looked, common, 'not verified'].filter((part) => part !== undefined).join('; ');
  }
  const relation = similar(similarity, minSimilarity ?? 0) ? 'is at least' : 'is below';
  const told = `${measured} ${similarity.toFixed(3)} ${relation} ${minSimilarity}`;
  if (relation === 'is below' || shared === undefined) {
    return [...looked, told].join(duplicates ? ' and ' : ' but ');
  }
  // What shares nothing is never compared.
  return duplicates ? `${told}, and ${common}` : `${told}, but ${common}`;
}

/** As the engine compares: texts that are not equal but of which no difference is seen reach a threshold of 1. */
function similar(similarity: number, least: number): boolean {
  return similarity >= Math.min(least, 1 - Number.EPSILON / 2);
}

/** The lines that `explain` prints. */
export function describe(explanation: Explanation, duplicates: boolean, why: string): string[] {
  const { fingerprints, distance, jaccard, longJaccard, similarity, numbers } = explanation;
  const { differingBits, shared, onlyA, onlyB } = explanation;
  const compared = jaccard === longJaccard ? 'runs of five characters' : 'the features';
  const differ = numbers[0].join('\n') !== numbers[1].join('\n');
  return [
    `${duplicates ? 'near-duplicates' : 'not duplicates'}: ${why}`,
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
