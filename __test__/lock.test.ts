import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './cli-run';

interface Entry {
  readonly integrity?: string;
  readonly resolved?: string;
  readonly devDependencies?: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
  readonly peerDependencies?: Record<string, string>;
}
const read = (name: string) => JSON.parse(readFileSync(join(ROOT, name), 'utf8'));
const { packages } = read('package-lock.json') as { packages: Record<string, Entry> };
const REMEDY =
  'a copy of package.json and .npmrc in an empty folder, and there: npm install --package-lock-only';

test('the lock has the dependencies of package.json', () => {
  const manifest = read('package.json') as Entry;
  expect(packages['']?.devDependencies, REMEDY).toEqual(manifest.devDependencies);
  expect(packages['']?.peerDependencies, REMEDY).toEqual(manifest.peerDependencies);
});

test('the lock names no registry, and knows each package by its checksum', () => {
  for (const [path, { integrity, resolved }] of Object.entries(packages)) {
    expect({ path, resolved }).toEqual({ path, resolved: undefined });
    // npm leaves the checksums out where it finds the packages installed.
    if (path !== '') expect(integrity ?? REMEDY, path).toMatch(/^sha512-/);
  }
});

test('the lock has what other platforms need, so that a clone installs there too', () => {
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies }]) =>
    Object.keys(optionalDependencies ?? {}).filter(
      (name) => !packages[`node_modules/${name}`] && !packages[`${path}/node_modules/${name}`],
    ),
  );
  expect(missing, 'a registry that lacks them has written the lock').toEqual([]);
  // Both the linter and the test runner are native programs.
  for (const name of ['@biomejs/cli-win32-arm64', '@rolldown/binding-darwin-x64']) {
    expect(packages).toHaveProperty([`node_modules/${name}`]);
  }
});
