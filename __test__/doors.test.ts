/** The same documents and options give the same duplicates at every door, for every method. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { dedup, dedupFiles, Index, jaccard } from '..';
import { ROOT } from './cli-run';
import {
  ALL,
  clustered,
  collected,
  compareDoors,
  folder,
  isLive,
  places,
  TEXTS,
  written,
} from './doors';
import { METHODS } from './indexes';

/** Whole corpora in place of samples: `npm run test:long -- doors`. */
const LONG = process.env['SIMHASH_LONG'] !== undefined;

let state = 0;
const random = (bound: number) => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return (state >>> 8) % bound;
};
const sentence = () =>
  `${Array.from({ length: 12 + random(9) }, () => String.fromCodePoint(0x4e00 + random(800))).join('')}。`;

/** Copies, near-duplicates, excerpts, short and empty texts, and numbers that differ, of a seed. */
function corpus(count: number, seed: number): string[] {
  state = seed;
  const texts: string[] = [];
  for (let row = 0; row < count; row++) {
    const earlier = texts[random(row + 1)] ?? '';
    const kind = random(10);
    if (kind === 0) texts.push(['好', '', '第3集', '第4集', 'EP100', 'EP1000'][random(6)] ?? '');
    else if (kind < 3) texts.push(earlier);
    else if (kind < 6) texts.push(`${earlier.slice(0, -2)}改。`);
    else if (kind === 6) texts.push(`${earlier}\n${sentence()}`);
    else texts.push(Array.from({ length: 2 + random(4) }, sentence).join('\n'));
  }
  return texts;
}

const random300 = corpus(300, 3);

/** Of several seeds, the later ones smaller: what they cost is starting commands. */
const CORPORA = [
  random300,
  ...Array.from({ length: LONG ? 50 : 3 }, (_, at) => corpus(120, 4 + at)),
];

test.each(ALL)(
  '%s decides alike at every door',
  async (method) => {
    for (const [at, texts] of CORPORA.entries()) {
      const doors: string[] = [];
      const decided = await compareDoors(texts, method, (door, { compared }) => {
        doors.push(door);
        expect(compared, `corpus ${at}, ${door}`).toBe(texts.length);
      });
      expect(decided.cut.size).toBe(0);
      const duplicates = decided.about.filter((one) => one !== undefined).length;
      expect(duplicates, `corpus ${at}`).toBeGreaterThan(texts.length / 8);
      expect(doors.length).toBe(isLive(method) ? 14 : 7);
    }
  },
  LONG ? 3_600_000 : 600_000,
);

test.each(METHODS.filter((method) => method !== 'exact'))(
  '%s, nothing verified: the library, the index and files decide alike',
  async (method) => {
    const options = { method, verify: false as const };
    const decisions = await collected(dedup(random300, options));
    const of = decisions.map(({ duplicateOf }) => duplicateOf);
    expect(of.filter((one) => one !== undefined).length).toBeGreaterThan(40);
    using index = new Index({ ...options, texts: TEXTS } as { method: 'minhash' });
    expect(places(index.checkAndAddMany(random300)).about.map((one) => one?.of)).toEqual(of);
    const clusters = folder.join('unverified.jsonl');
    await dedupFiles(written(random300), folder.join('unique.jsonl'), { ...options, clusters });
    const byFiles = clustered('unverified.jsonl', random300.length);
    expect(byFiles.about.map((one) => one?.of)).toEqual(of);
  },
);

test('simhash has one default distance where texts are compared, and one where they are not', async () => {
  for (const verify of [undefined, false] as const) {
    const options = { method: 'simhash', ...(verify === false && { verify }) } as const;
    const decisions = await collected(dedup(random300, options));
    const of = decisions.map(({ duplicateOf }) => duplicateOf);
    const maxDistance = verify === false ? 3 : 8;
    const named = await collected(dedup(random300, { ...options, maxDistance }));
    expect(named.map(({ duplicateOf }) => duplicateOf)).toEqual(of);
    for (const other of [1, -1].map((more) => maxDistance + more)) {
      const others = await collected(dedup(random300, { ...options, maxDistance: other }));
      expect(others.map(({ duplicateOf }) => duplicateOf)).not.toEqual(of);
    }
    using index = new Index({ ...options, texts: TEXTS });
    expect(places(index.checkAndAddMany(random300)).about.map((one) => one?.of)).toEqual(of);
    const clusters = folder.join('distance.jsonl');
    await dedupFiles(written(random300), folder.join('unique.jsonl'), { ...options, clusters });
    const count = random300.length;
    const byFiles = clustered('distance.jsonl', count);
    expect(byFiles.about.map((one) => one?.of)).toEqual(of);
    const off = verify === false ? ['--verify', 'off'] : [];
    const args = ['dedup', written(random300), '-o', 'out.jsonl', '--clusters', 'c.jsonl', '-q'];
    await folder.run([...args, '--method', 'simhash', ...off]);
    expect(clustered('c.jsonl', count).about.map((one) => one?.of)).toEqual(of);
  }
});

const DATA = join(ROOT, '..', 'shared', 'data');
const sets = existsSync(DATA)
  ? readdirSync(DATA).filter((set) => existsSync(join(DATA, set, 'docs.jsonl.gz')))
  : [];
if (sets.length === 0) console.warn(`doors.test.ts: real corpora are absent (${DATA})`);

/** Records of a gzipped file of lines. */
const records = <T>(...path: string[]): T[] =>
  gunzipSync(readFileSync(join(DATA, ...path)))
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);

/** Texts of a set in its order: the first, and as many of its clusters, so that there is something to find. */
function sample(set: string, count: number): string[] {
  const all = records<{ id: string; text: string }>(set, 'docs.jsonl.gz');
  if (all.length <= count) return all.map(({ text }) => text);
  const truth = readdirSync(join(DATA, set)).find((file) => file.startsWith('clusters_'));
  if (truth === undefined) throw new Error(`${set} has no clusters`);
  const chosen = new Set(all.slice(0, count / 2).map(({ id }) => id));
  for (const cluster of records<string[]>(set, truth)) {
    if (chosen.size >= count) break;
    for (const id of cluster.slice(0, 10)) chosen.add(id);
  }
  return all.filter(({ id }) => chosen.has(id)).map(({ text }) => text);
}

/** Documents of a set that are compared. */
const COUNT = LONG ? Number.POSITIVE_INFINITY : 200;
/** Of the oracle, whose time grows with their square. */
const FEW = LONG ? 2000 : 200;

describe.runIf(sets.length > 0)('real corpora', () => {
  test.each(sets)(
    '%s is decided alike at every door',
    async (set) => {
      const [all, few] = [sample(set, COUNT), sample(set, FEW)];
      let found = 0;
      for (const method of ALL) {
        const texts = isLive(method) ? all : few;
        const decided = await compareDoors(texts, method, (door, { compared, left }) => {
          // Documents that share a sentence with hundreds are left out of the law, with all that they are connected with.
          if (left > 0 || LONG)
            console.info(`${set}, ${door}: ${compared} documents compared, ${left} left out`);
        });
        found += decided.about.filter((one) => one !== undefined).length;
      }
      // Of two sets the truth has no more.
      expect(found).toBeGreaterThan(20);
    },
    LONG ? 24 * 3_600_000 : 600_000,
  );

  type Repeats = ({ readonly of: number; readonly verified: boolean } | undefined)[];

  function live(index: Index, texts: readonly string[]): Repeats {
    const checked = [...index.checkAndAddMany(texts)];
    index.close();
    return places(checked).about.map(
      (one, place) => one && { of: one.of, verified: checked[place]?.verified === true },
    );
  }

  /** What pages show first: README, the page on live indexes; and texts by their fingerprints. */
  const FIRST: Record<string, (texts: string[]) => Repeats | Promise<Repeats>> = {
    'dedup(texts)': async (texts) =>
      (await collected(dedup(texts))).map(({ duplicateOf: of, similarity = 0 }) =>
        of === undefined ? undefined : { of, verified: similarity >= 0.8 },
      ),
    'new Index()': (texts) => live(new Index(), texts),
    'new Index({ maxDistance: 10 })': (texts) => live(new Index({ maxDistance: 10 }), texts),
  };

  test.runIf(sets.includes('zh-news-eventmonitor')).each(Object.entries(FIRST))(
    '%s has no wrong duplicate on news',
    async (_, decide) => {
      const texts = records<{ text: string }>('zh-news-eventmonitor', 'docs.jsonl.gz').map(
        ({ text }) => text,
      );
      const found = [...(await decide(texts)).entries()].filter(([, one]) => one !== undefined);
      expect(found.length).toBeGreaterThan(150);
      const wrong = found.filter(
        ([place, one]) =>
          one?.verified !== true || jaccard(texts[place] ?? '', texts[one.of] ?? '') < 0.8,
      );
      expect(wrong).toEqual([]);
    },
  );
});
