import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Folder, ROOT } from './cli-run';

const path = join(ROOT, 'THIRD-PARTY.md');

function check(file: string) {
  const args = [join(ROOT, 'scripts', 'third-party.mjs'), '--check', file];
  const { stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  return { stderr, status };
}

test('THIRD-PARTY.md has every crate that is linked on any platform, with its licence and its text', () => {
  expect(check(path)).toEqual({ stderr: '', status: 0 });
});

test('a crate that is missing there is named', () => {
  const text = readFileSync(path, 'utf8');
  const row = /^\| rayon \| .*\n/m.exec(text)?.[0] ?? 'none';
  const folder = new Folder();
  const without = folder.join(folder.write('without.md', text.replace(row, '')));
  const { stderr, status } = check(without);
  expect(status).toBe(1);
  expect(stderr).toContain(`missing: ${row.trim()}`);
});
