import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Folder, ROOT } from './cli-run';

const { Index } = (await import(join(ROOT, 'dist', 'index.js'))) as typeof import('../ts');
const folder = new Folder();

interface Row {
  readonly plan: string;
  readonly auto: boolean;
  readonly bytesPerFingerprint: number;
  readonly lookups: number;
  readonly candidates: number;
  readonly bytes: number;
  readonly microseconds: number;
}

async function rows(...args: string[]): Promise<Row[]> {
  const { status, stdout } = await folder.run(['plan', '--json', ...args]);
  expect(status).toBe(0);
  return (JSON.parse(stdout) as { plans: Row[] }).plans;
}

test.each([
  ['3', '50000000'],
  ['3', '500000000'],
  ['8', '1000000'],
])('at distance %s among %s, the arrow marks the plan that auto chooses', async (k, count) => {
  const { status, stdout, stderr } = await folder.run(['plan', '--max-distance', k, '-n', count]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const auto = Index.plan({ maxDistance: Number(k), capacity: Number(count) });
  const marked = stdout.split('\n').filter((line) => line.startsWith('→'));
  expect(marked.map((line) => line.split(/ +/).slice(1, 3))).toEqual([
    [auto.plan, `${auto.tables}`],
  ]);
  expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThan(81);
});

test('--json has the figures of the library, and what they come to', async () => {
  for (const row of await rows('--max-distance', '3', '--count', '50000000')) {
    const size = { capacity: 50_000_000, count: 50_000_000, texts: false } as const;
    const estimate = Index.plan({ maxDistance: 3, ...size, plan: row.plan });
    expect(row).toMatchObject({ ...estimate, tableBits: [...estimate.tableBits] });
    expect(row.bytes).toBeCloseTo(estimate.bytesPerFingerprint * 50_000_000);
    expect(row.microseconds).toBeGreaterThan(0);
  }
});

test.each(['3', '8', '10'])(
  'at distance %s more memory is shown only where it buys time, auto and classic aside',
  async (k) => {
    const all = await rows('--max-distance', k);
    expect(all.filter(({ auto }) => auto)).toHaveLength(1);
    expect(all.filter(({ plan }) => plan === `k${k}-classic`)).toHaveLength(1);
    const chosen = all.filter(({ plan, auto }) => !auto && plan !== `k${k}-classic`);
    expect(chosen.length).toBeGreaterThan(0);
    for (const [at, row] of chosen.slice(1).entries()) {
      expect(row.bytes).toBeGreaterThanOrEqual(chosen[at]?.bytes ?? Number.NaN);
      expect(row.microseconds).toBeLessThan(chosen[at]?.microseconds ?? Number.NaN);
    }
  },
);

test('--plan shows one plan, by name or as classic', async () => {
  expect((await rows('--plan', 'k3-t6')).map(({ plan }) => plan)).toEqual(['k3-t6']);
  const [classic] = await rows('--plan', 'classic', '--max-distance', '3');
  expect(classic?.plan).toBe('k3-classic');
});

test('an unknown plan exits 2 and says what would be right', async () => {
  const { status, stderr } = await folder.run(['plan', '--plan', 'k3-t99']);
  expect(status).toBe(2);
  expect(stderr).toContain('k3-t99');
  expect(stderr).toContain('k3-t6');
});

test('where reading all is cheaper, that is what the table says', async () => {
  const { stdout } = await folder.run(['plan', '-n', '100', '--max-distance', '3']);
  expect(stdout).toMatch(/^→ .* scan /m);
});

test('without a method all are shown, as Index.plan has them', async () => {
  const args = ['plan', '-n', '5000', '--average-length', '600'];
  const { status, stdout } = await folder.run(args);
  expect(status).toBe(0);
  const { choices } = Index.plan({ count: 5_000, averageLength: 600 });
  const lines = stdout.trim().split('\n').slice(1);
  expect(lines.map((line) => line.split(/ +/).slice(0, 2))).toEqual(
    choices.map(({ method, texts }) => [method, texts ? 'stored' : '-']),
  );
  const json = await folder.run([...args, '--json']);
  expect(JSON.parse(json.stdout)).toMatchObject({ count: 5_000, choices });
});

test.each(['minhash', 'sentences', 'exact'] as const)('%s alone', async (method) => {
  const { stdout } = await folder.run(['plan', '--method', method]);
  const rows = stdout.split('\n').filter((line) => line.startsWith(method));
  expect(rows).toHaveLength(method === 'exact' ? 1 : 2);
  for (const other of ['simhash', 'stored -']) expect(stdout).not.toContain(other);
});

test('of minhash it is shown what its bands find', async () => {
  const { stdout } = await folder.run(['plan', '--bands', '16', '--rows', '8']);
  const { recall, half, curve } = Index.plan({ bands: 16, rows: 8 });
  expect(stdout).toContain(
    `16 bands of 8 rows: at similarity 0.8 ${(100 * recall).toFixed(2)} % of the pairs share one, at ${half.toFixed(2)} half of them`,
  );
  const at = (100 * (curve[14]?.probability ?? 0)).toFixed(2);
  expect(stdout).toMatch(new RegExp(`^0\\.7 +${at} %$`, 'm'));
});

test.each([
  [['plan', '--rows', '3'], '--bands and --rows must be given together'],
  [['plan', '--plan', 'auto', '--method', 'exact'], '--plan is for method'],
  [['plan', '--method', 'brute-force'], '--method must be minhash'],
])('%j exits 2', async (args, says) => {
  const { status, stdout, stderr } = await folder.run(args);
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toContain(says);
});
