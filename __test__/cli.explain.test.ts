import { expect, test } from 'vitest';
import { Folder, SAMPLE } from './cli-run';

const A =
  '望海市地铁四号线二期工程今天贯通，线路全长十六点七公里，设站十二座，从老火车站一直通到滨海新区，最难的一段在入海口下方。';
const A2 = A.replace('今天', '昨日');
const B = '白石镇中心小学的学生本周吃上了自己种的萝卜，一共收了六百多斤。';
const folder = new Folder();

test('near-duplicates are told with what differs', async () => {
  const { status, stdout } = await folder.run(['explain', A, A2]);
  expect(status).toBe(0);
  expect(stdout).toMatch(/^near-duplicates: /);
  expect(stdout).toMatch(/^only in A .*今天/m);
  expect(stdout).toMatch(/^only in B .*昨日/m);
});

test('what differs in characters comes first, behind the verdict', async () => {
  const { stdout } = await folder.run(['explain', A, A2]);
  const [verdict, difference, place] = stdout.split('\n');
  expect(verdict).toMatch(/^near-duplicates: /);
  expect(difference).toBe('difference   1 change');
  expect(place).toBe('  …市地铁四号线二期工程[-今天-]{+昨日+}贯通，线路全长十六点…');
  const json = await folder.run(['explain', A, A2, '--json']);
  expect(JSON.parse(json.stdout)).toMatchObject({
    difference: [{ at: A.indexOf('今天'), removed: '今天', added: '昨日' }],
  });
});

test('of long texts it is told where runs of five characters say less than the features', async () => {
  const text = (step: number) =>
    Array.from({ length: 500 }, (_, n) => String.fromCharCode(0x4e00 + ((n * step) % 20))).join('');
  const long = await folder.run(['explain', text(1), text(1) + text(3)]);
  expect(long.stdout).toMatch(/^similarity {3}0\.\d+ \(Jaccard of runs of five characters\)$/m);
  const short = await folder.run(['explain', A, A2]);
  expect(short.stdout).toMatch(/^similarity {3}0\.\d+ \(Jaccard of the features\)$/m);
});

test('different texts are told apart', async () => {
  const { status, stdout } = await folder.run(['explain', A, B]);
  expect(status).toBe(0);
  expect(stdout).toMatch(/^not duplicates: similarity 0\.\d+ is below 0\.8\n/);
  const near = await folder.run(['explain', A, B, '--max-distance', '8']);
  expect(near.stdout).toMatch(/^not duplicates: distance \d+ is above 8/);
});

test('the verdict is what dedup with the same options decides', async () => {
  // As similar as the default asks for, and farther apart than 3 bits.
  const far = `【转载】${A}`;
  const cases = [
    [],
    ['--max-distance', '3'],
    ['--max-distance', '16'],
    ['--min-similarity', '0.97'],
    ['--method', 'sentences', '--sentences', '1'],
    ['--method', 'brute-force', '--min-similarity', '0.5'],
    ['--method', 'exact'],
    ['--bands', '40', '--rows', '2', '--verify', 'containment'],
  ];
  const pairs = [A2, far, B].map((b) => [A, b] as const);
  for (const [a, b] of [...pairs, ['哈哈哈', '哈哈哈哈'], ['短文', '短文']] as const) {
    folder.write('two', [a, b].map((text) => `${JSON.stringify({ text })}\n`).join(''));
    for (const args of cases) {
      const dedup = await folder.run(['dedup', 'two', '--dry-run', '--json', ...args]);
      const explain = await folder.run(['explain', a, b, '--json', ...args]);
      const { duplicates } = JSON.parse(dedup.stdout) as { duplicates: number };
      const verdict = JSON.parse(explain.stdout) as { duplicates: boolean };
      expect({ a, b, args, duplicates: verdict.duplicates }).toEqual({
        ...{ a, b, args },
        duplicates: duplicates > 0,
      });
    }
  }
});

test.each([
  [
    'minhash',
    /^near-duplicates: similarity 0\.\d+ is at least 0\.8, and \d+ of 24 bands are equal$/m,
  ],
  [
    'simhash',
    /^near-duplicates: distance \d is at most 8 and similarity 0\.\d+ is at least 0\.8$/m,
  ],
  [
    'sentences',
    /^not duplicates: similarity 0\.\d+ is at least 0\.8, but 0 of 1 longest sentences are equal$/m,
  ],
  ['brute-force', /^near-duplicates: similarity 0\.\d+ is at least 0\.8$/m],
  ['exact', /^not duplicates: not equal after normalisation/m],
])('by %s it is told what the method looked at', async (method, says) => {
  const { status, stdout } = await folder.run(['explain', A, A2, '--method', method]);
  expect(status).toBe(0);
  expect(stdout).toMatch(says);
});

test('without verification what the method proposes decides', async () => {
  const near = await folder.run(['explain', A, A2, '--verify', 'off']);
  expect(near.stdout).toMatch(/^near-duplicates: \d+ of 24 bands are equal; not verified\n/);
  const far = await folder.run(['explain', A, B, '--min-similarity', '0']);
  expect(far.stdout).toMatch(/^not duplicates: 0 of 24 bands are equal; not verified\n/);
});

test('another measure is named', async () => {
  const { stdout } = await folder.run(['explain', A, A2, '--verify', 'edit']);
  expect(stdout).toMatch(/^near-duplicates: edit similarity 0\.\d+ is at least 0\.8, and /);
});

test('the limits decide', async () => {
  const strict = await folder.run([
    'explain',
    A,
    A2,
    '--max-distance',
    '16',
    '--min-similarity',
    '0.99',
  ]);
  expect(strict.stdout).toMatch(/^not duplicates: .* but similarity 0\.\d+ is below 0\.99/);
  const loose = await folder.run([
    'explain',
    A,
    A2,
    '--max-distance',
    '16',
    '--min-similarity',
    '0',
  ]);
  expect(loose.stdout).toMatch(/^near-duplicates: .*not verified/);
});

test('short texts are compared by equality where a distance judges, else by similarity', async () => {
  const told = async (...args: string[]) => (await folder.run(['explain', ...args])).stdout;
  const titles = ['长风渡口EP01', '长风渡口EP02'];
  expect(await told('ＯＫ', 'ok ')).toMatch(/^near-duplicates: equal/);
  expect(await told(...titles)).toMatch(/^not duplicates: similarity 0\.000 is below 0\.8\n/);
  expect(await told(...titles)).toContain(
    'similarity   0.000 (Jaccard of the features, 0.400, and the numbers differ)\nnumbers      1  |  2\n',
  );
  expect(await told(...titles, '--max-distance', '8')).toMatch(/^not duplicates: too short/);
});

test('--in takes ids of a file', async () => {
  const { stdout } = await folder.run(['explain', '--in', SAMPLE, 'd045', 'd062']);
  expect(stdout).toMatch(/^not duplicates: /);
  const missing = await folder.run(['explain', '--in', SAMPLE, 'd045', 'nobody']);
  expect(missing).toMatchObject({ status: 2, stdout: '' });
  expect(missing.stderr).toContain("no record with id 'nobody'");
  const unreadable = await folder.run(['explain', '--in', 'missing', 'a', 'b']);
  expect(unreadable).toMatchObject({ status: 3, stdout: '' });
});

test('--json holds the verdict and the explanation', async () => {
  const { stdout } = await folder.run(['explain', A, A2, '--json']);
  const told = JSON.parse(stdout) as {
    duplicates: boolean;
    fingerprints: string[];
    jaccard: number;
  };
  expect(told.duplicates).toBe(true);
  expect(told.jaccard).toBeGreaterThan(0.8);
  for (const fingerprint of told.fingerprints) expect(fingerprint).toMatch(/^[0-9a-f]{16}$/);
});
