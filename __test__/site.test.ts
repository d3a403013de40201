/** The search of the site: what it takes for words, in the form in which the site carries it into a browser. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import MiniSearch from 'minisearch';
import { expect, test } from 'vitest';
import config from '../docs/.vitepress/config.mts';
import { ROOT } from './cli-run';

type Tokenize = (text: string) => string[];

/** The function of the configuration, without whatever stands around it: as VitePress writes it into a page. */
function carried(): Tokenize {
  const search = config.themeConfig?.search;
  const tokenize = search?.provider === 'local' && search.options?.miniSearch?.options?.tokenize;
  return new Function(`return ${tokenize}`)() as Tokenize;
}

const pages = (folder: string) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !/^(api|\.vitepress)\//.test(name))
    .map((name) => ({ id: name, text: readFileSync(join(ROOT, folder, name), 'utf8') }));

/** The best pages for a query, as the site finds them. */
function found(folder: string, query: string): string[] {
  const index = new MiniSearch({ fields: ['text'], tokenize: carried() });
  index.addAll(pages(folder));
  return index.search(query, { prefix: true, fuzzy: 0.2 }).map(({ id }) => id as string);
}

test.each([
  ['去重', 'guide/files.md'],
  ['租约到期', 'mongodb.md'],
  ['滑动窗口', 'index.md'],
  ['最长的句子', 'python/longest-sentences.md'],
  ['两天的窗口', 'guide/live.md'],
])('a Chinese word, %s, finds its page', (query, page) => {
  expect(found('docs/zh', query).slice(0, 3)).toContain(page);
});

test('names and English words are found as before', () => {
  expect(found('docs', 'ERR_SIMHASH_TARGET')[0]).toMatch(/errors|mongodb/);
  expect(found('docs/zh', 'checkAndAdd').slice(0, 2)).toContain('guide/live.md');
  expect(carried()('近似重复 dedup：--text-field，一条')).toEqual([
    ...['近似', '似重', '重复', 'dedup', 'text', 'field', '一条'],
  ]);
});
