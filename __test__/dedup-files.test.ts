import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { dedupFiles, type Progress } from '..';
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
  const told = await folder.run(['clusters', 'in', 'more', '-o', 'clusters']);
  expect(told.stderr).toContain(
    '2 documents have the id of an earlier one; what names ids does not say which it means:\n  more:2 that of in:3\n  more:3 that of more:1\n',
  );
});
