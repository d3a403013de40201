// The corpora with exact truth, as `evaluate` and `tune` take them: documents, and labels from groups and pairs.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const shared = join(root, '../shared/data');

const remove = { whitespace: 'remove' };
/**
 * Each with the features and the normalisation that its truth is defined on. `sample`: so many at random, and all that
 * are labelled. `widest`: the largest distance that is tried; long English texts lie so close that beyond it
 * most pairs are compared, and by other features too. */
const TRUTHS = [
  { set: 'zh-news-eventmonitor', kind: 'long', ngram: 5, normalize: remove },
  { set: 'zh-docs-tidb', kind: 'long', ngram: 5, normalize: remove },
  { set: 'zh-tech-lctt', kind: 'long', ngram: 5, normalize: remove, widest: 8 },
  { set: 'en-bbc', kind: 'long', ngram: 5, normalize: { whitespace: 'collapse' } },
  { set: 'zh-poetry-tang', kind: 'short', ngram: 5, normalize: remove, sample: 20_000 },
  { set: 'zh-poetry-tang', kind: 'short', ngram: 3, normalize: remove, sample: 20_000 },
  { set: 'zh-hotsearch-titles', kind: 'short', ngram: 2, normalize: remove, sample: 20_000 },
];

/** The lines of a file, decompressed. */
export function lines(path) {
  const bytes = readFileSync(path);
  return (path.endsWith('.gz') ? gunzipSync(bytes) : bytes)
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '');
}

/** The corpora that are there; the sample of this repository where none is. `only` names one. */
export function truths(only) {
  const there = TRUTHS.filter(({ set }) => existsSync(join(shared, set)));
  const wanted = there.filter(({ set }) => only === undefined || set === only);
  if (wanted.length > 0 && only !== 'sample') return wanted;
  return [{ set: 'sample', kind: 'short', ngram: 2, normalize: {} }];
}

/**
 * The documents and labels of a truth. In short texts numbers count (`similarity`), the truth's Jaccard similarity does not know
 * them: true pairs whose numbers differ are no labels, they are `numbered`.
 */
export function open({ set, ngram, normalize }, { similarity }) {
  if (set === 'sample') {
    const read = (name) => lines(join(root, 'examples', name)).map((line) => JSON.parse(line));
    return { docs: read('sample.jsonl'), labels: read('sample.labels.jsonl'), numbered: [] };
  }
  const folder = join(shared, set);
  const docs = lines(join(folder, 'docs.jsonl.gz'))
    .map((line) => JSON.parse(line))
    .map(({ id, text }) => ({ id, text }));
  const groups = lines(join(folder, 'exact_groups.jsonl.gz')).map((line) => JSON.parse(line));
  const [, ...rows] = lines(join(folder, `pairs_char${ngram}.tsv.gz`)).map((line) =>
    line.split('\t'),
  );
  const pairs = rows.map(([a, b, , , inter, x, y]) => ({
    a,
    b,
    similarity: inter / (Number(x) + Number(y) - inter),
  }));
  const text = new Map(docs.map(({ id, text }) => [id, text]));
  const by = { features: 'chars', ngram, normalize };
  const differs = ({ a, b, similarity: jaccard }) =>
    jaccard >= 0.8 && similarity(text.get(a), text.get(b), by) < 0.8;
  const numbered = pairs.filter(differs).map(({ a, b }) => [text.get(a), text.get(b)]);
  return { docs, labels: [...groups, ...pairs.filter((pair) => !differs(pair))], numbered };
}

/** Pairs of short texts that people have judged; empty where they are absent. */
export function paraphrases() {
  const file = join(shared, 'zh-pairs-paraphrase/pairs.jsonl.gz');
  return existsSync(file) ? lines(file).map((line) => JSON.parse(line)) : [];
}
