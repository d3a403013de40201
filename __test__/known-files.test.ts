import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Folder, jsonLines, ROOT, SAMPLE } from './cli-run';

const { dedup, dedupFiles } = (await import(
  join(ROOT, 'dist', 'index.js')
)) as typeof import('../ts');

interface Doc {
  readonly id: string;
  readonly text: string;
}

const sample = jsonLines<Doc>(readFileSync(SAMPLE, 'utf8'));
// Every second one, so that originals lie on both sides.
const known = sample.filter((_, row) => row % 2 === 0);
const fresh = sample.filter((_, row) => row % 2 === 1);
const lines = (docs: readonly unknown[]) => docs.map((doc) => `${JSON.stringify(doc)}\n`).join('');

const folder = new Folder();
folder.write('known-1', lines(known.slice(0, 100)));
folder.write('known-2', lines(known.slice(100)));
folder.write('fresh', lines(fresh));
const files = [folder.join('known-1'), folder.join('known-2')];

test('files beside known files are decided as a stream is beside known documents', async () => {
  const loop = dedup(fresh, { known });
  const kept: string[] = [];
  const originals: Record<string, string | undefined> = {};
  for await (const { doc, duplicateOf, duplicateOfKnown, status } of loop) {
    if (status === 'kept') kept.push(doc.id);
    else originals[doc.id] = (known[duplicateOfKnown ?? -1] ?? fresh[duplicateOf ?? -1])?.id;
  }
  expect(Object.keys(originals).length).toBeGreaterThan(10);
  const figures = await loop.summary;

  const clusters = folder.join('clusters');
  const summary = await dedupFiles(folder.join('fresh'), folder.join('out'), {
    known: files,
    clusters,
  });
  expect(jsonLines<Doc>(folder.read('out')).map(({ id }) => id)).toEqual(kept);
  const told = jsonLines<{ representative: string; members: { id: string }[] }>(
    readFileSync(clusters, 'utf8'),
  ).flatMap(({ representative, members }) =>
    members.slice(1).map(({ id }) => [id, representative] as const),
  );
  expect(Object.fromEntries(told)).toEqual(originals);
  const { read, kept: count, duplicates, rejected, truncated, empty, short } = figures;
  expect(summary).toMatchObject({
    ...{ read, kept: count, duplicates, rejected, truncated, empty, short },
    ...{ clusters: figures.clusters, known: known.length },
  });
});

test('the command takes them too, several times, and says how many there are', async () => {
  await dedupFiles(folder.join('fresh'), folder.join('expected'), { known: files });
  const { status, stdout, stderr } = await folder.run([
    ...['dedup', 'fresh', '-o', '-', '--known', 'known-1', '--known', 'known-2'],
  ]);
  expect({ status, stdout }).toEqual({ status: 0, stdout: folder.read('expected') });
  expect(stderr).toContain(`beside ${known.length} known documents`);
  // Standard input is read to its end.
  const piped = await folder.run(
    ['dedup', '-', '-o', '-', '-q', '--known', 'known-1', '--known', 'known-2'],
    folder.read('fresh'),
  );
  expect(piped).toMatchObject({ status: 0, stdout: folder.read('expected') });
});

test('without known files the summary has none', async () => {
  const summary = await dedupFiles(folder.join('fresh'), folder.join('out'));
  expect('known' in summary).toBe(false);
});

test.each([
  ['another keep rule', { keep: 'last' }, ['--keep', 'last']],
  ['components', { cluster: 'components' }, ['--cluster', 'components']],
  ['an index', { index: 'somewhere' }, ['--index', 'somewhere']],
] as const)('known files do not go with %s', async (_, option, flags) => {
  const run = dedupFiles(folder.join('fresh'), folder.join('none'), { known: files, ...option });
  await expect(run).rejects.toMatchObject({ name: 'TypeError', code: 'ERR_INVALID_ARG_VALUE' });
  const { status, stderr } = await folder.run([
    ...['dedup', 'fresh', '-o', 'none', '--known', 'known-1', ...flags],
  ]);
  expect({ status, named: stderr.includes('--known is ') }).toEqual({ status: 2, named: true });
  expect(folder.names()).not.toContain('none');
});

test('none and one that is not there are errors', async () => {
  const run = (known: string[]) =>
    dedupFiles(folder.join('fresh'), undefined, { known, dryRun: true });
  await expect(run([])).rejects.toThrow(/known/);
  await expect(run([folder.join('missing')])).rejects.toMatchObject({ code: 'ERR_SIMHASH_INPUT' });
});

test('marks say which documents have the id of a known one; of known ones among themselves nothing is said', async () => {
  const line = (id: number, text: string) => `${JSON.stringify({ id, text })}\n`;
  const text = '望海港本月开通了一条直达南美西海岸的集装箱航线，单程二十三天。';
  folder.write('known-ids', line(1, text) + line(1, `${text}一`) + line(2, '另一篇文章的内容'));
  folder.write('new-ids', line(2, `${text}！`) + line(3, '第三篇文章的内容') + line(3, '再一篇'));
  const [known, to] = [folder.join('known-ids'), folder.join('marked-ids')];
  const { sameIds } = await dedupFiles(folder.join('new-ids'), to, { known, mark: true });
  expect(sameIds).toEqual({
    documents: 2,
    first: [
      { file: folder.join('new-ids'), line: 1, firstFile: known, firstLine: 3 },
      { file: folder.join('new-ids'), line: 3, firstFile: folder.join('new-ids'), firstLine: 2 },
    ],
  });
  const plain = await dedupFiles(folder.join('new-ids'), to, { known });
  expect(plain.sameIds).toBeUndefined();
});
