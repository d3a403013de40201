import { expect, test } from 'vitest';
import { dedup, Fingerprinter, jaccard } from '..';
import * as labelled from './labelled/score.mjs';
import { TEMPLATES, templatePairs } from './labelled/templates.mjs';

const { BARS, INSIDE, OUTSIDE, SEED } = labelled;
const hand = labelled.handPairs();
const pairs = labelled.labelledPairs();
const by = new Fingerprinter();
const normal = (text: string) => by.normalize(text);
const shorter = (a: string, b: string) => Math.min([...normal(a)].length, [...normal(b)].length);
const share = (those: unknown[], all: unknown[]) => those.length / all.length;
const SEEDS = [SEED, 0, 1, 2 ** 32 - 1];

test('each pair has an id of its own, a known kind, two texts, a label and a reason', () => {
  expect(new Set(pairs.map(({ id }) => id)).size).toBe(pairs.length);
  for (const { id, kind, lang, a, b, same, reason, ...more } of pairs) {
    expect([...INSIDE, ...OUTSIDE], id).toContain(kind);
    expect(['zh', 'en'], id).toContain(lang);
    expect(a, id).not.toBe(b);
    expect([typeof same, Object.keys(more)], id).toEqual(['boolean', []]);
    expect(reason.length, id).toBeGreaterThan(3);
  }
});

test('texts that normalise to one are labelled the same, and no pair stands there twice', () => {
  const seen = new Map<string, string>();
  for (const { id, a, b, same } of pairs) {
    if (normal(a) === normal(b)) expect(same, id).toBe(true);
    const key = JSON.stringify([a, b].sort());
    expect(seen.get(key), id).toBeUndefined();
    seen.set(key, id);
  }
});

test('there are enough pairs: both languages, both labels, every kind, every length', () => {
  expect(hand.length).toBeGreaterThanOrEqual(420);
  expect(pairs.length).toBe(2 * hand.length);
  expect(TEMPLATES.length).toBeGreaterThanOrEqual(40);
  for (const set of [hand, pairs]) {
    for (const one of ['zh', 'en'])
      expect(
        share(
          set.filter(({ lang }) => lang === one),
          set,
        ),
        one,
      ).toBeGreaterThanOrEqual(0.4);
    const different = share(
      set.filter(({ same }) => !same),
      set,
    );
    expect(different).toBeGreaterThanOrEqual(0.5);
    expect(different).toBeLessThanOrEqual(0.6);
  }
  for (const one of [...INSIDE, ...OUTSIDE])
    expect(hand.filter(({ kind }) => kind === one).length, one).toBeGreaterThanOrEqual(6);
  const inside = hand.filter(({ kind }) => INSIDE.includes(kind));
  // Short, medium, 40 and more, a page; where one number differs in a page, the kinds outside have it.
  for (const [from, below, same, different] of [
    [2, 16, 40, 100],
    [16, 40, 40, 80],
    [40, 80, 40, 80],
    [100, 601, 40, 6],
  ] as const) {
    const those = inside.filter(({ a, b }) => shorter(a, b) >= from && shorter(a, b) < below);
    expect(those.filter((pair) => pair.same).length, `${from}`).toBeGreaterThanOrEqual(same);
    expect(those.filter((pair) => !pair.same).length, `${from}`).toBeGreaterThanOrEqual(different);
  }
});

test('what is the same inside the bars has a Jaccard similarity of 0.8, and what is far apart has not', () => {
  for (const { id, kind, a, b, same } of [
    ...pairs,
    ...SEEDS.flatMap((seed) => templatePairs(seed, 300)),
  ]) {
    if (same && INSIDE.includes(kind)) expect(jaccard(a, b), id).toBeGreaterThanOrEqual(0.8);
    if (kind === 'far-repost') expect(jaccard(a, b), id).toBeLessThan(0.8);
  }
});

test('pairs of templates are those of their seed, and follow the lengths', () => {
  for (const seed of SEEDS) {
    const made = templatePairs(seed, 300);
    expect(templatePairs(seed, 300)).toEqual(made);
    expect(templatePairs(seed, 100)).toEqual(made.slice(0, 100));
    expect(templatePairs(seed ^ 5, 300)).not.toEqual(made);
    for (const { id, a, b, same, reason } of made) {
      if (!same) expect(shorter(a, b), id).toBeLessThan(40);
      if (reason.startsWith('only in passing')) {
        expect(same, id).toBe(true);
        expect(shorter(a, b), id).toBeGreaterThanOrEqual(80);
      }
    }
  }
});

test('dedup by default is right about the labelled set: precision and recall over the kinds inside the bars', async () => {
  const { inside, wrong } = await labelled.scoreLabelled({ dedup, jaccard }, pairs);
  const lines = wrong.filter(({ kind }) => INSIDE.includes(kind)).map(labelled.wrongLine);
  const figures = `precision ${inside.precision?.toFixed(4)} and recall ${inside.recall?.toFixed(4)} of ${inside.pairs} pairs`;
  const met = (inside.precision ?? 0) >= BARS.precision && (inside.recall ?? 0) >= BARS.recall;
  expect(met, [`${figures}; wrong are:`, ...lines].join('\n')).toBe(true);
});
