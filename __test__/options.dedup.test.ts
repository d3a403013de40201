import { describe, expect, test } from 'vitest';
import { type DedupFilesOptions, type DedupOptions, dedup, dedupFiles, type Summary } from '..';
import { Folder } from './cli-run';

const A = '望海市地铁四号线二期工程今天贯通，线路全长十六点七公里，设站十二座。';
const texts = [A, `${A}转载`, '白石镇中心小学的学生本周吃上了自己种的萝卜，一共收了六百多斤。'];
const folder = new Folder();
folder.write('in', texts.map((text) => `${JSON.stringify({ text })}\n`).join(''));

/** Runs to the end; misuse rejects, whichever call notices it. */
async function stream(options?: DedupOptions): Promise<Summary> {
  const decisions = dedup(texts, options);
  for (;;) {
    const { done, value } = await decisions.next();
    if (done) return value;
  }
}
const files = (options?: DedupFilesOptions) =>
  dedupFiles(folder.join('in'), folder.join('out'), options);

const both: Record<string, (options?: never) => Promise<Summary>> = {
  dedup: stream,
  dedupFiles: files,
};
const counts = ({ read, kept, duplicates }: Summary) => [read, kept, duplicates];

interface Case {
  readonly key: string;
  /** The default: spelled out, it changes nothing. */
  readonly initial: unknown;
  /** The ends of the range, or all choices. */
  readonly right: readonly unknown[];
  /** Of the right type, out of the range. */
  readonly outside?: readonly unknown[];
}
const number = (key: string, initial: number, min: number, max: number): Case => ({
  key,
  initial,
  right: [min, max],
  outside: [min - 1, max + 1, Number.NaN],
});

const comparison: readonly Case[] = [
  number('maxDistance', 8, 0, 16),
  number('minSimilarity', 0.8, 0, 1),
  number('maxVerifications', 1000, 1, 2 ** 32 - 1),
  { ...number('ngram', 1, 1, 8), initial: undefined },
  number('minFeatures', 8, 0, 2 ** 32 - 1),
  number('threads', 0, 0, 1024),
  {
    key: 'method',
    initial: 'minhash',
    right: ['simhash', 'sentences', 'brute-force', 'exact'],
    outside: ['SimHash'],
  },
  number('sentences', 5, 1, 64),
  { key: 'cluster', initial: 'representative', right: ['components'], outside: ['single'] },
  {
    key: 'keep',
    initial: 'first',
    right: ['last', 'longest', 'newest', { field: 'a.b' }, { field: 'a', order: 'smallest' }],
    outside: ['oldest'],
  },
  {
    key: 'verify',
    initial: 'auto',
    right: [false, 'jaccard', 'containment', 'edit', 'cosine'],
    outside: ['off'],
  },
  { key: 'preset', initial: 'auto', right: ['chars', 'jieba-tfidf'], outside: ['jieba'] },
  { key: 'segmenter', initial: 'own', right: [], outside: ['jieba'] },
  { key: 'features', initial: 'auto', right: ['chars', 'words', 'jieba'], outside: ['char'] },
  { key: 'weighting', initial: 'count', right: ['binary'], outside: ['sum'] },
  { key: 'normalize', initial: {}, right: [false, 'web', { nfkc: false, whitespace: 'keep' }] },
];
const own: Readonly<Record<string, readonly Case[]>> = {
  dedup: [
    number('batch', 2048, 1, 65_536),
    { key: 'text', initial: undefined, right: [(text: string) => text] },
    { key: 'onMissing', initial: 'throw', right: ['reject'], outside: ['skip'] },
    { key: 'key', initial: undefined, right: ['id', 'a.b', (text: string) => text] },
    { key: 'known', initial: [], right: [[A], new Set([A])] },
    { key: 'fingerprint', initial: false, right: [true] },
    { key: 'onProgress', initial: undefined, right: [() => {}] },
  ],
  dedupFiles: [
    { key: 'textField', initial: 'text', right: [] },
    { key: 'idField', initial: 'id', right: ['a.b'] },
    { key: 'format', initial: undefined, right: ['jsonl'], outside: ['xml'] },
    { key: 'encoding', initial: undefined, right: ['utf-8', 'UTF8'], outside: ['klingon'] },
    { key: 'outputEncoding', initial: undefined, right: ['utf-8'], outside: ['klingon'] },
    // Of JSON lines any other header and delimiter are refused: cli.formats.test.ts has them.
    { key: 'header', initial: true, right: [] },
    { key: 'delimiter', initial: undefined, right: [], outside: ['a', '||', '"', '\n', ''] },
    { key: 'maxRecord', initial: 2 ** 26, right: [2 ** 30], outside: [0, 2 ** 30 + 1] },
    { key: 'cutAfter', initial: [], right: ['x', ['x', 'y']], outside: [''] },
    { key: 'list', initial: false, right: [] },
    { key: 'mark', initial: false, right: [true] },
    { key: 'dryRun', initial: false, right: [true] },
    { key: 'clusters', initial: undefined, right: [folder.join('clusters')] },
    { key: 'rejects', initial: undefined, right: [folder.join('rejects')] },
    { key: 'onProgress', initial: undefined, right: [() => {}] },
  ],
};

describe.each(Object.entries(both))('%s', (name, run) => {
  const cases = [
    ...comparison,
    ...(own[name] ?? []),
    { key: 'signal', initial: undefined, right: [new AbortController().signal] },
  ];
  const withOption = (key: string, value: unknown) => run({ [key]: value } as never);

  test.each(cases)(
    '$key: its default and undefined are the same as leaving it out',
    async ({ key, initial }) => {
      const expected = counts(await run());
      expect(counts(await withOption(key, initial))).toEqual(expected);
      expect(counts(await withOption(key, undefined))).toEqual(expected);
    },
  );

  test.each(cases)('$key: the ends of its range are accepted', async ({ key, right }) => {
    for (const value of right) {
      expect((await withOption(key, value)).read).toBe(texts.length);
    }
  });

  test.each(cases)('$key: values of another type are refused by name', async ({ key, outside }) => {
    for (const wrong of [null, 7n, Symbol('x'), [3]]) {
      const error = { name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' };
      await expect(withOption(key, wrong)).rejects.toMatchObject(error);
      await expect(withOption(key, wrong)).rejects.toThrow(key);
    }
    for (const wrong of outside ?? []) {
      const code = typeof wrong === 'string' ? 'ERR_INVALID_ARG_VALUE' : 'ERR_OUT_OF_RANGE';
      await expect(withOption(key, wrong)).rejects.toMatchObject({ code });
      await expect(withOption(key, wrong)).rejects.toThrow(key);
    }
  });

  test('an unknown key is refused with the nearest known one', async () => {
    await expect(withOption('minSimilarty', 0.5)).rejects.toMatchObject({
      code: 'ERR_INVALID_ARG_TYPE',
      message: "options has no option 'minSimilarty'; did you mean 'minSimilarity'?",
    });
    for (const wrong of [null, 3, 'chars', []]) {
      await expect(run(wrong as never)).rejects.toMatchObject({ code: 'ERR_INVALID_ARG_TYPE' });
    }
  });
});

test('a threshold beside verify: false is refused by both doors, but for the 0 that means the same', async () => {
  for (const run of Object.values(both)) {
    for (const method of ['simhash', 'minhash', 'sentences', 'brute-force', 'exact'] as const) {
      const refused = run({ method, verify: false, minSimilarity: 0.7 } as never);
      await expect(refused).rejects.toMatchObject({
        name: 'TypeError',
        code: 'ERR_INVALID_ARG_VALUE',
        message:
          'minSimilarity must be left out beside verify: false, which measures nothing, got 0.7',
      });
      const off = await run({ method, verify: false, minSimilarity: 0 } as never);
      expect(counts(off)).toEqual(counts(await run({ method, verify: false } as never)));
    }
  }
});

test.each(['', '.', 'a.', 'a..b'])('keep by field %j is refused by both doors', async (field) => {
  const refused = { code: 'ERR_INVALID_ARG_VALUE', message: /^keep\.field must be keys/ };
  for (const run of Object.values(both)) {
    await expect(run({ keep: { field } })).rejects.toMatchObject({
      code: refused.code,
      message: expect.stringMatching(refused.message),
    });
  }
});

test('standard streams are named once, and what onProgress throws is what comes out', async () => {
  const twice = dedupFiles(['-', '-'], folder.join('out-2'));
  await expect(twice).rejects.toMatchObject({ code: 'ERR_INVALID_ARG_VALUE' });
  for (const key of ['clusters', 'rejects']) {
    await expect(files({ [key]: '-' })).rejects.toMatchObject({ code: 'ERR_INVALID_ARG_VALUE' });
  }
  const own = new Error('mine');
  const onProgress = () => {
    throw own;
  };
  await expect(dedupFiles(folder.join('in'), folder.join('out-3'), { onProgress })).rejects.toBe(
    own,
  );
});

test.each(['toString', 'constructor', 'hasOwnProperty', '__proto__'])(
  'a name that every object inherits is no option: %s',
  async (name) => {
    const options = JSON.parse(`{"${name}": 1}`) as never;
    for (const run of Object.values(both)) {
      await expect(run(options)).rejects.toMatchObject({ code: 'ERR_INVALID_ARG_TYPE' });
    }
  },
);
