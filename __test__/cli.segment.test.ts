/** The command `segment`: words of files. */
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { cut } from '..';
import { Folder, jsonLines, SAMPLE } from './cli-run';

const folder = new Folder();
const A = '望海港本月开通了一条直达南美西海岸的集装箱航线。';
const line = (text: string) =>
  cut(text)
    .filter((word) => !/^[\s\p{Cc}]*$/u.test(word))
    .join(' ');

test('a line of words for each line of standard input, white space left out', async () => {
  const { status, stdout, stderr } = await folder.run(
    ['segment', '-q'],
    `${A}\r\n\n\ta  b\u3000c\n`,
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toBe(`${line(A)}\n\na b c\n`);
});

test('--json has ids, and words that joined are the text', async () => {
  const texts = [A, 'a "b" \\ \n\t\u0001 😀', ''];
  folder.write('in.jsonl', texts.map((text, id) => `${JSON.stringify({ id, text })}\n`).join(''));
  const { stdout } = await folder.run(['segment', 'in.jsonl', '--json', '-q']);
  expect(jsonLines(stdout)).toEqual(texts.map((text, id) => ({ id, words: cut(text) })));
});

test('the sample: every record, in order, as cut has it; the summary says how many', async () => {
  const { status, stderr } = await folder.run(['segment', SAMPLE, '--json', '-o', 'words.jsonl']);
  const sample = jsonLines<{ id: string; text: string }>(readFileSync(SAMPLE, 'utf8'));
  expect(folder.records('words.jsonl')).toEqual(
    sample.map(({ id, text }) => ({ id, words: cut(text) })),
  );
  expect(stderr).toContain('read 303 = documents 303 + rejected 0');
  expect(status).toBe(0);
});

test('fields, encodings and compression are those of other commands', async () => {
  const gbk = Buffer.from([0xcd, 0xfb, 0xba, 0xa3, 0xb8, 0xdb]); // 望海港
  folder.write('in.csv.gz', gzipSync(Buffer.concat([Buffer.from('no,body\n7,'), gbk])));
  const args = ['--text-field', 'body', '--id-field', 'no', '--encoding', 'gbk', '--json', '-q'];
  const { stdout } = await folder.run(['segment', 'in.csv.gz', ...args]);
  expect(jsonLines(stdout)).toEqual([{ id: '7', words: cut('望海港') }]);
});

test('a dictionary and --no-hmm do what they do in the library', async () => {
  folder.write('own', '集装箱航线 100\n');
  const own = await folder.run(['segment', '--dictionary', 'own', '-q'], A);
  expect(own.stdout).toBe(`${cut(A, { dictionary: ['集装箱航线 100'] }).join(' ')}\n`);
  expect(own.stdout).toContain(' 集装箱航线 ');
  const name = '他来到了网易杭研大厦';
  const plain = await folder.run(['segment', '--no-hmm', '-q'], name);
  expect(plain.stdout).toBe(`${cut(name, { hmm: false }).join(' ')}\n`);
  expect(plain.stdout).not.toBe((await folder.run(['segment', '-q'], name)).stdout);
});

test('malformed records are named, written to the rejects, and exit 1', async () => {
  folder.write('bad.jsonl', `${JSON.stringify({ text: A })}\noops\n`);
  const { status, stdout, stderr } = await folder.run(['segment', 'bad.jsonl', '--rejects', 'no']);
  expect({ status, stdout }).toEqual({ status: 1, stdout: `${line(A)}\n` });
  expect(stderr).toContain('bad.jsonl:2: ');
  expect(folder.records('no')).toMatchObject([{ line: 2, raw: 'oops' }]);
});

test('an output that fails leaves nothing, and misuse exits 2', async () => {
  const missing = await folder.run(['segment', 'absent.txt', '-o', 'none']);
  expect(missing.status).toBe(3);
  expect(folder.names()).not.toContain('none');
  const twice = await folder.run(['segment', '-', '-']);
  expect(twice).toMatchObject({ status: 2, stderr: expect.stringContaining('only once') });
});
