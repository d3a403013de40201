// The page with all figures of the quality bench, as Markdown.
import { cpus } from 'node:os'

const share = (value) => (value === undefined ? '–' : value.toFixed(4))
const whole = (value) => Math.round(value).toLocaleString('en-US')

function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map((_, column) => (column === 0 ? '---' : '--:'))), ...rows.map(line)].join('\n')
}

/** Options as a row's name, without what all rows of a table share. */
function named(options) {
  const { cluster, ...own } = options
  const parts = Object.entries(own).map(([name, value]) => (['method', 'features', 'weighting'].includes(name) ? value : `${name}: ${value}`))
  return parts.join(', ') || 'defaults'
}

const HEAD = ['options', 'document recall', 'pair precision', 'kept precision', 'B-cubed F1', 'bytes/document', 'documents/s']
const cells = ({ recall, evaluation, bytesPerDocument, documentsPerSecond }) => [
  ...[share(recall), share(evaluation.pairPrecision), share(evaluation.keptPrecision), share(evaluation.bcubedF1)],
  ...[bytesPerDocument.toFixed(1), whole(documentsPerSecond)],
]

const title = ({ set, ngram }) => `${set}, ${ngram}-grams`
const only = ({ rows }, group) => rows.filter((row) => row.group === group)

/** Recall over all redundant documents of several corpora, precision over all their links. */
function pooled(corpora, options) {
  const rows = corpora.flatMap(({ rows, redundant }) =>
    only({ rows }, 'defaults').filter((row) => (row.options.cluster ?? '') === (options.cluster ?? '')).map((row) => ({ ...row, redundant })),
  )
  const sum = (value) => rows.reduce((total, row) => total + value(row), 0)
  const pairs = sum(({ evaluation }) => evaluation.pairs)
  return {
    redundant: sum(({ redundant }) => redundant),
    pairs,
    recall: sum(({ recall, redundant }) => recall * redundant) / sum(({ redundant }) => redundant),
    precision: sum(({ evaluation }) => (evaluation.pairPrecision ?? 1) * evaluation.pairs) / pairs,
    kept: sum(({ evaluation }) => (evaluation.keptPrecision ?? 1) * evaluation.pairs) / pairs,
  }
}

function defaults(corpora) {
  const rows = corpora.flatMap((truth) =>
    only(truth, 'defaults').map((row) => {
      const missed = Math.round((1 - row.recall) * truth.redundant)
      return [title(truth), row.options.cluster ?? 'representative', whole(truth.redundant), `${missed}`, ...cells(row)]
    }),
  )
  const all = [{ cluster: 'components' }, {}].map((options) => {
    const { redundant, recall, precision, kept } = pooled(corpora, options)
    const missed = Math.round((1 - recall) * redundant)
    return ['**all**', options.cluster ?? 'representative', whole(redundant), `${missed}`, share(recall), share(precision), share(kept), '', '', '']
  })
  return table(['corpus', 'clusters', 'redundant', 'missed', ...HEAD.slice(1)], [...rows, ...all])
}

function curve(corpora) {
  const all = corpora.flatMap((truth) => only(truth, 'distance').map(({ options }) => options.maxDistance))
  const distances = [...new Set(all)].sort((a, b) => a - b)
  const recall = (truth, k) => only(truth, 'distance').find(({ options }) => options.maxDistance === k)
  const rows = corpora.map((truth) => {
    const enough = distances.find((k) => recall(truth, k)?.recall >= 0.95)
    return [title(truth), truth.kind, ...distances.map((k) => share(recall(truth, k)?.recall)), enough === undefined ? 'none' : `${enough}`]
  })
  return table(['corpus', 'texts', ...distances.map((k) => `k = ${k}`), 'smallest k with 0.95'], rows)
}

function losses(corpora) {
  const lost = corpora.flatMap((truth) =>
    only(truth, 'defaults').filter(({ recall, evaluation }) => recall < 0.99 || (evaluation.pairPrecision ?? 1) < 0.99).map((row) => {
      const what = [row.recall < 0.99 ? `recall ${share(row.recall)}` : '', (row.evaluation.pairPrecision ?? 1) < 0.99 ? `precision ${share(row.evaluation.pairPrecision)}` : '']
      return `- ${title(truth)}, ${row.options.cluster ?? 'representative'}: ${what.filter((part) => part !== '').join(', ')}`
    }),
  )
  return lost.length > 0 ? lost.join('\n') : 'None.'
}

function judged({ pairs, texts, linked, together, alike }) {
  const rows = alike.map(({ similarity, text_a, text_b, linked }) => [text_a, text_b, similarity.toFixed(3), linked ? 'yes' : 'no'].map((cell) => cell.replaceAll('|', '\\|')))
  return [
    `## Pairs that people call different`,
    `${whole(pairs)} pairs of ${whole(texts)} questions (zh-pairs-paraphrase, label 0), deduplicated at once with the default options: of the pairs whose`,
    `character pairs have a Jaccard similarity below 0.8, ${linked} are linked, and ${together} have a common kept document that both resemble. The`,
    `${alike.length} pairs at 0.8 or more differ in a word or in its place; no measure of characters tells them apart:`,
    '',
    table(['one', 'the other', 'Jaccard', 'same cluster'], rows),
  ].join('\n')
}

/** The page. */
export function page(corpora, controls) {
  const machine = `${cpus()[0]?.model.trim() ?? 'unknown processor'}, ${cpus().length} cores, Node ${process.version}`
  const date = new Date().toISOString().slice(0, 10)
  const parts = [
    '# Quality, measured',
    [
      'Made by `npm run bench -- quality --write docs/quality.md`; do not edit. Corpora: `../shared/data`, with the exact truth of all pairs at',
      'Jaccard 0.8 over the n-grams named with each; normalisation as there (NFKC, case, white space removed, collapsed for English).',
      `${date}; ${machine}. Rates are of one run on a shared machine: compare them with each other, not with other pages.`,
    ].join('\n'),
    [
      '**Document recall**: redundant documents linked to a true mate. **Pair precision**: links with exact similarity of 0.8 or more, a cluster',
      'by its best reading. **Kept precision**: duplicates at 0.8 or more to the document kept in their place. Bytes: all that is held, texts aside.',
      'Every figure is that of `evaluate`.',
    ].join('\n'),
    '## Defaults',
    defaults(corpora),
    'Below 0.99:',
    losses(corpora),
    '## Distance: SimHash alone, verified',
    'A fingerprint is 8 bytes. Recall by the largest Hamming distance, clusters by components:',
    curve(corpora),
    ...[['verification', '## Verification'], ['methods', '## Methods'], ['features', '## Features']].flatMap(([group, heading]) => [
      heading,
      ...corpora.flatMap((truth) => [`### ${title(truth)}`, table(HEAD, only(truth, group).map((row) => [named(row.options), ...cells(row)]))]),
    ]),
    ...(controls === undefined ? [] : [judged(controls)]),
  ]
  return `${parts.join('\n\n')}\n`
}
