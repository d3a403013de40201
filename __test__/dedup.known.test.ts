/** `dedup` against documents of a live index. */
import { expect, test } from 'vitest';
import { type Decision, dedup, Index } from '..';
import { METHODS, of } from './indexes';

let state = 11;
const random = (bound: number) => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return (state >>> 8) % bound;
};
const sentence = () =>
  `${Array.from({ length: 12 + random(9) }, () => String.fromCodePoint(0x4e00 + random(800))).join('')}。`;

/** Copies, near-duplicates, excerpts, texts of several lines, short and empty ones. */
function corpus(count: number): string[] {
  const texts: string[] = [];
  for (let row = 0; row < count; row++) {
    const earlier = texts[random(row + 1)] ?? '';
    const kind = random(9);
    if (kind === 0) texts.push(['好', '', '第3集', 'EP100'][random(4)] ?? '');
    else if (kind < 3) texts.push(earlier);
    else if (kind < 5) texts.push(`${earlier.slice(0, -2)}改。`);
    else if (kind === 5) texts.push(`${earlier}\n${sentence()}`);
    else texts.push(Array.from({ length: 2 + random(4) }, sentence).join('\n'));
  }
  return texts;
}

async function all<T>(source: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const one of source) found.push(one);
  return found;
}

const TEXTS = { maxLength: 2 ** 24 };
const texts = corpus(400);
const [old, fresh] = [texts.slice(0, 250), texts.slice(250)];

test.each(METHODS)('%s: an index decides as its documents do', async (method) => {
  const expected = dedup(fresh, { method, known: old });
  const decided = await all(expected);
  expect(decided.filter(({ status }) => status === 'known').length).toBeGreaterThan(20);
  expect(decided.filter(({ status }) => status === 'duplicate').length).toBeGreaterThan(3);
  const index = of(method, { texts: TEXTS, keys: true });
  index.addMany(old, { keys: old.map((_, row) => (row % 2 === 0 ? `key ${row}` : undefined)) });
  const before = [index.size, index.stats()];
  const stream = dedup(fresh, { method, known: index, threads: 2, batch: 40 });
  const named = (decision: Decision) => {
    const known = decision.duplicateOfKnown;
    const key = known === undefined ? undefined : index.keyOf(known);
    return key === undefined ? decision : { ...decision, duplicateKey: key };
  };
  expect(await all(stream)).toEqual(decided.map(named));
  const figures = ({ seconds: _, ...summary }: Awaited<typeof stream.summary>) => summary;
  expect(figures(await stream.summary)).toEqual(figures(await expected.summary));
  // It is as it was.
  expect([index.size, index.stats()]).toEqual(before);
});

test.each(METHODS)('%s: ids are those of documents that live', async (method) => {
  const index = of(method, { texts: TEXTS });
  index.addMany([...old, ...old]);
  for (let id = 0; id < old.length; id++) index.delete(id);
  const known = await all(dedup(fresh, { method, known: index }));
  const expected = await all(dedup(fresh, { method, known: old }));
  const moved = ({ duplicateOfKnown }: Decision) =>
    duplicateOfKnown === undefined ? undefined : duplicateOfKnown + old.length;
  expect(known.map(({ duplicateOfKnown }) => duplicateOfKnown)).toEqual(expected.map(moved));
});

test.each([
  ['method', new Index({ maxDistance: 8 }), {}],
  ['method', new Index(), { method: 'brute-force' }],
  ['maxDistance', new Index({ maxDistance: 4 }), { maxDistance: 8 }],
  ['bands', new Index({ bands: 5, rows: 4 }), {}],
  ['minSimilarity', new Index({ minSimilarity: 0.9 }), {}],
  ['minSimilarity', new Index(), { minSimilarity: 0.7 }],
  ['verify', new Index({ verify: 'edit' }), {}],
  ['verify', new Index({ verify: false, texts: true }), {}],
  ['maxVerifications', new Index({ maxVerifications: 9 }), {}],
  ['ngram', new Index({ ngram: 3 }), {}],
  ['normalize', new Index(), { normalize: 'web' }],
  ['seed', new Index({ seed: 3 }), {}],
  ['sentences', new Index({ sentences: 3 }), { sentences: 4 }],
  ['minLength', new Index({ minLength: 3 }), { method: 'sentences' }],
  ['common.share', new Index({ common: { share: 0.1 } }), { method: 'sentences' }],
] as const)('an index that was made with another %s is refused', async (option, known, options) => {
  const error = {
    name: 'TypeError',
    code: 'ERR_INVALID_ARG_VALUE',
    message: expect.stringMatching(`^known must be an index .* its ${option} is `),
  };
  // `object` is what a caller without types gives.
  const given: object = { known, ...options };
  await expect(dedup(['x'], given).next()).rejects.toMatchObject(error);
});

test('an index that lacks texts is refused, one of empty texts is not', async () => {
  const what = 'known must be an index that stores the texts of all its documents';
  const missing = [new Index({ texts: false }), new Index({ texts: { maxLength: 90 } })] as const;
  for (const known of missing) {
    known.addMany(['', sentence().repeat(3), '短']);
    await expect(dedup(['x'], { known }).next()).rejects.toThrow(what);
  }
  const known = new Index({ texts: { maxLength: 90 } });
  known.addMany(['', '短', '']);
  const [one, other] = await all(dedup(['短', ''], { known }));
  expect([one?.duplicateOfKnown, other?.status]).toEqual([1, 'kept']);
});

test('a closed index and an abort say so; rules that need all documents are refused', async () => {
  const index = new Index();
  index.addMany(old);
  const reason = new Error('enough');
  const signal = AbortSignal.abort(reason);
  await expect(dedup(fresh, { known: index, signal }).next()).rejects.toBe(reason);
  const rule = { known: index, keep: 'last' } as const;
  await expect(dedup(fresh, rule).next()).rejects.toMatchObject({ code: 'ERR_INVALID_ARG_VALUE' });
  const stream = dedup(fresh, { known: index });
  const first = await stream.next();
  // What it needs of the index it has.
  index.close();
  expect([first, ...(await all(stream))].length).toBe(fresh.length);
  await expect(dedup(fresh, { known: index }).next()).rejects.toMatchObject({
    code: 'ERR_SIMHASH_CLOSED',
  });
});
