/** The command line on files of every format. */
import { existsSync, mkdirSync } from 'node:fs';
import { zstdDecompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { dedupFiles } from '..';
import { Folder, jsonLines } from './cli-run';
import { gb18030 } from './shapes';

const folder = new Folder();
const NEWS = '今天上午北京市召开新闻发布会介绍城市交通建设的最新进展情况';
const OTHER = '第一季度营业收入同比增长百分之十二净利润同比增长百分之八';
/** "今天，天气" and a comma in GB18030, which Node cannot write. */
const GBK = Buffer.from('bdf1ccec2cccecc6f8', 'hex');

test('rows from a spreadsheet in GB18030 come out as they went in', async () => {
  const row = (id: number) => Buffer.concat([Buffer.from(`${id},"`), GBK, Buffer.from('"\r\n')]);
  const head = Buffer.from('id,text\r\n');
  folder.write('in.csv', Buffer.concat([head, row(1), row(2)]));
  const { status, stderr } = await folder.run(['dedup', 'in.csv', '-o', 'out.csv']);
  expect(status).toBe(0);
  expect(stderr).toContain('in.csv is read as gb18030\n');
  expect(stderr).toContain('read 2 = kept 1 + duplicates 1 + rejected 0');
  const same = await folder.run(['dedup', 'in.csv', '-o', '-', '--output-encoding', 'utf-8']);
  expect(same.stdout).toBe('id,text\r\n1,"今天,天气"\r\n');
  const [out, expected] = [folder.read('out.csv'), Buffer.concat([head, row(1)])];
  expect(out).toBe(expected.toString());
});

test('a folder of texts gives JSON lines, or the paths of those that are kept', async () => {
  mkdirSync(folder.join('texts/2024'), { recursive: true });
  folder.write('texts/a.txt', NEWS);
  folder.write('texts/2024/b.txt', `${NEWS}。`);
  folder.write('texts/c.html', `<p>${OTHER}</p>`);
  const { stdout } = await folder.run(['dedup', 'texts', '-o', '-']);
  expect(jsonLines(stdout)).toEqual([
    { id: 'texts/2024/b.txt', text: `${NEWS}。` },
    { id: 'texts/c.html', text: OTHER },
  ]);
  const list = await folder.run(['dedup', 'texts', '--list', '-o', '-']);
  expect(list.stdout).toBe('texts/2024/b.txt\ntexts/c.html\n');
});

test('files of a folder are read in encodings of their own, told by number', async () => {
  mkdirSync(folder.join('gbk'));
  folder.write('gbk/1.txt', gb18030(`${NEWS}责任编辑：甲甲甲甲甲甲甲甲甲甲甲甲甲甲`));
  folder.write('gbk/2.txt', gb18030(`${NEWS}责任编辑：乙乙乙乙乙乙乙乙乙乙乙乙乙乙乙乙乙乙`));
  folder.write('gbk/3.txt', gb18030('收到'));
  folder.write('gbk/4.txt', OTHER);
  folder.write('gbk/5.txt', Buffer.from('ff41ffff', 'hex'));
  const { stdout, stderr, status } = await folder.run([
    'dedup',
    'gbk',
    '-o',
    '-',
    '--list',
    '--cut-after',
    '责任编辑',
  ]);
  expect(stdout).toBe('gbk/1.txt\ngbk/3.txt\ngbk/4.txt\n');
  expect(stderr).toContain('3 files of gbk are read as gb18030\n');
  expect(stderr).toContain(
    'gbk/5.txt: its bytes are no text in the encoding that is named or found',
  );
  expect(status).toBe(1);
});

test('kept files are copied, those of a quoted pattern too, and nothing is replaced', async () => {
  for (const [input, to] of [
    ['texts', 'copies'],
    ['texts/**/*.*', 'more'],
  ] as const) {
    const format = ['--format', 'files', '--copy', to];
    expect((await folder.run(['dedup', input, ...format])).status).toBe(0);
    expect(folder.read(`${to}/2024/b.txt`)).toBe(`${NEWS}。`);
    expect(folder.read(`${to}/c.html`)).toBe(`<p>${OTHER}</p>`);
    expect(existsSync(folder.join(`${to}/a.txt`))).toBe(false);
    const again = await folder.run(['dedup', input, ...format]);
    expect(again.status).toBe(3);
    expect(again.stderr).toContain('nothing is replaced');
  }
  const both = await folder.run(['dedup', 'texts', '--copy', 'x', '-o', 'y']);
  expect([both.status, existsSync(folder.join('x'))]).toEqual([2, false]);
  await expect(dedupFiles(folder.join('texts'), folder.join('y'), { copy: 'x' })).rejects.toThrow(
    'copy must be left out beside output',
  );
});

test('files of a pattern are inputs, and pairs and clusters may be rows', async () => {
  folder.write('part-1.jsonl', `{"id":"a,1","text":"${NEWS}"}\n`);
  folder.write('part-2.jsonl', `{"id":2,"text":"${NEWS}"}\n`);
  const { stdout } = await folder.run(['dedup', 'part-[12].jsonl', '-o', '-']);
  expect(jsonLines(stdout)).toEqual([{ id: 'a,1', text: NEWS }]);
  await folder.run(['pairs', 'part-?.jsonl', '-o', 'pairs.csv']);
  expect(folder.read('pairs.csv')).toBe('a,b,similarity,distance,truncated\n"a,1",2,1.0,,\n');
  await folder.run(['clusters', 'part-*.jsonl', '-o', 'clusters.tsv']);
  expect(folder.read('clusters.tsv')).toBe(
    'representative\tid\tsimilarity\tdistance\na,1\ta,1\t\t\na,1\t2\t1.0\t\n',
  );
  const none = await folder.run(['dedup', 'no-*.jsonl', '-o', '-']);
  expect(none.status).toBe(3);
  expect(none.stderr).toContain('no file has a name like this');
});

test('lines, an array, rows without a header, and what ends in .zst', async () => {
  folder.write('in.txt', `${NEWS}\n${OTHER}\n${NEWS}\n`);
  await folder.run(['dedup', 'in.txt', '-o', 'out.txt.zst']);
  if (typeof zstdDecompressSync === 'function') {
    const { readFileSync } = await import('node:fs');
    const unpacked = zstdDecompressSync(readFileSync(folder.join('out.txt.zst')));
    expect(unpacked.toString()).toBe(`${NEWS}\n${OTHER}\n`);
  }
  const again = await folder.run(['dedup', 'out.txt.zst', '-o', '-']);
  expect(again.stdout).toBe(`${NEWS}\n${OTHER}\n`);

  folder.write('in.json', JSON.stringify([{ text: NEWS }, { text: NEWS }], undefined, 2));
  const array = await folder.run(['dedup', 'in.json', '-o', '-']);
  expect(JSON.parse(array.stdout)).toEqual([{ text: NEWS }]);

  folder.write('rows.csv', `7;x;${NEWS}\n8;y;${NEWS}\n`);
  const rows = ['--no-header', '--delimiter', ';', '--text-field', '3', '--id-field', '1'];
  const clusters = await folder.run(['clusters', 'rows.csv', ...rows]);
  expect(jsonLines(clusters.stdout)).toMatchObject([{ representative: '7' }]);
});

test('what inputs cannot have is a usage error, and a bad file is named', async () => {
  folder.write('u.csv', `id,text\n1,${NEWS}\n`);
  folder.write('v.csv', `text,id\n${NEWS},1\n`);
  folder.write('open.csv', `id,text\n1,"${NEWS}\n`);
  folder.write('semicolon.csv', `id;text\n1;${NEWS}\n`);
  folder.write('tab.csv', `id\ttext\n1\t${NEWS}\n`);
  folder.write('a.csv', Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(40)]));
  folder.write('a.jsonl', `${JSON.stringify({ text: NEWS })}\n`);
  folder.write('a.tsv', `id\ttext\n1\t${NEWS}\n`);
  folder.write('in.txt', `${NEWS}\n`);
  for (const [args, status, told] of [
    [['dedup', 'u.csv', '--mark', '-o', 'x.csv'], 2, '--mark must be left out'],
    [['dedup', 'u.csv', '-o', 'x.jsonl'], 2, '-o must be a name for the format'],
    [['dedup', 'u.csv', '--list', '-o', 'x'], 2, '--list must be left out'],
    [['dedup', 'u.csv', 'v.csv', '-o', 'x.csv'], 2, 'files with the same columns'],
    [['dedup', 'u.csv', '--encoding', 'klingon', '-o', 'x'], 2, '--encoding must be an encoding'],
    [['dedup', 'u.csv', '--max-record', '1T', '-o', 'x'], 2, '--max-record must be'],
    [['dedup', 'open.csv', '-o', 'x.csv'], 3, 'on line 2 is never closed'],
    [['dedup', 'u.csv', '--text-field', 'body', '-o', 'x.csv'], 3, 'its columns are id, text'],
    [['dedup', 'u.csv', '-o', 'x.csv.xz'], 3, 'bzip2 and xz are read, not written'],
    [
      ['dedup', 'u.csv', '--text-field', 'body', '-o', 'x.csv'],
      3,
      'name a column by --text-field NAME, or set --no-header if the first row is a record',
    ],
    [
      ['dedup', 'semicolon.csv', '-o', 'x.csv'],
      3,
      "set --delimiter ';' if that is between the fields",
    ],
    [['dedup', 'tab.csv', '-o', 'x.csv'], 3, 'set --delimiter tab if that is between the fields'],
    [['dedup', 'u.csv', '--no-header', '-o', 'x'], 3, 'name a column by --text-field 1'],
    [['dedup', 'a.csv', '-o', 'x.csv'], 3, 'a.csv: it is a ZIP archive; unpack it first'],
    [['dedup', 'a.jsonl', '--no-header', '-o', 'x'], 2, '--no-header must be left out: only CSV'],
    [['dedup', 'a.jsonl', '--delimiter=,', '-o', 'x'], 2, 'got a.jsonl (JSON lines)'],
    [['dedup', 'a.tsv', '--delimiter', ';', '-o', 'x'], 2, '--delimiter must be left out: TSV has'],
    [
      ['dedup', 'in.txt', '--text-field', 'body', '-o', 'x'],
      2,
      '--text-field must be left out: lines',
    ],
    [['segment', 'in.txt', '--no-header'], 2, '--no-header must be left out: only CSV'],
    [['index', 'build', 'x', 'a.jsonl', '--delimiter=;'], 2, '--delimiter must be left out'],
    [
      ['match', 'a.jsonl', '--against', 'a.jsonl', '-o', 'x.csv'],
      2,
      '-o must be a name for JSON lines',
    ],
    [['segment', 'in.txt', '-o', 'x.csv'], 2, '-o must be a name for lines of text, as x.txt'],
    [['segment', 'in.txt', '-o', 'x.jsonl'], 2, 'unless JSON lines are asked for'],
    [['clusters', 'a.jsonl', '-o', 'x.arrow'], 2, '-o must be a name for JSON lines, CSV or TSV'],
    [['pairs', 'a.jsonl', '-o', 'x.parquet'], 2, '-o must be a name for JSON lines, CSV or TSV'],
    [['dedup', 'a.jsonl', '-o', 'x', '--rejects', 'x.tsv'], 2, '--rejects must be a name for JSON'],
  ] as const) {
    const ended = await folder.run(args);
    expect({ args, status: ended.status }).toEqual({ args, status });
    expect(ended.stderr).toContain(told);
  }
  expect(folder.names().filter((name) => name.startsWith('x'))).toEqual([]);
});

test('any sign may stand between the fields of CSV', async () => {
  for (const [typed, sign] of [
    ['|', '|'],
    ['tab', '\t'],
    ['\\t', '\t'],
    ['^', '^'],
    ['_', '_'],
    [' ', ' '],
  ] as const) {
    folder.write('sign.csv', `id${sign}text\n1${sign}${NEWS}\n2${sign}${NEWS}\n`);
    const args = ['dedup', 'sign.csv', '-o', '-', '--delimiter', typed];
    const { stdout } = await folder.run(args);
    expect(stdout).toBe(`id${sign}text\n1${sign}${NEWS}\n`);
  }
});

test('the library says the same of options that are for no input, in its own names', async () => {
  folder.write('api.jsonl', `${JSON.stringify({ text: NEWS })}\n`);
  const file = folder.join('api.jsonl');
  for (const [option, value] of [
    ['header', false],
    ['delimiter', ';'],
  ] as const) {
    const run = dedupFiles(file, undefined, { dryRun: true, [option]: value });
    await expect(run).rejects.toMatchObject({
      name: 'TypeError',
      code: 'ERR_INVALID_ARG_VALUE',
      message: expect.stringMatching(
        new RegExp(`^${option} must be left out: only CSV .*, got ${file} \\(JSON lines\\)$`),
      ),
    });
  }
  folder.write('api.csv', `id|text\n1|${NEWS}\n`);
  await expect(dedupFiles(folder.join('api.csv'), undefined, { dryRun: true })).rejects.toThrow(
    "set `delimiter: '|'` if that is between the fields, name a column by `textField: 'NAME'`, or set `header: false`",
  );
});

test('many inputs of one encoding are one line', async () => {
  const names = Array.from({ length: 20 }, (_, n) => `many-${n}.txt`);
  for (const name of names) folder.write(name, gb18030(`${NEWS}${name}\n`));
  folder.write('wide.txt', Buffer.from(`\uFEFF${NEWS}\n`, 'utf16le'));
  const args = ['dedup', ...names, 'wide.txt', '--format', 'lines', '-o', '-'];
  const { stderr } = await folder.run(args);
  expect(stderr.split('\n').filter((line) => line.includes(' read as '))).toEqual([
    '20 inputs are read as gb18030: many-0.txt, many-1.txt, many-2.txt, …',
    'wide.txt is read as UTF-16LE',
  ]);
});

test('dedupFiles joins fields, cuts texts and tells encodings', async () => {
  const line = (title: string, body: string) => `${JSON.stringify({ title, body })}\n`;
  const records = line('甲', `${NEWS}编辑：某`) + line('甲', `${NEWS}编辑：另一位先生在北京报道`);
  folder.write('joined.jsonl', Buffer.from(`\uFEFF${records}`, 'utf16le'));
  const files = [folder.join('joined.jsonl'), folder.join('joined.out')] as const;
  const options = { textField: ['title', 'body'], cutAfter: '编辑：' };
  const summary = await dedupFiles(...files, options);
  expect(summary).toMatchObject({ read: 2, kept: 1 });
  expect(summary.encodings).toEqual([{ file: files[0], encoding: 'UTF-16LE' }]);
  const bytes = (await import('node:fs')).readFileSync(files[1]);
  expect(bytes.toString('utf16le')).toBe(`\uFEFF${line('甲', `${NEWS}编辑：某`)}`);
});
