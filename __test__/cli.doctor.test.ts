import { spawn } from 'node:child_process';
import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ended, Folder, ROOT } from './cli-run';

const folder = new Folder();

interface Doctor {
  readonly versions: Readonly<Record<string, unknown>>;
  readonly native: { readonly path: string; readonly version: string; readonly optimized: boolean };
  readonly simd: { readonly used: string; readonly available: readonly string[] };
  readonly cores: number;
  readonly hugePages: string;
  readonly dictionary: { readonly words: number; readonly works: boolean };
  readonly encodings: { readonly found: readonly string[] };
}

test('--json says what there is', async () => {
  const { status, stdout, stderr } = await folder.run(['doctor', '--json']);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const told = JSON.parse(stdout) as Doctor;
  const version = told.versions['simhash-native'];
  expect(told.native).toEqual({ path: expect.any(String), version, optimized: true });
  expect(existsSync(told.native.path)).toBe(true);
  expect(told.simd.available).toContain(told.simd.used);
  expect(told.dictionary.works).toBe(true);
  // All of jieba's but one, which no text is cut into.
  expect(told.dictionary.words).toBe(349_044);
  expect(told.encodings.found).toContain('gb18030');
  expect(told.cores).toBeGreaterThan(0);
  expect(told.hugePages).toMatch(/^\w+$/);
});

test('for people a line each, within 80 columns but for paths', async () => {
  const { stdout } = await folder.run(['doctor']);
  for (const name of ['package', 'native part', 'SIMD', 'huge pages', 'dictionary', 'encodings']) {
    expect(stdout).toMatch(new RegExp(`^${name} {2,}\\S`, 'm'));
  }
  const lines = stdout.split('\n').filter((line) => !line.startsWith('native part'));
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(81);
});

test('the instruction set that is asked for is the one in use', async () => {
  const { stdout } = await ended(folder.start(['doctor', '--json'], { SIMHASH_SIMD: 'scalar' }));
  expect((JSON.parse(stdout) as Doctor).simd.used).toBe('scalar');
});

test.each([['foo'], ['AVX2 ']])(
  'an instruction set that nobody knows is named: %j',
  async (asked) => {
    const env = { SIMHASH_SIMD: asked };
    const { status, stdout, stderr } = await ended(folder.start(['doctor'], env));
    expect(status).toBe(0);
    expect(stdout).toMatch(
      new RegExp(`^SIMD +scalar .*, not '${asked}', as SIMHASH_SIMD says$`, 'm'),
    );
    const warning = `Warning: SIMHASH_SIMD is '${asked}', which is no instruction set of this machine: scalar is used`;
    expect(stderr.split(warning)).toHaveLength(2);
    const other = await ended(folder.start(['plan'], env));
    expect(other.stderr).toContain(warning);
  },
);

test('an instruction set that is not named at all is no mistake', async () => {
  const { stderr } = await ended(folder.start(['doctor'], { SIMHASH_SIMD: '' }));
  expect(stderr).toBe('');
});

test('a native part that is missing is said, with what was tried: exit 3', async () => {
  const copy = new Folder();
  const filter = (path: string) => !path.endsWith('.node');
  cpSync(join(ROOT, 'dist'), copy.join('dist'), { recursive: true, filter });
  cpSync(join(ROOT, 'package.json'), copy.join('package.json'));
  const bin = join('dist', 'cli', 'bin.js');
  const child = spawn(process.execPath, [bin, 'doctor'], { cwd: copy.path, stdio: 'pipe' });
  const { status, stdout, stderr } = await ended(child);
  expect(stderr).toMatch(/^error: .* has no native part for /);
  expect(stderr).toContain('Tried: ');
  expect({ status, stdout }).toEqual({ status: 3, stdout: '' });
});
