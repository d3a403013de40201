/** An input of which no record can be used is an error that says what to do, and replaces nothing. */
import { beforeAll, expect, test } from 'vitest';
import { dedupFiles } from '..';
import { Folder } from './cli-run';

const RECORD = '{"id":1,"text":"今天多云转小雨，请带伞。"}\n';

function precious(content: string): Folder {
  const folder = new Folder();
  folder.write('in', content);
  folder.write('good', RECORD);
  folder.write('out', 'precious');
  return folder;
}

/** An index of that record. */
const there = new Folder();
there.write('good', RECORD);
beforeAll(async () => {
  await there.run(['index', 'build', 'i', 'good']);
});

const COMMANDS = [
  ['dedup', 'in', '-o', 'out'],
  ['dedup', 'in', '-o', 'out', '--mark', '--keep', 'longest'],
  ['clusters', 'in', '-o', 'out'],
  ['pairs', 'in', '-o', 'out'],
  ['match', 'in', '--against', 'good', '-o', 'out'],
  ['match', 'good', '--against', 'in', '-o', 'out'],
  ['index', 'build', 'i', 'in'],
  ['index', 'query', there.join('i'), 'in', '-o', 'out'],
];

test.each(COMMANDS)('%s %s %s %s: text lines exit 3', async (...args) => {
  const folder = precious('第一条\n第二条\n');
  const { status, stdout, stderr } = await folder.run(args);
  expect({ status, stdout }).toEqual({ status: 3, stdout: '' });
  expect(stderr).toMatch(
    /^error: all 2 records were rejected, the first is in:1: .*name that format/m,
  );
  expect(folder.read('out')).toBe('precious');
  expect(folder.names()).toEqual(['good', 'in', 'out']);
});

test.each(COMMANDS)('%s %s %s %s: another field exits 3 and is named', async (...args) => {
  const folder = precious('{"id":1,"body":"一段较长的文字","title":"短"}\n');
  const { status, stderr } = await folder.run(args);
  expect(status).toBe(3);
  expect(stderr).toMatch(/the only record was rejected, in:1: no field text/);
  expect(stderr).toContain('fields id, body, title');
  expect(stderr).toContain('--text-field body');
  expect(folder.read('out')).toBe('precious');
});

test.each(COMMANDS.filter(([name, own]) => name !== 'match' && own !== 'query'))(
  '%s %s %s %s: an empty input is no error',
  async (...args) => {
    const folder = precious('');
    expect((await folder.run(args)).status).toBe(0);
    if (args[0] === 'index') expect(folder.names()).toContain('i');
    else expect(folder.read('out')).not.toBe('precious');
  },
);

test('the rejects are written, because they say why', async () => {
  const folder = precious('x\ny\n');
  const { status } = await folder.run(['dedup', 'in', '-o', 'out', '--rejects', 'rejects']);
  expect(status).toBe(3);
  expect(folder.records('rejects')).toHaveLength(2);
  expect(folder.read('out')).toBe('precious');
});

test('dedupFiles rejects with a code of its own', async () => {
  const folder = precious('x\n');
  const run = dedupFiles(folder.join('in'), folder.join('out'));
  await expect(run).rejects.toMatchObject({
    name: 'SimHashError',
    code: 'ERR_SIMHASH_NO_RECORDS',
  });
  expect(folder.read('out')).toBe('precious');
});
