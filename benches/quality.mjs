// How much of what is true each way of deduplicating finds, and how much of what it reports is right, on every corpus with
// exact truth: the matrix behind the defaults. `--set NAME` takes one corpus, `--write FILE` writes the page with all figures.
import { writeFileSync } from 'node:fs'
import { open, paraphrases, truths } from './corpora.mjs'
import { page } from './quality-page.mjs'

const components = { cluster: 'components' }
const simhash = { method: 'simhash', maxDistance: 8 }
const DISTANCES = [3, 4, 6, 8, 10, 12, 14, 16]

/** The ways that are tried: `group` is the table in which a row stands. */
const TRIALS = [
  { group: 'defaults', options: { ...components } },
  { group: 'defaults', options: {} },
  ...DISTANCES.map((maxDistance) => ({ group: 'distance', options: { ...components, method: 'simhash', maxDistance } })),
  ...[3, 8].map((maxDistance) => ({ group: 'verification', options: { ...components, method: 'simhash', maxDistance, verify: false } })),
  ...['containment', 'cosine'].map((verify) => ({ group: 'verification', options: { ...components, verify } })),
  // Quadratic in the length of a text, and made for short ones.
  { group: 'verification', kind: 'short', options: { ...components, verify: 'edit' } },
  // Long texts of one language share nearly all their characters.
  ...['count', 'binary'].map((weighting) => ({ group: 'features', kind: 'short', options: { ...components, ...simhash, features: 'chars', ngram: 1, weighting } })),
  ...[2, 3, 5].flatMap((ngram) => ['count', 'binary'].map((weighting) => ({ group: 'features', options: { ...components, ...simhash, features: 'chars', ngram, weighting } }))),
  ...[1, 2, 3].map((ngram) => ({ group: 'features', options: { ...components, ...simhash, features: 'words', ngram, weighting: 'count' } })),
  { group: 'features', options: { ...components, ...simhash, features: 'jieba', ngram: 1, weighting: 'count' } },
  { group: 'features', options: { ...components, ...simhash, features: 'jieba', ngram: 1, weighting: 'tfidf' } },
  { group: 'methods', options: { ...components, method: 'exact' } },
  ...[3, 5, 10].map((sentences) => ({ group: 'methods', options: { ...components, method: 'sentences', sentences } })),
  ...[[16, 8], [14, 8], [25, 10], [20, 5], [50, 4]].map(([bands, rows]) => ({ group: 'methods', options: { ...components, method: 'minhash', bands, rows } })),
  { group: 'methods', options: { ...components, method: 'minhash' } },
  { group: 'methods', options: { ...components, method: 'brute-force' } },
]

/** The figures of one corpus. */
async function measure(truth, { tune }) {
  const { docs, labels } = open(truth)
  const { kind: own, widest = 16 } = truth
  const trials = TRIALS.filter(({ kind, options }) => (kind ?? own) === own && (options.maxDistance ?? 0) <= widest)
  const { ngram, normalize } = truth
  const sample = truth.sample ?? 2 ** 32 - 1
  const options = trials.map(({ options }) => options)
  const onTrial = ({ options, recall, documentsPerSecond }) =>
    console.error(`${truth.set} ${ngram}, ${words(options)}: recall ${recall.toFixed(4)}, ${documentsPerSecond.toFixed(0)} documents/s`)
  const tuning = await tune(docs, { features: 'chars', ngram, normalize, labels, sample, trials: options, onTrial })
  const rows = tuning.trials.map((trial, row) => ({ group: trials[row].group, ...trial }))
  return { ...truth, all: docs.length, documents: tuning.documents, redundant: tuning.redundant, rows }
}

/** Pairs that people call different, under the default options: none may be linked unless their bigrams are alike. */
async function controls({ dedup, jaccard }) {
  const by = { ngram: 2, normalize: { whitespace: 'remove' } }
  const different = paraphrases().filter(({ label }) => label === 0)
  const texts = [...new Set(different.flatMap(({ text_a, text_b }) => [text_a, text_b]))]
  const number = new Map(texts.map((text, row) => [text, row]))
  const kept = texts.map((_, row) => row)
  for await (const { index, duplicateOf } of dedup(texts, { ...by, batch: 65_536 })) kept[index] = duplicateOf ?? index
  const alike = []
  let [linked, together] = [0, 0]
  for (const { id, text_a, text_b } of different) {
    const [a, b] = [number.get(text_a), number.get(text_b)]
    const similarity = jaccard(text_a, text_b, by)
    if (similarity >= 0.8) alike.push({ id, similarity, text_a, text_b, linked: kept[a] === kept[b] })
    else {
      linked += Number(kept[a] === b || kept[b] === a)
      together += Number(kept[a] === kept[b] && a !== b)
    }
  }
  return { pairs: different.length, texts: texts.length, linked, together, alike }
}

export async function bench(options) {
  const library = await import('../dist/index.mjs')
  const value = (name) => (options.includes(name) ? options[options.indexOf(name) + 1] : undefined)
  const only = value('--set')
  const corpora = []
  for (const truth of truths(only)) {
    corpora.push(await measure(truth, library))
  }
  const judged = only === undefined ? await controls(library) : undefined
  const file = value('--write')
  if (file !== undefined) writeFileSync(file, page(corpora, judged))
  const name = (truth) => `${truth.set}, ${truth.ngram}-grams`
  const rows = corpora.flatMap((truth) =>
    truth.rows
      .filter(({ group }) => group !== 'features')
      .map(({ options, recall }) => ({ what: `${name(truth)}: ${words(options)}`, value: recall, unit: 'recall' })),
  )
  return { bench: 'quality', setup: corpora.map((truth) => `${name(truth)}: ${truth.documents} documents, ${truth.redundant} redundant`).join('; '), rows }
}

/** Options in words. */
export function words(options) {
  const all = Object.entries(options).map(([name, value]) => (name === 'method' || name === 'cluster' || name === 'features' ? value : `${name} ${value}`))
  return all.length > 0 ? all.join(', ') : 'defaults'
}
