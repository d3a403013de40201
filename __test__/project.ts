/** A project that has installed this package and a store: `npx @x/simhash-native` runs the built command line there. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BIN, type Folder, ROOT } from './cli-run';

/** Makes one of a folder. */
export function project(folder: Folder): void {
  folder.write('package.json', '{ "private": true }\n');
  const modules = join(folder.path, 'node_modules');
  for (const name of ['@x', '@types', '.bin']) mkdirSync(join(modules, name), { recursive: true });
  symlinkSync(ROOT, join(modules, '@x', 'simhash-native'));
  for (const name of ['@types/node', 'memory-level'])
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  writeFileSync(join(modules, '.bin', 'simhash-native'), `#!/bin/sh\nexec node '${BIN}' "$@"\n`, {
    mode: 0o755,
  });
}
