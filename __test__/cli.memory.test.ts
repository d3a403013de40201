import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { dedupFiles } from '..';
import { Folder, SAMPLE } from './cli-run';

const folder = new Folder();
folder.write('in', readFileSync(SAMPLE));
const linux = process.platform === 'linux';

test.runIf(linux)('what may take little memory writes the same', async () => {
  for (const command of [['dedup', '--clusters', 'pairs'], ['clusters']]) {
    const written = [];
    for (const within of [[], ['--memory', '0.25G', '--tmp', '.']]) {
      const { status, stderr } = await folder.run([...command, 'in', '-o', 'out', ...within, '-q']);
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      written.push(folder.read('out'), command.length > 1 ? folder.read('pairs') : '');
    }
    expect(written.slice(2)).toEqual(written.slice(0, 2));
  }
  // Temporary files have no name.
  expect(folder.names()).toEqual(['in', 'out', 'pairs']);
});

test.runIf(linux)('pairs and matches within little memory are the same', async () => {
  for (const command of [
    ['pairs', 'in'],
    ['match', 'in', '--against', 'in'],
    ['match', 'in', '--against', 'in', '--mark'],
  ]) {
    const written = [];
    for (const within of [[], ['--memory', '0.25G', '--tmp', '.']]) {
      const { status, stderr } = await folder.run([...command, '-o', 'out', ...within, '-q']);
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      written.push(folder.read('out'));
    }
    expect(written[1]).toBe(written[0]);
  }
  const small = await folder.run(['pairs', 'in', '-o', 'out', '--memory', '100M']);
  expect(small.status).toBe(2);
  expect(small.stderr).toContain('--memory must be a size of at least 200M');
  const indexed = await folder.run(['match', 'in', '--index', 'dir', '--memory', '1G']);
  expect(indexed.status).toBe(2);
  expect(indexed.stderr).toContain('--memory is for --against');
  expect(folder.names()).toEqual(['in', 'out', 'pairs']);
});

test.runIf(linux)('bounds that cannot be kept are refused', async () => {
  const refused = async (...args: string[]) => {
    const { status, stdout, stderr } = await folder.run(['dedup', 'in', '-o', 'new', ...args]);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    return stderr;
  };
  expect(await refused('--memory', '2X')).toContain(
    "--memory must be a size of at least 200M, as 512M or 2G, got '2X'",
  );
  expect(await refused('--memory', '199M')).toContain(
    "--memory must be a size of at least 200M, as 512M or 2G, got '199M'",
  );
  expect(await refused('--memory', '1G', '--index', 'dir')).toContain('--memory must be left out');
  expect(folder.names()).toEqual(['in', 'out', 'pairs']);
});

test('the library refuses what has no meaning', async () => {
  const run = (options: object) => dedupFiles(folder.join('in'), folder.join('new'), options);
  await expect(run({ memory: 0.5 })).rejects.toMatchObject({ code: 'ERR_OUT_OF_RANGE' });
  await expect(run({ memory: '1G' })).rejects.toMatchObject({ code: 'ERR_INVALID_ARG_TYPE' });
  await expect(run({ memory: 1e9, index: 'dir' })).rejects.toMatchObject({
    code: 'ERR_INVALID_ARG_VALUE',
  });
  if (!linux) return;
  await expect(run({ memory: 2 ** 27 })).rejects.toMatchObject({
    code: 'ERR_OUT_OF_RANGE',
    message: expect.stringContaining('at least 209715200 bytes (200 MiB), got 134217728'),
  });
  await expect(run({ memory: 1e9, tmp: folder.join('none') })).rejects.toMatchObject({
    code: 'ERR_SIMHASH_OUTPUT',
    message: expect.stringContaining('none'),
  });
});
