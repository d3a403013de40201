import { describe, expect, test } from 'vitest';
import {
  type DedupOptions,
  dedup,
  type EvaluateOptions,
  type Evaluation,
  evaluate,
  type Statement,
} from '..';

const NEWS = '望海市地铁四号线二期工程今天贯通，线路全长十六点七公里，设站十二座。';
const OTHER = '白石镇中心小学的学生本周吃上了自己种的萝卜，一共收了六百多斤。';
const documents = [
  { id: 'a', text: NEWS },
  { id: 'b', text: `${NEWS}（转载）` },
  { id: 'c', text: OTHER },
  { id: 'd', text: OTHER },
  { id: 'e', text: '临溪县今年的早稻收割进入尾声，平均亩产比去年增加十一公斤。' },
];
const labels: Statement[] = [['c', 'd'], { a: 'a', b: 'b', similarity: 0.9 }];

test('the decisions of dedup, by position, score one where they are right', async () => {
  const options: DedupOptions = {};
  const corpus = documents.map(({ text }) => ({ text }));
  const decisions: Statement[] = [];
  for await (const decision of dedup(corpus, options)) decisions.push(decision);
  const right: Statement[] = [[2, 3], { a: 0, b: 1 }];
  const figures = await evaluate(decisions, right, { ...options, documents: corpus });
  expect(figures).toEqual({
    documents: 5,
    redundant: 2,
    removed: 2,
    pairs: 2,
    apart: 0,
    merged: 0,
    documentRecall: 1,
    removalRecall: 1,
    pairRecall: 1,
    labelledPrecision: 1,
    pairPrecision: 1,
    halfPrecision: 1,
    keptPrecision: 1,
    bcubedPrecision: 1,
    bcubedRecall: 1,
    bcubedF1: 1,
    adjustedRand: 1,
    unknownDecisions: 0,
    unknownLabels: 0,
  } satisfies Evaluation);
});

describe('the forms of statements', () => {
  const cluster = { representative: 'c', members: [{ id: 'c' }, { id: 'd' }] };
  const forms: readonly (readonly Statement[])[] = [
    [['c', 'd']],
    [cluster],
    [{ representative: 'c', members: ['d'] }],
    [{ a: 'c', b: 'd' }],
    [{ a: 'd', b: 'c', label: true }],
    [{ id: 'c' }, { id: 'd', duplicateOf: 'c' }],
    [
      { id: 'c', duplicateOf: null },
      { id: 'd', duplicateOf: 'c', similarity: 0.8 },
    ],
  ];

  test.each(forms.map((form) => [JSON.stringify(form), form] as const))(
    '%s is the same pair, as a result and as labels',
    async (_name, form) => {
      const figures = await evaluate(form, form, { documents });
      expect(figures).toMatchObject({ redundant: 1, pairs: 1, pairPrecision: 1, adjustedRand: 1 });
      const found = await evaluate(form, labels, { documents });
      expect(found).toMatchObject({ redundant: 2, documentRecall: 0.5, labelledPrecision: 1 });
    },
  );

  test('where the labels name no duplicates there is no recall, where nothing is linked no precision', async () => {
    const apart = [{ a: 'c', b: 'd', label: false }];
    const linked = await evaluate([['c', 'd']], apart, { documents });
    expect(linked).toMatchObject({ redundant: 0, labelledPrecision: 0, bcubedPrecision: 0.8 });
    const recalls = ['documentRecall', 'removalRecall', 'pairRecall', 'bcubedRecall', 'bcubedF1'];
    for (const name of recalls) expect(linked).not.toHaveProperty(name);
    const none = await evaluate([], labels, { documents });
    expect(none).toMatchObject({ documentRecall: 0, pairRecall: 0 });
    for (const name of ['labelledPrecision', 'pairPrecision', 'keptPrecision'])
      expect(none).not.toHaveProperty(name);
  });

  test('the ids 7 and "7" are one', async () => {
    expect(await evaluate([[7, 8]], [['7', '8']])).toMatchObject({ documents: 2, pairRecall: 1 });
  });

  test('async iterables are read as others are', async () => {
    async function* later() {
      yield* labels;
    }
    const sync = await evaluate([['a', 'b']], labels, { documents });
    expect(await evaluate([['a', 'b']], later(), { documents })).toEqual(sync);
  });
});

test('pairs labelled as different are counted where the result merges them', async () => {
  const stated: Statement[] = [
    { a: 'a', b: 'b', label: 0 },
    { a: 'c', b: 'd', similarity: 0.79 },
    { a: 'c', b: 'e', label: false },
  ];
  const figures = await evaluate([['a', 'b'], { a: 'c', b: 'd' }], stated);
  expect(figures).toMatchObject({ apart: 3, merged: 2, redundant: 0, labelledPrecision: 0 });
  const looser = await evaluate([['a', 'b']], stated, { minSimilarity: 0.7 });
  expect(looser).toMatchObject({ apart: 2, merged: 1, redundant: 1 });
});

test('similarity is that of the features that are asked for', async () => {
  const precision = async (options: EvaluateOptions) =>
    (
      await evaluate(
        [
          ['a', 'b'],
          ['d', 'e'],
        ],
        labels,
        { documents, ...options },
      )
    ).pairPrecision;
  expect(await precision({})).toBe(0.5);
  expect(await precision({ ngram: 1, minSimilarity: 0.01 })).toBe(1);
  expect(await precision({ ngram: 8 })).toBe(0.5);
  expect(await precision({ ngram: 8, minSimilarity: 0.95 })).toBe(0);
  expect(await evaluate([['a', 'b']], labels)).not.toHaveProperty('pairPrecision');
  expect(await evaluate([], labels, { documents })).not.toHaveProperty('pairPrecision');
});

test('ids of no document are left out and counted, on both sides', async () => {
  const decisions: Statement[] = [['a', 'b', 'x'], { a: 'y', b: 'c' }, { id: 'z' }];
  const figures = await evaluate(decisions, [...labels, ['d', 'w']], { documents });
  expect(figures).toMatchObject({ pairs: 1, unknownDecisions: 3, unknownLabels: 1, documents: 5 });
});

test('a document that comes twice is one document', async () => {
  const twice = [...documents, ...documents];
  const figures = await evaluate([['a', 'b']], labels, { documents: twice });
  expect(figures).toEqual(await evaluate([['a', 'b']], labels, { documents }));
});

test('an abort rejects with its reason', async () => {
  const reason = new Error('enough');
  const signal = AbortSignal.abort(reason);
  await expect(evaluate([], labels, { signal })).rejects.toBe(reason);
});

describe('misuse is refused with Node’s codes', () => {
  const ill: readonly [string, unknown, string][] = [
    ['a number', 7, 'decisions[0]: 7 is no statement'],
    ['no id', { text: 'x' }, 'no cluster (representative, members), pair (a, b) or decision (id)'],
    ['an id of another type', ['a', {}], 'is no id'],
    ['an id beyond 2^53', [2 ** 53], 'is no id'],
    ['members of another type', { members: 'ab' }, 'not an array'],
    ['a similarity above 1', { a: 'a', b: 'b', similarity: 1.1 }, 'not a number from 0 to 1'],
    ['a label of another kind', { a: 'a', b: 'b', label: 'yes' }, 'not 0 or 1'],
  ];
  test.each(ill)('%s', async (_name, statement, says) => {
    const refused = evaluate([statement as Statement], labels);
    await expect(refused).rejects.toMatchObject({
      code: 'ERR_INVALID_ARG_TYPE',
      name: 'TypeError',
    });
    await expect(refused).rejects.toThrow(says);
  });

  test('arguments and options', async () => {
    const type = { code: 'ERR_INVALID_ARG_TYPE' };
    await expect(evaluate(7 as never, [])).rejects.toMatchObject(type);
    await expect(evaluate([], 'ab' as never)).rejects.toMatchObject(type);
    await expect(evaluate([], [], { documents: 7 as never })).rejects.toMatchObject(type);
    await expect(evaluate([], [], { docs: [] } as never)).rejects.toMatchObject(type);
    await expect(
      evaluate([['a', 'b']], [], { documents: [{ id: 'a', text: 7 as never }] }),
    ).rejects.toMatchObject(type);
    await expect(evaluate([], [], { minSimilarity: 2 })).rejects.toMatchObject({
      code: 'ERR_OUT_OF_RANGE',
    });
  });
});
