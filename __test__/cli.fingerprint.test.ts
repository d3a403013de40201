import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { Folder, jsonLines, ROOT } from './cli-run';

const A = '望海市地铁四号线二期工程今天贯通，线路全长十六点七公里，设站十二座。';
const folder = new Folder();
const { Fingerprinter, MinHasher, sentences, toHex } = await import(join(ROOT, 'dist', 'index.js'));
const expected = toHex(new Fingerprinter().fingerprint(A)) as string;

test('a line of standard input gives number, fingerprint and beginning, separated by tabs', async () => {
  const { status, stdout, stderr } = await folder.run(['fingerprint'], `${A}\r\n短\n\n\ta\tb`);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toBe(`1\t${expected}\t${A}\n2\t-\t短\n3\t-\t\n4\t-\ta b\n`);
  expect(expected).toMatch(/^[0-9a-f]{16}$/);
});

test('only the first 40 characters are shown, and no control characters', async () => {
  const { stdout } = await folder.run(['fingerprint'], `\u001B[31m${'😀'.repeat(60)}`);
  expect(stdout.split('\t')[2]).toBe(`[31m${'😀'.repeat(36)}\n`);
});

test('ids are printed as they are written, those that JavaScript would round too', async () => {
  const ids = ['1234567890123456789', '1.50', '"\\u7532\\t\\n乙"'];
  folder.write('big.jsonl', ids.map((id) => `{"id":${id},"text":"${A}"}\n`).join(''));
  const { status, stdout } = await folder.run(['fingerprint', 'big.jsonl']);
  const rest = `\t${expected}\t${A}\n`;
  expect([status, stdout]).toEqual([0, `${ids[0]}${rest}1.50${rest}甲 乙${rest}`]);
  const json = await folder.run(['fingerprint', 'big.jsonl', '--json']);
  const lines = ids.map((id) => `{"id":${id},"fingerprint":"${expected}"}\n`);
  expect(json.stdout).toBe(lines.join(''));
});

test('--method prints what that method knows a text by', async () => {
  const of = async (method: string) => {
    const args = ['fingerprint', '--json', '--method', method];
    const { stdout } = await folder.run(args, `${A}\n短\n\n`);
    return jsonLines<{ fingerprint?: string }>(stdout).map(({ fingerprint }) => fingerprint);
  };
  expect(await of('simhash')).toEqual([expected, undefined, undefined]);
  // 24 bands of 5 rows, as for dedup at 0.8.
  const signature = new MinHasher({ hashes: 120 }).signature(A);
  const positions = [...signature].map((value: number) => value.toString(16).padStart(8, '0'));
  expect((await of('minhash'))[0]).toBe(positions.join(''));
  const [sentence] = sentences(A);
  expect((await of('sentences'))[0]?.slice(0, 16)).toBe(toHex(sentence.hash));
  const exact = await of('exact');
  expect(exact).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), expect.any(String), undefined]);
  expect((await of('brute-force'))[0]).toMatch(/^([0-9a-f]{16}){20,}$/);
});

test('JSON lines keep their ids, malformed ones are named and exit 1', async () => {
  const lines = [
    JSON.stringify({ id: 'x', text: A }),
    'oops',
    '{"id":2}',
    '',
    JSON.stringify({ text: A }),
  ];
  folder.write('in.jsonl', lines.join('\n'));
  const { status, stdout, stderr } = await folder.run(['fingerprint', 'in.jsonl']);
  expect(status).toBe(1);
  expect(stdout).toBe(`x\t${expected}\t${A}\n5\t${expected}\t${A}\n`);
  expect(stderr).toMatch(/^in\.jsonl:2: .*\nin\.jsonl:3: no field text\n$/);
});

test('--json prints id and fingerprint, the latter absent for a short text', async () => {
  const { stdout } = await folder.run(['fingerprint', '-', '--json'], `${A}\n短\n`);
  expect(jsonLines(stdout)).toEqual([{ id: 1, fingerprint: expected }, { id: 2 }]);
});

test('several inputs and gzip are read as they come, and nothing is replaced', async () => {
  folder.write('a.gz', gzipSync(`${A}\n`));
  folder.write('b.txt', Buffer.from([0xff, 0xfd, 0x0a]));
  const { status, stdout, stderr } = await folder.run(['fingerprint', 'a.gz', 'b.txt']);
  expect(status).toBe(1);
  expect(stdout).toBe(`a.gz:1\t${expected}\t${A}\n`);
  expect(stderr).toContain('b.txt:1: invalid UTF-8 at byte 1');
});

test('--features and --ngram change the fingerprint', async () => {
  const of = async (...args: string[]) => (await folder.run(['fingerprint', ...args], A)).stdout;
  const outputs = [await of(), await of('--ngram', '3'), await of('--features', 'words')];
  expect(new Set(outputs).size).toBe(3);
  expect(outputs).toEqual([
    expect.stringContaining(expected),
    expect.anything(),
    expect.anything(),
  ]);
});

test('every option of the fingerprinter does what it does in the library', async () => {
  folder.write('words', '云计算 5\n创新办 3 i\n');
  folder.write('stop', '专家\n');
  folder.write('idf', '创新办 3\n主任 2\n云计算 1\n');
  const text = '李小福是创新办主任也是云计算方面的专家，<b>東西</b>很好！';
  const jieba = ['--preset', 'jieba-tfidf'];
  const cases: [args: string[], options: object][] = [
    [jieba, { preset: 'jieba-tfidf' }],
    [[...jieba, '--top-k', '8'], { preset: 'jieba-tfidf', topK: 8 }],
    [[...jieba, '--top-k', 'auto'], { preset: 'jieba-tfidf', topK: 'auto' }],
    [[...jieba, '--no-hmm'], { preset: 'jieba-tfidf', hmm: false }],
    [
      [...jieba, '--dictionary', 'words'],
      { preset: 'jieba-tfidf', dictionary: folder.join('words') },
    ],
    [[...jieba, '--stop-words', 'stop'], { preset: 'jieba-tfidf', stopWords: folder.join('stop') }],
    [[...jieba, '--idf', 'idf'], { preset: 'jieba-tfidf', idf: folder.join('idf') }],
    [
      ['--features', 'jieba', '--weighting', 'binary', '--segmenter', 'jieba-rs'],
      { features: 'jieba', weighting: 'binary', segmenter: 'jieba-rs' },
    ],
    [['--normalize', 'web'], { normalize: 'web' }],
    [['--normalize', 'off,html,case'], { normalize: { base: 'off', html: true, case: true } }],
    [
      ['--normalize', 'microblog,no-emoji,punctuation=fold,whitespace=remove'],
      {
        normalize: { base: 'microblog', emoji: false, punctuation: 'fold', whitespace: 'remove' },
      },
    ],
  ];
  for (const [args, options] of cases) {
    const { status, stdout, stderr } = await folder.run(['fingerprint', '--json', ...args], text);
    expect({ status, stderr }, args.join(' ')).toEqual({ status: 0, stderr: '' });
    const value = new Fingerprinter(options).fingerprint(text);
    const fingerprint = value === undefined ? undefined : toHex(value);
    expect(jsonLines(stdout), args.join(' ')).toEqual([
      { id: 1, ...(fingerprint && { fingerprint }) },
    ]);
  }
});

test('a file of words that cannot be used is named: exit 3', async () => {
  folder.write('bad', '好 1\n坏 x y z\n');
  const jieba = ['fingerprint', '--preset', 'jieba-tfidf', '--dictionary'];
  const bad = await folder.run([...jieba, 'bad'], A);
  expect(bad.stderr).toMatch(/^error: bad: dictionary line 2 must be /);
  const missing = await folder.run([...jieba, 'missing'], A);
  expect(missing.stderr).toMatch(/^error: cannot read missing, given as dictionary/);
  expect([bad.status, missing.status]).toEqual([3, 3]);
});

test('more lines than one batch keep their order and numbers', async () => {
  const { stdout } = await folder.run(['fingerprint'], `${A}\n`.repeat(2_500));
  const numbers = stdout
    .trimEnd()
    .split('\n')
    .map((line) => Number(line.split('\t')[0]));
  expect(numbers).toEqual(Array.from({ length: 2_500 }, (_, row) => row + 1));
});

test.each([['missing.txt'], ['missing.jsonl.gz']])(
  'an input that cannot be read (%s) exits 3',
  async (name) => {
    const { status, stderr } = await folder.run(['fingerprint', name]);
    expect({ status, stderr }).toEqual({
      status: 3,
      stderr: expect.stringMatching(/^error: cannot read /),
    });
  },
);

test('damaged gzip exits 3', async () => {
  folder.write('bad.gz', gzipSync(A.repeat(100)).subarray(0, 60));
  const { status, stderr } = await folder.run(['fingerprint', 'bad.gz']);
  expect(stderr).toContain('cannot read bad.gz');
  expect(status).toBe(3);
});
