import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { type Cluster, ended, Folder, jsonLines, ROOT } from './cli-run';

const { dedupFiles } = (await import(join(ROOT, 'dist', 'index.js'))) as typeof import('../ts');

interface Row {
  readonly id: string;
  readonly duplicateOf?: string;
  readonly similarity?: number;
}

const TEXTS = [
  '望海市地铁四号线二期工程今天贯通，线路全长十六点七公里，设站十二座。',
  '白石镇中心小学的学生本周吃上了自己种的萝卜，一共收了六百多斤。',
  '海关总署昨日公布前三季度外贸数据，进出口总值同比增长百分之五点三。',
];
const [METRO = '', RADISH = '', TRADE = ''] = TEXTS;
const record = (id: string, text: string) => `${JSON.stringify({ id, text })}\n`;

/** Two days of news: the second has a copy and a near copy of what the first had. */
function days(): Folder {
  const folder = new Folder();
  folder.write('mon', record('a', METRO) + record('b', RADISH) + record('c', METRO));
  folder.write(
    'tue',
    `${record('d', `${RADISH}完`)}oops\n${record('e', TRADE)}${record('f', METRO)}`,
  );
  return folder;
}

const daily = (day: string, ...more: string[]) => [
  ...['dedup', day, '--index', 'seen', '-o', `${day}.out`],
  ...more,
];

describe('dedup --index', () => {
  test('a document of an earlier run is the original of a duplicate', async () => {
    const folder = days();
    const first = await folder.run(daily('mon', '--json'));
    expect(first.status).toBe(0);
    expect(JSON.parse(first.stdout)).toMatchObject({
      ...{ read: 3, kept: 2, duplicates: 1, clusters: 1 },
      index: { repeated: false, documents: 2 },
      options: { index: 'seen' },
    });
    const outputs = ['--mark', '--clusters', 'groups', '--rejects', 'bad'];
    const second = await folder.run(daily('tue', ...outputs));
    expect(second.status).toBe(1);
    expect(second.stderr).toContain('read 4 = kept 1 + duplicates 2 + rejected 1');
    expect(second.stderr).toContain('index of 3 documents');
    const rows = folder.records<Row>('tue.out');
    expect(rows.map(({ id, duplicateOf }) => [id, duplicateOf])).toEqual([
      ['d', 'b'],
      ['e', undefined],
      ['f', 'a'],
    ]);
    expect(rows[2]?.similarity).toBe(1);
    const groups = folder.records<Cluster>('groups');
    expect(groups.map(({ members }) => members.map(({ id }) => id))).toEqual([
      ['a', 'f'],
      ['b', 'd'],
    ]);
    expect(folder.records('bad')).toHaveLength(1);
    const query = await folder.run(['index', 'query', 'seen', 'tue', '-q']);
    const found = jsonLines<{ matches: { id: string }[] }>(query.stdout);
    expect(found.map(({ matches }) => matches[0]?.id)).toEqual(['b', 'e', 'a']);
  });

  test('the same files once more are answered as the first time, and add nothing', async () => {
    const folder = days();
    await folder.run(daily('mon'));
    await folder.run(daily('tue', '--mark'));
    const before = ['mon.out', 'tue.out'].map((name) => folder.read(name));
    rmSync(folder.join('mon.out'));
    rmSync(folder.join('tue.out'));
    const again = await folder.run(daily('mon'));
    expect(again).toMatchObject({ status: 0 });
    expect(again.stderr).toContain('this run was made before');
    const json = await folder.run(daily('tue', '--mark', '--json'));
    expect(JSON.parse(json.stdout)).toMatchObject({
      ...{ read: 4, kept: 1, duplicates: 2, rejected: 1 },
      index: { repeated: true, documents: 3 },
    });
    expect(['mon.out', 'tue.out'].map((name) => folder.read(name))).toEqual(before);
  });

  test('a run that is killed counts whole or not at all, and the next says what it found', async () => {
    const folder = days();
    await folder.run(daily('mon'));
    const child = folder.start(daily('tue'));
    const end = ended(child);
    const isThere = () => existsSync(folder.join('seen/COMMIT'));
    const isOver = () => child.exitCode !== null;
    while (!isThere() && !isOver()) await setTimeout(1);
    child.kill('SIGKILL');
    await end;
    const counts = isThere();
    const verified = await folder.run(['index', 'verify', 'seen']);
    expect(verified.status).toBe(0);
    expect(verified.stderr.includes('finishes it, or undoes it')).toBe(counts);
    const next = await folder.run(daily('tue', '--mark'));
    expect(next.stderr.includes('it counts now, and its outputs stand')).toBe(counts);
    expect(next.stderr).toContain('index of 3 documents');
    expect(folder.names()).toEqual(['mon', 'mon.out', 'seen', 'tue', 'tue.out']);
  });

  test('the library does the same', async () => {
    const folder = days();
    const run = (day: string) =>
      dedupFiles(folder.join(day), folder.join(`${day}.out`), { index: folder.join('seen') });
    expect((await run('mon')).index).toEqual({
      ...{ run: expect.stringMatching(/^[0-9a-f]{32}$/), repeated: false, documents: 2 },
    });
    const done = await run('tue');
    expect([done.kept, done.index?.documents]).toEqual([1, 3]);
    expect((await run('tue')).index).toEqual({ ...done.index, repeated: true });
    await expect(
      dedupFiles(folder.join('mon'), folder.join('out'), {
        index: folder.join('seen'),
        minSimilarity: 0.9,
      }),
    ).rejects.toMatchObject({
      code: 'ERR_INVALID_ARG_VALUE',
      message: expect.stringContaining('its minSimilarity is 0.8, and that of the run is 0.9'),
    });
    expect(folder.names()).not.toContain('out');
  });

  test.each([
    [['mon', '-o', '-'], 2, 'writes files, not to standard output'],
    [['-', '-o', 'out'], 2, 'reads files, not standard input'],
    [['mon', '-o', 'out', '--keep', 'last'], 2, '--keep must be first'],
    [['mon', '-o', 'out', '--cluster', 'components'], 2, '--cluster must be representative'],
    [['mon', '-o', 'out', '--method', 'brute-force'], 2, '--method must be minhash'],
    [['mon', '-o', 'mon'], 2, 'mon'],
    [['missing', '-o', 'out'], 3, 'cannot read missing'],
  ] as const)('%j exits %i and leaves nothing', async (args, status, says) => {
    const folder = days();
    const done = await folder.run(['dedup', ...args, '--index', 'seen']);
    expect(done).toMatchObject({ status, stdout: '', stderr: expect.stringContaining(says) });
    expect(folder.names()).toEqual(['mon', 'tue']);
  });

  test('--dry-run counts and writes nothing', async () => {
    const folder = days();
    const dry = await folder.run(['dedup', 'mon', '--index', 'seen', '--dry-run']);
    expect(dry).toMatchObject({ status: 0 });
    expect(dry.stderr).toContain('read 3 = kept 2 + duplicates 1');
    expect(folder.names()).toEqual(['mon', 'tue']);
  });
});
