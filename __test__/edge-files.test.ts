import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Folder, ROOT, SAMPLE } from './cli-run';

const { dedupFiles, matchFiles, pairsFiles } = (await import(
  join(ROOT, 'dist', 'index.js')
)) as typeof import('../ts');
const folder = new Folder();
const text = '望海市地铁四号线二期工程今天贯通，线路全长十六点七公里，设站十二座。';
const record = (id: number, text: string) => `${JSON.stringify({ id, text })}\n`;
const path = (name: string) => folder.join(name);
folder.write('old', record(1, text) + record(2, '早安') + record(3, text));
folder.write('new', record(4, `【转载】${text}`) + record(5, '') + record(6, '早 安'));

test('pairsFiles writes pairs and says the figures', async () => {
  const summary = await pairsFiles([path('old'), path('new')], path('out'));
  expect(summary).toEqual({
    ...{ read: 6, documents: 6, rejected: 0, pairs: 3, candidates: 1, truncated: 0, empty: 1 },
    ...{ short: expect.any(Number), seconds: expect.any(Number), bytes: expect.any(Number) },
    ...{ indexBytes: expect.any(Number), encodings: [], firstRejected: [], leftovers: [] },
  });
  const similarity = expect.closeTo(0.9, 1);
  expect(folder.records('out')).toEqual([
    { a: 1, b: 3, similarity: 1 },
    { a: 1, b: 4, similarity },
    { a: 2, b: 6, similarity: 1 },
  ]);
});

test('matchFiles writes a line per new document and says the figures', async () => {
  const summary = await matchFiles(path('new'), path('out'), {
    against: path('old'),
    method: 'simhash',
    maxDistance: 16,
  });
  const figures = { read: 6, documents: 3, against: 3, rejected: 0, matched: 2, matches: 2 };
  expect(summary).toMatchObject({ ...figures, candidates: 1, truncated: 0, empty: 1 });
  expect(folder.records('out')).toEqual([
    {
      id: 4,
      matches: [{ id: 1, similarity: expect.closeTo(0.9, 1), distance: expect.any(Number) }],
    },
    { id: 5, matches: [] },
    { id: 6, matches: [{ id: 2, similarity: 1, distance: 0 }] },
  ]);
});

test('what is wrong with the options is said, and nothing is written', async () => {
  const old = path('old');
  const calls: [() => Promise<unknown>, string][] = [
    [() => pairsFiles([], path('none')), 'inputs must be at least one input'],
    [
      () => pairsFiles([old, 7 as never], path('none')),
      'inputs[1] must be a path or a file: URL, got 7',
    ],
    [() => pairsFiles(old, undefined), 'output must be a path or a file: URL, got undefined'],
    [() => pairsFiles(old, path('none'), { cluster: 'components' } as never), 'cluster'],
    [() => pairsFiles(old, path('none'), { keep: 'last' } as never), 'keep'],
    [() => pairsFiles(old, path('none'), { limit: 1 } as never), 'limit'],
    [() => pairsFiles(old, path('none'), { bands: 3 }), 'bands and rows must be given together'],
    [() => pairsFiles(old, path('none'), { rejects: '-' }), 'only output can be standard output'],
    [() => pairsFiles(['-', '-'], path('none')), 'only once'],
    [() => matchFiles('-', path('none'), { against: '-' }), 'only once'],
    [
      () => matchFiles(old, path('none'), {} as never),
      'against must be a path, a file: URL or an array',
    ],
    [() => matchFiles(old, path('none'), { against: [] }), 'against must be at least one input'],
    [() => matchFiles(old, path('none'), { against: old, limit: 0 }), 'limit must be'],
    [() => pairsFiles(old, old), 'is also an input'],
    [() => matchFiles(path('new'), old, { against: old }), 'is also an input'],
  ];
  for (const [call, says] of calls) await expect(call()).rejects.toThrow(says);
  expect(folder.names()).not.toContain('none');
});

test('dryRun counts what a run would write', async () => {
  const counted = await pairsFiles(SAMPLE, undefined, { dryRun: true });
  const written = await pairsFiles(SAMPLE, path('out'));
  expect({ ...counted, seconds: 0 }).toEqual({ ...written, seconds: 0 });
  expect(folder.records('out')).toHaveLength(written.pairs);
  // Each duplicate is in a pair at least.
  expect(written.pairs).toBeGreaterThanOrEqual(
    (await dedupFiles(SAMPLE, undefined, { dryRun: true, cluster: 'components' })).duplicates,
  );
});

test('an abort and a callback that throws end a run, and leave nothing', async () => {
  const signal = AbortSignal.abort('enough');
  await expect(pairsFiles(SAMPLE, path('none'), { signal })).rejects.toBe('enough');
  const onProgress = () => {
    throw new Error('mine');
  };
  const options = { against: SAMPLE, onProgress };
  await expect(matchFiles(SAMPLE, path('none'), options)).rejects.toThrow('mine');
  expect(folder.names()).not.toContain('none');
});
