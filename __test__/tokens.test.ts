import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Folder, jsonLines, ROOT } from './cli-run';

const { cut, dedup, Fingerprinter } = (await import(
  join(ROOT, 'dist', 'index.js')
)) as typeof import('../ts');

test('tokens are what white space separates, as long as it is asked for', () => {
  const by = new Fingerprinter({ features: 'tokens', ngram: 1 });
  const tokens = by.features('今天　天气\n很 ＯＫ ！').map(({ token }) => token);
  expect(tokens.sort()).toEqual(['!', 'ok', '今天', '天气', '很'].sort());
  const pairs = new Fingerprinter({ features: 'tokens' });
  expect(pairs.features('今天 天气 很 好').map(({ token }) => token)).toEqual([
    '今天 天气',
    '天气 很',
    '很 好',
  ]);
  const remove = { whitespace: 'remove' } as const;
  expect(() => new Fingerprinter({ features: 'tokens', normalize: remove })).toThrow(/normalize/);
  expect(() => new Fingerprinter({ features: 'tokens', weighting: 'tfidf' })).toThrow(/weighting/);
});

test('words that are cut already decide as the same words cut by jieba, and are told apart where they are cut otherwise', async () => {
  const text = '青禾市图书馆新馆昨日起试运行，新馆位于云浦大道东侧，地上五层，藏书一百二十万册。';
  const other = text.replace('昨日', '今日');
  const docs = [text, other].map((text) => ({ text: cut(text).join(' ') }));
  const decisions = [];
  const options = { features: 'tokens', ngram: 1, minSimilarity: 0.5 } as const;
  for await (const decision of dedup(docs, options)) decisions.push(decision);
  const words = (text: string) => new Set(cut(text).filter((word) => word.trim() !== ''));
  const [a, b] = [words(text), words(other)];
  const both = [...a].filter((word) => b.has(word)).length;
  const [, second] = decisions;
  expect(second).toMatchObject({ status: 'duplicate' });
  expect(second?.similarity).toBeCloseTo(both / (a.size + b.size - both), 12);
});

test('the command line takes them', async () => {
  const folder = new Folder();
  const line = (id: number, text: string) => `${JSON.stringify({ id, text })}\n`;
  const text = '青禾市 图书馆 新馆 昨日 起 试 运行 ， 新馆 位于 云浦 大道 东侧 ， 地上 五层';
  folder.write('in', line(1, text) + line(2, text.replaceAll(' ', '')) + line(3, `${text} 。`));
  const { status } = await folder.run(['dedup', 'in', '-o', 'out', '--features', 'tokens', '-q']);
  expect(status).toBe(0);
  // Without spaces it is one word.
  expect(folder.records<{ id: number }>('out').map(({ id }) => id)).toEqual([1, 2]);
  const plain = await folder.run(['dedup', 'in', '-o', '-', '-q']);
  expect(jsonLines<{ id: number }>(plain.stdout).map(({ id }) => id)).toEqual([1]);
});
