// The labelled set as one list, and how a library does on it: for the test that holds the bars and the bench that lists what is wrong.
import { readFileSync } from 'node:fs';
import { templatePairs } from './templates.mjs';

/** What the bars hold: the kinds that numbers and Jaccard similarity can decide. README.md says what each is. */
export const INSIDE = [
  ...['number', 'date', 'price', 'unit', 'version', 'episode', 'id', 'score', 'time', 'percent'],
  ...['ordinal', 'decimal', 'repetition', 'leading-zero', 'thousands', 'full-width', 'format'],
  ...['repost', 'typo', 'word-order'],
];

/** Scored and listed, held to no bar. */
export const OUTSIDE = [
  ...['negation', 'one-character', 'roles', 'long-number', 'incidental', 'header', 'far-repost'],
];

export const BARS = { precision: 0.98, recall: 0.95 };

/** The seed of the templates where none is said. */
export const SEED = 20_261_122;

/** The pairs written by hand, in the order of the file. */
export function handPairs() {
  const text = readFileSync(new URL('pairs.jsonl', import.meta.url), 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** The whole set: as many pairs from templates as by hand. */
export function labelledPairs(seed = SEED) {
  const hand = handPairs();
  return [...hand, ...templatePairs(seed, hand.length)];
}

/** Counts of judged pairs; precision is undefined where none was called the same, recall where none is. */
function counts(judged) {
  const same = judged.filter((pair) => pair.same).length;
  const called = judged.filter((pair) => pair.called).length;
  const right = judged.filter((pair) => pair.called && pair.same).length;
  return {
    pairs: judged.length,
    same,
    called,
    right,
    precision: called > 0 ? right / called : undefined,
    recall: same > 0 ? right / same : undefined,
  };
}

/**
 * What `dedup` with default options says of each pair. A pair is called the same if its second text is a duplicate.
 *
 * Gives counts of the kinds `inside` and `outside` the bars together, of each kind (`kinds`), and all `wrong` pairs with the
 * similarity that was reported, or the Jaccard similarity where none was.
 */
export async function scoreLabelled({ dedup, jaccard }, pairs) {
  const judged = [];
  for (const pair of pairs) {
    let second;
    for await (const decision of dedup([pair.a, pair.b]))
      if (decision.index === 1) second = decision;
    const called = second.duplicateOf !== undefined;
    judged.push({ ...pair, called, similarity: second.similarity ?? jaccard(pair.a, pair.b) });
  }
  const only = (kinds) => judged.filter(({ kind }) => kinds.includes(kind));
  return {
    inside: counts(only(INSIDE)),
    outside: counts(only(OUTSIDE)),
    kinds: [...INSIDE, ...OUTSIDE].map((kind) => ({ kind, ...counts(only([kind])) })),
    wrong: judged.filter(({ same, called }) => same !== called),
  };
}

/** A wrong pair as one line. */
export function wrongLine({ id, same, similarity, reason, a, b }) {
  const short = (text) => {
    const points = [...text.replaceAll('\n', '⏎')];
    return points.length > 70 ? `${points.slice(0, 69).join('')}…` : points.join('');
  };
  const label = same ? 'missed' : 'not the same';
  return `${id}: ${label}, similarity ${similarity.toFixed(4)}, ${reason}: ${short(a)} | ${short(b)}`;
}
