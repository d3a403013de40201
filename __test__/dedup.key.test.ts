/** Documents by their own ids, and documents that were there already. */
import { describe, expect, test } from 'vitest';
import { type Decision, type DedupOptions, dedup, type Summary } from '..';
import { Keys, noteKeys, Places } from '../ts/decisions';

const NEWS =
  '青禾市图书馆新馆昨日起试运行。新馆位于云浦大道东侧，地上五层，藏书一百二十万册，设有阅览座位两千三百个。';
const OTHER =
  '临溪县今年的早稻收割进入尾声，全县二十八万亩早稻已收割九成以上，平均亩产比去年增加十一公斤。';

async function all<D>(
  stream: AsyncGenerator<Decision<D>, Summary>,
): Promise<[Decision<D>[], Summary]> {
  const decisions: Decision<D>[] = [];
  for (;;) {
    const { done, value } = await stream.next();
    if (done) return [decisions, value];
    decisions.push(value);
  }
}

/** The same short sentences again and again, some changed: small numbers, so that a failure can be repeated. */
function corpus(seed: number, count: number): { id?: string; text?: string }[] {
  let state = seed;
  const below = (bound: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * bound);
  };
  return Array.from({ length: count }, (_, row) => {
    if (below(12) === 0) return { id: `${seed}:${row}` };
    const text = `${[NEWS, OTHER][below(2)]}${'，另有消息'.repeat(below(3))}${below(4) * 111}`;
    return below(5) === 0 ? { text } : { id: `${seed}:${row}`, text };
  });
}

describe('key', () => {
  const docs = [
    { id: 'a', text: NEWS, n: 7 },
    { text: OTHER, n: null },
    { id: 'c', text: `【转载】${NEWS}`, n: 9 },
    { id: 'd', text: OTHER, n: 0 },
    { id: 'e', text: NEWS },
  ];
  const keys = (decisions: Decision[]) =>
    decisions.map(({ key, duplicateKey }) => [key, duplicateKey]);

  test.each([1, 2, 100])(
    'decisions carry it and that of the kept document, in batches of %d',
    async (batch) => {
      const [decisions] = await all(dedup(docs, { key: 'id', batch }));
      expect(keys(decisions)).toEqual([
        ['a', undefined],
        [undefined, undefined],
        ['c', 'a'],
        ['d', undefined],
        ['e', 'a'],
      ]);
      expect(decisions[1]).not.toHaveProperty('key');
      expect(decisions[3]).not.toHaveProperty('duplicateKey');
      const [numbers] = await all(dedup(docs, { key: 'n', batch }));
      expect(keys(numbers).map(([key]) => key)).toEqual([7, undefined, 9, 0, undefined]);
      const [none] = await all(dedup(docs, { batch }));
      for (const decision of none) expect(Object.keys(decision)).not.toContain('key');
    },
  );

  test('of what is decided at the end too, whichever document is kept', async () => {
    for (const options of [{ keep: 'last' }, { keep: 'last', cluster: 'components' }] as const) {
      const [decisions] = await all(dedup(docs, { ...options, key: ({ id }) => id, batch: 2 }));
      expect(keys(decisions)).toEqual([
        ['a', 'e'],
        [undefined, 'd'],
        ['c', 'e'],
        ['d', undefined],
        ['e', undefined],
      ]);
    }
  });

  test('keys of duplicates and rejected documents are not kept', () => {
    const keys = new Keys();
    const places = new Places(0);
    const batch = { docs: ['a', 'b', 'c', 'd'], first: 0, reasons: new Map([[1, 'no text']]) };
    const none = new Float64Array(3);
    const columns = {
      duplicateOf: Float64Array.of(Number.NaN, 5, Number.NaN),
      similarity: none,
      distance: none,
      truncated: Uint8Array.of(0),
    };
    const context = { places, known: places, keyOf: (doc: string) => doc, keys };
    expect(noteKeys(batch, 5, columns, context)).toEqual(['a', 'b', 'c', 'd']);
    expect([5, 6, 7, 8].map((number) => keys.get(number))).toEqual([
      'a',
      undefined,
      'd',
      undefined,
    ]);
  });

  test('a function is called once per document, rejected ones too; other values are refused', async () => {
    const seen: unknown[] = [];
    const key = (doc: { id?: string }) => {
      seen.push(doc.id);
      return doc.id;
    };
    const [decisions] = await all(
      dedup([...docs, { id: 'f' }], {
        text: ({ text }) => text as string,
        key,
        onMissing: 'reject',
      }),
    );
    expect(seen).toEqual(['a', undefined, 'c', 'd', 'e', 'f']);
    expect(decisions.at(-1)).toMatchObject({ status: 'rejected', key: 'f' });
    for (const wrong of [true, {}, 5n]) {
      await expect(all(dedup([NEWS, NEWS], { key: () => wrong as never }))).rejects.toMatchObject({
        code: 'ERR_INVALID_ARG_TYPE',
        message: expect.stringMatching(/^docs\[0\] must have a string or a number for a key, got/),
      });
    }
    await expect(all(dedup([NEWS], { key: () => ({}) as never, known: [OTHER] }))).rejects.toThrow(
      /^known\[0\] must/,
    );
  });
});

describe('known', () => {
  test.each([1, 2, 3, 4, 5, 6])(
    'is as if the known documents came first: seed %d',
    async (seed) => {
      const both = corpus(seed, 60);
      const settings: DedupOptions<(typeof both)[number]> & { text: string } = {
        text: 'text',
        key: 'id',
        onMissing: 'reject',
        ...(seed % 2 === 0 ? { method: 'simhash', maxDistance: 12 } : {}),
      };
      const [joined] = await all(dedup(both, settings));
      for (const cut of [0, 1, 29, 60]) {
        const [known, docs] = [both.slice(0, cut), both.slice(cut)];
        for (const batch of [1, 7, 100]) {
          const [decisions, summary] = await all(dedup(docs, { ...settings, known, batch }));
          const expected = joined.slice(cut).map(({ index, status, duplicateOf, ...same }) => {
            const { doc, key, duplicateKey, similarity, distance, truncated, reason } = same;
            const rest = { doc, key, duplicateKey, similarity, distance, truncated, reason };
            const isKnown = duplicateOf !== undefined && duplicateOf < cut;
            const of = duplicateOf !== undefined && !isKnown ? duplicateOf - cut : undefined;
            return {
              ...rest,
              index: index - cut,
              status: isKnown ? 'known' : status,
              duplicateOf: of,
              duplicateOfKnown: isKnown ? duplicateOf : undefined,
            };
          });
          expect(decisions).toEqual(expected);
          const count = (...wanted: string[]) =>
            decisions.filter(({ status }) => wanted.includes(status)).length;
          expect(summary).toMatchObject({
            read: docs.length,
            kept: count('kept'),
            duplicates: count('duplicate', 'known'),
            rejected: count('rejected'),
            clusters: new Set(
              decisions.flatMap(({ duplicateOf, duplicateOfKnown }) =>
                duplicateOf === undefined && duplicateOfKnown === undefined
                  ? []
                  : [`${duplicateOf} ${duplicateOfKnown}`],
              ),
            ).size,
            bytes: docs.reduce((sum, { text = '' }) => sum + Buffer.byteLength(text), 0),
          });
        }
      }
    },
  );

  test('is read before the documents and comes from any source; nothing of it is yielded', async () => {
    const calls: string[] = [];
    async function* source(name: string, ...texts: string[]) {
      for (const text of texts) {
        calls.push(name);
        yield text;
      }
    }
    const [decisions] = await all(
      dedup(source('docs', OTHER, NEWS), { known: source('known', NEWS, NEWS), batch: 1 }),
    );
    expect(calls).toEqual(['known', 'known', 'docs', 'docs']);
    expect(decisions).toEqual([
      { status: 'kept', doc: OTHER, index: 0 },
      { status: 'known', doc: NEWS, index: 1, duplicateOfKnown: 0, similarity: 1 },
    ]);
  });

  test('a known document without a text is named, or left out', async () => {
    const known = [{ text: NEWS }, {}] as { text: string }[];
    await expect(all(dedup([{ text: NEWS }], { known }))).rejects.toThrow(/^known\[1\] must be/);
    const [, summary] = await all(dedup([{ text: NEWS }], { known, onMissing: 'reject' }));
    expect(summary).toMatchObject({ read: 1, rejected: 0, duplicates: 1 });
  });

  test('what fails or is left closes both sources', async () => {
    const closed: string[] = [];
    const source = (name: string, fails = false) =>
      (function* () {
        try {
          yield NEWS;
          if (fails) throw new Error(name);
          yield OTHER;
        } finally {
          closed.push(name);
        }
      })();
    for await (const _ of dedup(source('docs'), { known: source('known'), batch: 1 })) break;
    expect(closed.splice(0)).toEqual(['known', 'docs']);
    let begun = 0;
    const docs = {
      [Symbol.iterator]: () => ({
        next: () => ({ done: true as const, value: ++begun && undefined }),
        return: () => ({ done: true as const, value: void closed.push('docs') }),
      }),
    };
    const failing = all(dedup<string>(docs, { known: source('known', true) }));
    await expect(failing).rejects.toThrow('known');
    expect(closed).toEqual(['known', 'docs']);
    expect(begun).toBe(0);
  });

  test('with other keep rules and clusters it is refused', async () => {
    for (const [options, message] of [
      [{ keep: 'last' }, /^known is for keep 'first'/],
      [{ keep: () => 0 }, /^known is for keep 'first'/],
      [{ cluster: 'components' }, /^known is for cluster 'representative'/],
    ] as const) {
      await expect(all(dedup([NEWS], { known: [], ...options }))).rejects.toMatchObject({
        name: 'TypeError',
        code: 'ERR_INVALID_ARG_VALUE',
        message: expect.stringMatching(message),
      });
    }
  });
});
