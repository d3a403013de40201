import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test.each([
  ['@x/simhash-native', 'Index'],
  ['@x/simhash-native/level', 'KeptIndex'],
  ['@x/simhash-native/mongodb', 'dedupCollection'],
  ['@x/simhash-native/log', 'SharedIndex'],
])('the ES module %s exports what the CommonJS one does, the same classes', (name, known) => {
  // In a process of its own: here the test runner stands between the two module systems.
  const code = `
    import * as module from '${name}';
    import { createRequire } from 'node:module';
    const common = createRequire(process.cwd() + '/x.js')('${name}');
    const names = Object.keys(common).sort();
    console.log(JSON.stringify({
      names: String(Object.keys(module).sort()) === String(names) && names.includes('${known}'),
      same: names.every((name) => module[name] === common[name]),
    }));`;
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', code], {
    cwd: join(__dirname, '..'),
    encoding: 'utf8',
  });
  expect(JSON.parse(printed)).toEqual({ names: true, same: true });
});

test.each(['benches', 'examples', 'scripts'])('every script in %s is of this Node', (folder) => {
  const path = join(__dirname, '..', folder);
  const files = readdirSync(path, { recursive: true, encoding: 'utf8' });
  const scripts = files.filter((file) => /\.[cm]?js$/.test(file));
  expect(scripts).not.toEqual([]);
  for (const script of scripts) {
    execFileSync(process.execPath, ['--check', join(path, script)], { stdio: 'pipe' });
  }
});
