import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { dedupFiles, type Progress, pairsFiles } from '..';
import { Folder } from './cli-run';

const reason = new Error('enough');
const line = (row: number) => `${JSON.stringify({ id: row, text: `第${row}条，`.repeat(60) })}\n`;

function input(rows: number): Folder {
  const folder = new Folder();
  folder.write('in', Array.from({ length: rows }, (_, row) => line(row)).join(''));
  return folder;
}

const outputs = (folder: Folder) => ({
  clusters: folder.join('clusters'),
  rejects: folder.join('rejects'),
});

describe('an abort leaves no file and rejects with its reason', () => {
  test('before', async () => {
    const folder = input(10);
    const signal = AbortSignal.abort(reason);
    const run = dedupFiles(folder.join('in'), folder.join('out'), { ...outputs(folder), signal });
    await expect(run).rejects.toBe(reason);
    expect(folder.names()).toEqual(['in']);
  });

  test('during, and what stood there before stays', async () => {
    const folder = input(40_000);
    folder.write('out', 'old\n');
    const controller = new AbortController();
    const run = dedupFiles(folder.join('in'), folder.join('out'), {
      ...outputs(folder),
      signal: controller.signal,
      onProgress: () => controller.abort(reason),
    });
    await expect(run).rejects.toBe(reason);
    expect(folder.names()).toEqual(['in', 'out']);
    expect(folder.read('out')).toBe('old\n');
  });

  test('after: the files stay', async () => {
    const folder = input(10);
    const controller = new AbortController();
    const { signal } = controller;
    await dedupFiles(folder.join('in'), folder.join('out'), { ...outputs(folder), signal });
    controller.abort(reason);
    expect(folder.names()).toEqual(['clusters', 'in', 'out', 'rejects']);
  });
});

test('a callback that throws ends the run with its error, and never the process', async () => {
  const folder = input(40_000);
  const uncaught: unknown[] = [];
  const keep = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  process.on('uncaughtException', (error) => uncaught.push(error));
  let calls = 0;
  try {
    const run = dedupFiles(folder.join('in'), folder.join('out'), {
      onProgress: () => {
        calls += 1;
        throw reason;
      },
    });
    await expect(run).rejects.toBe(reason);
    expect(calls).toBe(1);
    expect(uncaught).toEqual([]);
  } finally {
    process.removeAllListeners('uncaughtException');
    for (const listener of keep) process.on('uncaughtException', listener);
  }
});

test('progress comes in order and without null', async () => {
  const folder = input(40_000);
  const seen: Progress[] = [];
  const onProgress = (progress: Progress) => {
    seen.push(progress);
  };
  await dedupFiles(folder.join('in'), folder.join('out'), { onProgress });
  expect(seen.length).toBeGreaterThan(0);
  const documents = seen.map((progress) => progress.documents);
  expect(documents).toEqual([...documents].sort((a, b) => a - b));
  expect(seen[0]?.totalBytes).toBe(readFileSync(folder.join('in')).length);
  expect(seen.flatMap((progress) => Object.values(progress))).not.toContain(null);
});

test('one input may be a string, several are an array', async () => {
  const folder = input(10);
  const one = await dedupFiles(folder.join('in'), undefined, { dryRun: true });
  const two = await dedupFiles([folder.join('in'), folder.join('in')], undefined, { dryRun: true });
  expect([one.read, two.read, two.duplicates - one.duplicates]).toEqual([10, 20, 10]);
  expect(folder.names()).toEqual(['in']);
});

test('documents that have the id of an earlier one are named where outputs name ids', async () => {
  const folder = input(4);
  folder.write('more', line(7) + line(2) + line(7));
  const inputs = [folder.join('in'), folder.join('more')];
  const { sameIds } = await dedupFiles(inputs, undefined, { clusters: folder.join('clusters') });
  const [file, more] = inputs;
  expect(sameIds).toEqual({
    documents: 2,
    first: [
      { file: more, line: 2, firstFile: file, firstLine: 3 },
      { file: more, line: 3, firstFile: more, firstLine: 1 },
    ],
  });
  expect(await dedupFiles(inputs, folder.join('out'))).not.toHaveProperty('sameIds');
  const said =
    '2 documents have the id of an earlier one; what names ids does not say which it means:\n  more:2 that of in:3\n  more:3 that of more:1\n';
  const told = await folder.run(['clusters', 'in', 'more', '-o', 'clusters']);
  expect(told.stderr).toContain(said);
  const pairs = await pairsFiles(inputs, folder.join('pairs'));
  expect(pairs.sameIds).toEqual(sameIds);
  expect((await folder.run(['pairs', 'in', 'more', '-o', 'pairs'])).stderr).toContain(said);
  // An id of one side has nothing to do with those of the other.
  const match = await folder.run(['match', 'more', '--against', 'in', '-o', 'matches']);
  expect(match.stderr).toContain('1 document has the id');
  const left = await folder.run(['match', 'more', '--against', 'in', '--remove', '-o', 'left']);
  expect(left.stderr).not.toContain('the id of an earlier one');
  expect((await folder.run(['index', 'build', 'seen', 'in'])).status).toBe(0);
  const asking = ['match', 'more', '--index', 'seen', '-o', 'matches'];
  expect((await folder.run(asking)).stderr).toContain('1 document has the id');
  const { stdout } = await folder.run([...asking, '--json']);
  expect(JSON.parse(stdout).sameIds.documents).toBe(1);
  const query = ['index', 'query', 'seen', 'more', '--remove', '-o', 'left'];
  expect((await folder.run(query)).stderr).not.toContain('the id of an earlier one');
});

test('documents of one input are left alone where only those of others are compared', async () => {
  const folder = input(4);
  folder.write('more', line(1) + line(2) + line(8) + line(8));
  folder.write('other', line(8) + line(9));
  const inputs = ['in', 'more', 'other'].map((name) => folder.join(name));
  const acrossFilesOnly = true;
  const summary = await dedupFiles(inputs, folder.join('out'), { acrossFilesOnly });
  const cli = ['in', 'more', 'other', '--across-files-only'];
  const told = await folder.run(['dedup', ...cli, '-o', 'same']);
  expect(told.status).toBe(0);
  expect(folder.read('same')).toEqual(folder.read('out'));
  const ids = String(folder.read('out'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).id as number);
  // Twice 8 of one file; once of the other that has it.
  const own = (number: number) => JSON.parse(line(number)).id;
  expect(ids).toEqual([0, 1, 2, 3, 8, 8, 9].map(own));
  expect([summary.kept, summary.duplicates]).toEqual([7, 3]);
  const clusters = await folder.run(['clusters', ...cli]);
  expect(clusters.stdout.trim().split('\n')).toHaveLength(3);
  const usage = async (words: string[], sentence: string) => {
    const { status, stderr } = await folder.run(words);
    expect([status, stderr]).toEqual([2, expect.stringContaining(sentence)]);
  };
  const alone = ['dedup', 'in', '--across-files-only', '-o', 'none'];
  await usage(alone, '--across-files-only must be left out of a run over one input');
  await usage([...alone, 'more', '--index', 'dir'], '--across-files-only must be left out beside');
  await expect(
    dedupFiles(inputs, folder.join('none'), { acrossFilesOnly, index: folder.join('dir') }),
  ).rejects.toThrow('acrossFilesOnly must be left out beside index');
  expect(folder.names()).toEqual(['in', 'more', 'other', 'out', 'same']);
});
