/** Patterns of inputs as the check of a report reads them: they stand for the same files as for the addon, which looks for them. */
import { mkdirSync } from 'node:fs';
import { dirname, sep } from 'node:path';
import { expect, test } from 'vitest';
import { dedupFiles } from '..';
import { isPattern, partsOf, standsFor } from '../dist/report/pattern.js';
import { Folder } from './cli-run';

const folder = new Folder();
const out = new Folder();
const NAMES = [
  ...['a.txt', 'ab.txt', 'b1.txt', 'd1.txt', '文.txt', '𠮷.txt', ']1.txt', '-.txt', '!1.txt'],
  ...['^1.txt', '.5.txt', 'a+b.txt', 'z-a.txt', '[ab.txt', '[!]x.txt', 'a.txt.txt', '$(1){2}.txt'],
  ...['s/a.txt', 's/t/u/3.txt', 's/.h/4.txt', '.g/a.txt', 's/x.html', 't/a.txt'],
];
for (const name of NAMES) {
  mkdirSync(dirname(folder.join(name)), { recursive: true });
  folder.write(name, `这是名为 ${name} 的文件，它的内容与其他文件都不相同。`);
}

test.each([
  ...['*', '*.txt', '?.txt', '??.txt', '?*1.txt', 'a*b*.txt', '*.txt.txt', '**.txt', '.*.txt'],
  ...['[a-c]*', '[!a-c]1.txt', '[^a-c]1.txt', '[]x]1.txt', '[a-].txt', '[-a].txt', '[z-a]*.txt'],
  ...['[!z-a].txt', '[ab*', '[!]*', '[一-龥].txt', '[𠮷-𠮸].txt', 'a+*', '$(?){?}.txt'],
  ...['**', '**/*', '**/*.txt', '**/a.txt', 's/**/*.txt', '?/**/[1-3].txt', '*/a.txt', '**/**/3.*'],
  ...['./s/*', 's//*.html', '.*/*', '*/*/*/*', 's/.h/*', '**/u/*', 'nothing*'],
])('%s', async (pattern) => {
  const whole = `${folder.path}/${pattern}`;
  expect(isPattern(whole)).toBe(true);
  const { folder: from, parts } = partsOf(whole);
  expect(from.startsWith(folder.path)).toBe(true);
  const base = from.slice(folder.path.length + 1);
  const expected = NAMES.filter((name) => {
    const inside = base === '' ? '' : `${base.replaceAll(sep, '/')}/`;
    return name.startsWith(inside) && standsFor(parts, name.slice(inside.length).split('/'));
  });
  const output = out.join('kept.jsonl');
  const found = await dedupFiles(whole, output, { method: 'exact' }).then(
    () => out.records<{ id: string }>('kept.jsonl').map(({ id }) => id),
    (error: Error) => {
      expect(error.message).toContain('no file has a name like this');
      return [];
    },
  );
  const names = found.map((id) => id.slice(folder.path.length + 1)).sort();
  expect(names).toEqual([...expected].sort());
  expect(names.length > 0).toBe(!['nothing*', '[z-a]*.txt', '**'].includes(pattern));
});

test('what has the name of a pattern is none', () => {
  expect(isPattern(folder.join('[ab.txt'))).toBe(false);
  expect(isPattern(folder.join('a.txt'))).toBe(false);
});
