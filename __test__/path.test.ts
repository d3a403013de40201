/** Files by path or by URL. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';
import { expect, test } from 'vitest';
import { Dictionary, dedupFiles, Fingerprinter, Idf } from '..';
import { path } from '../ts/path';
import { Folder } from './cli-run';

const folder = new Folder();
// A name that a URL escapes.
const name = '输入 #1%.jsonl';
folder.write(name, '{"text":"青禾市图书馆"}\n{"text":"青禾市图书馆"}\n{}\n');
const url = (name: string) => pathToFileURL(folder.join(name));

test('dedupFiles takes URLs wherever it takes paths', async () => {
  const summary = await dedupFiles([url(name), folder.join(name)], url('out'), {
    clusters: url('clusters'),
    rejects: url('rejects'),
  });
  expect(summary).toMatchObject({ read: 6, kept: 1, duplicates: 3, rejected: 2 });
  expect(folder.names()).toEqual(['clusters', 'out', 'rejects', name]);
  expect(await dedupFiles(url(name), undefined, { dryRun: true })).toMatchObject({ read: 3 });
});

test('files of words may be URLs', () => {
  folder.write('words', '青禾市 30\n');
  folder.write('idf', '青禾市 7.5\n');
  folder.write('stop', '青禾市\n');
  expect(new Dictionary(url('words')).frequency('青禾市')).toBe(30);
  expect(new Idf(url('idf')).get('青禾市')).toBe(7.5);
  const options = { preset: 'jieba-tfidf', idf: url('idf') } as const;
  const by = new Fingerprinter({ ...options, dictionary: url('words') });
  expect(by.features('青禾市')).toMatchObject([{ token: '青禾市', weight: 7.5 }]);
  const none = new Fingerprinter({ ...options, stopWords: url('stop') });
  expect(none.features('青禾市').map(({ token }) => token)).not.toContain('青禾市');
  expect(() => new Dictionary(url('none'))).toThrow(folder.join('none'));
});

test('an empty path is refused by name', async () => {
  const code = 'ERR_INVALID_ARG_VALUE';
  for (const [argument, run] of [
    ['inputs', () => dedupFiles('', 'out')],
    ['inputs[1]', () => dedupFiles([name, ''], 'out')],
    ['output', () => dedupFiles(name, '')],
  ] as const) {
    const message = `${argument} must not be empty`;
    await expect(run()).rejects.toMatchObject({ name: 'TypeError', code, message });
  }
});

test('URLs of another realm count, other protocols and values do not', async () => {
  const { href } = url(name);
  const foreign = vm.runInNewContext('({ href, protocol: "file:" })', { href });
  expect(path(foreign, 'x')).toBe(folder.join(name));
  const value = { name: 'TypeError', code: 'ERR_INVALID_ARG_VALUE' };
  const remote = new URL('https://example.org/a');
  const expected = 'must be a path or the file: URL of a local file, got https://example.org/a';
  for (const [argument, run] of [
    ['inputs', () => dedupFiles(remote, 'out')],
    ['inputs[1]', () => dedupFiles([name, remote], 'out')],
    ['output', () => dedupFiles(name, remote)],
    ['clusters', () => dedupFiles(name, 'out', { clusters: remote })],
    ['rejects', () => dedupFiles(name, 'out', { rejects: remote })],
    ['file', async () => new Dictionary(remote)],
    ['stopWords', async () => new Fingerprinter({ preset: 'jieba-tfidf', stopWords: remote })],
  ] as const) {
    await expect(run()).rejects.toMatchObject({ ...value, message: `${argument} ${expected}` });
  }
  await expect(dedupFiles(new URL('file:///a%2fb'), 'out')).rejects.toMatchObject(value);
  for (const wrong of [5, {}, null, { href: 5, protocol: 'file:' }, ['a']]) {
    expect(() => path(wrong, 'output')).toThrow(/^output must be a path or a file: URL, got/);
  }
  expect(path(join('a', 'b'), 'x')).toBe(join('a', 'b'));
});
