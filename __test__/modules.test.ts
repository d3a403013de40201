import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('the ES module exports what the CommonJS one does, the same classes', () => {
  // In a process of its own: here the test runner stands between the two module systems.
  const code = `
    import * as module from '@x/simhash-native';
    import { createRequire } from 'node:module';
    const common = createRequire(process.cwd() + '/x.js')('@x/simhash-native');
    const names = Object.keys(common).sort();
    console.log(JSON.stringify({
      names: String(Object.keys(module).sort()) === String(names) && names.includes('Index'),
      same: names.every((name) => module[name] === common[name]),
      instance: new common.Index() instanceof module.Index,
    }));`;
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', code], {
    cwd: join(__dirname, '..'),
    encoding: 'utf8',
  });
  expect(JSON.parse(printed)).toEqual({ names: true, same: true, instance: true });
});
