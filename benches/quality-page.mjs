// The page with all figures of the quality bench, as Markdown.
import { cpus } from 'node:os';
import { wrongLine } from '../__test__/labelled/score.mjs';
import { HEAD as KIND_HEAD, kindRows } from './labelled.mjs';

const share = (value) => (value === undefined ? '–' : value.toFixed(4));
const whole = (value) => Math.round(value).toLocaleString('en-US');

function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [
    line(head),
    line(head.map((_, column) => (column === 0 ? '---' : '--:'))),
    ...rows.map(line),
  ].join('\n');
}

/** Options as a row's name, without what all rows of a table share. */
function named(options) {
  const { cluster, ...own } = options;
  const parts = Object.entries(own).map(([name, value]) =>
    ['method', 'features', 'weighting'].includes(name) ? value : `${name}: ${value}`,
  );
  return parts.join(', ') || 'defaults';
}

const HEAD = [
  'options',
  'document recall',
  'pair precision',
  'kept precision',
  'B-cubed F1',
  'bytes/document',
  'documents/s',
];
const cells = ({ recall, evaluation, bytesPerDocument, documentsPerSecond }) => [
  ...[
    share(recall),
    share(evaluation.pairPrecision),
    share(evaluation.keptPrecision),
    share(evaluation.bcubedF1),
  ],
  ...[bytesPerDocument.toFixed(1), whole(documentsPerSecond)],
];

const title = ({ set, ngram }) => `${set}, ${ngram}-grams`;
const only = ({ rows }, group) => rows.filter((row) => row.group === group);

/** Recall over all redundant documents of several corpora, precision over all their links. */
function pooled(corpora, options) {
  const rows = corpora.flatMap(({ rows, redundant }) =>
    only({ rows }, 'defaults')
      .filter((row) => (row.options.cluster ?? '') === (options.cluster ?? ''))
      .map((row) => ({ ...row, redundant })),
  );
  const sum = (value) => rows.reduce((total, row) => total + value(row), 0);
  const pairs = sum(({ evaluation }) => evaluation.pairs);
  return {
    redundant: sum(({ redundant }) => redundant),
    pairs,
    recall: sum(({ recall, redundant }) => recall * redundant) / sum(({ redundant }) => redundant),
    precision: sum(({ evaluation }) => (evaluation.pairPrecision ?? 1) * evaluation.pairs) / pairs,
    kept: sum(({ evaluation }) => (evaluation.keptPrecision ?? 1) * evaluation.pairs) / pairs,
  };
}

function defaults(corpora) {
  const rows = corpora.flatMap((truth) =>
    only(truth, 'defaults').map((row) => {
      const missed = Math.round((1 - row.recall) * truth.redundant);
      return [
        title(truth),
        row.options.cluster ?? 'representative',
        whole(truth.redundant),
        `${missed}`,
        ...cells(row),
      ];
    }),
  );
  const all = [{ cluster: 'components' }, {}].map((options) => {
    const { redundant, recall, precision, kept } = pooled(corpora, options);
    const missed = Math.round((1 - recall) * redundant);
    return [
      '**all**',
      options.cluster ?? 'representative',
      whole(redundant),
      `${missed}`,
      share(recall),
      share(precision),
      share(kept),
      '',
      '',
      '',
    ];
  });
  return table(['corpus', 'clusters', 'redundant', 'missed', ...HEAD.slice(1)], [...rows, ...all]);
}

function curve(corpora) {
  const all = corpora.flatMap((truth) =>
    only(truth, 'distance').map(({ options }) => options.maxDistance),
  );
  const distances = [...new Set(all)].sort((a, b) => a - b);
  const recall = (truth, k) =>
    only(truth, 'distance').find(({ options }) => options.maxDistance === k);
  const rows = corpora.map((truth) => {
    const enough = distances.find((k) => recall(truth, k)?.recall >= 0.95);
    return [
      title(truth),
      truth.kind,
      ...distances.map((k) => share(recall(truth, k)?.recall)),
      enough === undefined ? 'none' : `${enough}`,
    ];
  });
  return table(
    ['corpus', 'length', ...distances.map((k) => `k = ${k}`), 'smallest k with 0.95'],
    rows,
  );
}

/** The ways of the README's table: by name, the options that a trial has. */
const METHODS = [
  ['exact', ({ method }) => method === 'exact'],
  ['simhash, distance 3', ({ maxDistance }) => maxDistance === 3],
  ['simhash, distance 8', ({ maxDistance }) => maxDistance === 8],
  ['sentences, 5', ({ sentences }) => sentences === 5],
  ['minhash, 16 bands of 8', ({ bands, rows }) => bands === 16 && rows === 8],
  ['minhash (default)', ({ method, bands }) => method === 'minhash' && bands === undefined],
  ['brute-force', ({ method }) => method === 'brute-force'],
];

/** All corpora together: recall over their redundant documents, precision over their links, bytes and rate over their documents. */
function methods(corpora) {
  const long = (kind) => corpora.filter((truth) => truth.kind === kind);
  const found = (truths, fits) =>
    truths
      .map((truth) => ({
        ...truth,
        row: truth.rows.find(
          (row) => ['distance', 'methods'].includes(row.group) && fits(row.options),
        ),
      }))
      .filter(({ row }) => row !== undefined);
  const mean = (truths, value, weight) =>
    truths.reduce((sum, truth) => sum + value(truth) * weight(truth), 0) /
    truths.reduce((sum, truth) => sum + weight(truth), 0);
  const rows = METHODS.map(([name, fits]) => {
    const recall = (kind) =>
      share(
        mean(
          found(long(kind), fits),
          ({ row }) => row.recall,
          ({ redundant }) => redundant,
        ),
      );
    const all = found(corpora, fits);
    const rate = (kind) =>
      whole(
        1 /
          mean(
            found(long(kind), fits),
            ({ row }) => 1 / row.documentsPerSecond,
            ({ documents }) => documents,
          ),
      );
    return [
      name,
      recall('long'),
      recall('short'),
      share(
        mean(
          all,
          ({ row }) => row.evaluation.pairPrecision ?? 1,
          ({ row }) => row.evaluation.pairs,
        ),
      ),
      mean(
        all,
        ({ row }) => row.bytesPerDocument,
        ({ documents }) => documents,
      ).toFixed(0),
      rate('long'),
      rate('short'),
    ];
  });
  return table(
    [
      'method',
      'recall, long texts',
      'recall, short texts',
      'precision',
      'bytes/document',
      'documents/s, long',
      'documents/s, short',
    ],
    rows,
  );
}

function losses(corpora) {
  const lost = corpora.flatMap((truth) =>
    only(truth, 'defaults')
      .filter(({ recall, evaluation }) => recall < 0.99 || (evaluation.pairPrecision ?? 1) < 0.99)
      .map((row) => {
        const what = [
          row.recall < 0.99 ? `recall ${share(row.recall)}` : '',
          (row.evaluation.pairPrecision ?? 1) < 0.99
            ? `precision ${share(row.evaluation.pairPrecision)}`
            : '',
        ];
        return `- ${title(truth)}, ${row.options.cluster ?? 'representative'}: ${what.filter((part) => part !== '').join(', ')}`;
      }),
  );
  return lost.length > 0 ? lost.join('\n') : 'None.';
}

/** SimHash at the smallest distance that finds 0.95, the widest, and MinHash by default, side by side. */
function sketches(corpora) {
  const rows = corpora.flatMap((truth) => {
    const distances = only(truth, 'distance');
    const enough = distances.find(({ recall }) => recall >= 0.95);
    const signature = only(truth, 'methods').find(
      ({ options: { method, bands } }) => method === 'minhash' && bands === undefined,
    );
    const line = (name, row) => [
      title(truth),
      name,
      share(row.recall),
      row.bytesPerDocument.toFixed(0),
      whole(row.documentsPerSecond),
    ];
    const far = distances.at(-1);
    return [
      ...(enough === undefined
        ? []
        : [line(`simhash, distance ${enough.options.maxDistance}`, enough)]),
      ...(far === undefined || far === enough
        ? []
        : [line(`simhash, distance ${far.options.maxDistance}`, far)]),
      ...(signature === undefined ? [] : [line('minhash', signature)]),
    ];
  });
  return table(['corpus', 'method', 'recall', 'bytes/document', 'documents/s'], rows);
}

function templates({ documents, pairs, most, merged }) {
  return [
    '## Pages of one template',
    [
      `zh-docs-tidb: ${whole(documents)} technical pages that share much text. ${whole(pairs)} pairs have a Jaccard similarity from 0.5 up to 0.8 (the`,
      `highest is ${most.toFixed(3)}). The default options link only pages at 0.8 or more (see the precision above). Through a third page that is similar`,
      `to both, the two pages of ${merged.components} of these pairs are in one component, and of ${merged.representative} under one kept page.`,
    ].join('\n'),
  ].join('\n\n');
}

function people({ pairs, texts, linked, together, copies, alike }) {
  const rows = alike.map(({ similarity, text_a, text_b, linked }) =>
    [text_a, text_b, similarity.toFixed(3), linked ? 'yes' : 'no'].map((cell) =>
      cell.replaceAll('|', '\\|'),
    ),
  );
  return [
    '## Pairs that people call different',
    [
      `${whole(pairs)} pairs of ${whole(texts)} questions (zh-pairs-paraphrase, label 0), all deduplicated together with the default options. Of the pairs whose`,
      `Jaccard similarity over pairs of characters is below 0.8, **${linked}** are linked, and ${together} have a common kept document that is similar to both. The`,
      `${alike.length} pairs at 0.8 or more (${copies} of them with the same set of character pairs) differ in one word or in its position; no similarity measure over`,
      'characters can tell them apart:',
    ].join('\n'),
    table(['one', 'the other', 'Jaccard', 'same cluster'], rows),
  ].join('\n\n');
}

/** The labelled pairs, by kind, and each that is called wrongly. */
function labelled(score) {
  const lines = score.kinds.flatMap(({ kind }) =>
    score.wrong.filter((pair) => pair.kind === kind).map((pair) => `- ${wrongLine(pair)}`),
  );
  return [
    '## Labelled pairs',
    [
      'The decisions of `dedup` with default options on the pairs of `__test__/labelled`, half of which are made from templates. Its README describes the kinds',
      'and lists those to which the minimum (precision 0.98, recall 0.95) does not apply.',
    ].join('\n'),
    table(KIND_HEAD, kindRows(score)),
    'Wrong decisions, by kind:',
    lines.length > 0 ? lines.join('\n') : 'None.',
  ].join('\n\n');
}

/** A heading and a table for each corpus that has rows in the group. */
function matrix(corpora, group, heading) {
  const tables = corpora
    .filter((truth) => only(truth, group).length > 0)
    .map(
      (truth) =>
        `### ${title(truth)}\n\n${table(
          HEAD,
          only(truth, group).map((row) => [named(row.options), ...cells(row)]),
        )}`,
    );
  return [heading, ...tables].join('\n\n');
}

/** What the default finds without being told the shingles of the truth, and what pairs of characters would. */
function unsaid(corpora) {
  const cell = (rows, features, method) => {
    const row = rows.find(
      ({ options }) => options.features === features && options.method === method,
    );
    const { recall, evaluation, documentsPerSecond } = row;
    return `${share(recall)} / ${share(evaluation.pairPrecision)}, ${whole(documentsPerSecond)}`;
  };
  return table(
    ['shingle not given', 'default', 'pairs', 'simhash, default', 'simhash, pairs'],
    corpora.map((truth) => [
      title(truth),
      ...[undefined, 'simhash'].flatMap((method) =>
        ['auto', 'chars'].map((features) => cell(only(truth, 'unsaid'), features, method)),
      ),
    ]),
  );
}

/** The page. */
export function page(corpora, controls) {
  const machine = `${cpus()[0]?.model.trim() ?? 'unknown processor'}, ${cpus().length} cores, Node ${process.version}`;
  const date = new Date().toISOString().slice(0, 10);
  const parts = [
    '# Quality, measured',
    [
      'Generated by `npm run bench -- quality --write docs/quality.md`; do not edit. Corpora: `../shared/data`, with ground truth: all pairs with an exact',
      'Jaccard similarity of 0.8 or more over the n-grams named with each corpus. Normalisation is that of the ground truth (NFKC, case folding; white space',
      'removed, for English collapsed).',
      `${date}; ${machine}. Rates are from one run on a shared machine: compare them with each other, not with other pages.`,
    ].join('\n'),
    [
      '**Document recall**: the share of redundant documents that are linked to a true duplicate, directly or by a chain. **Pair precision**: the share of links with an exact',
      'similarity of 0.8 or more; a cluster is judged by its maximum spanning tree. **Kept precision**: the share of duplicates with a similarity of 0.8 or more to',
      'the document kept in their place. Bytes/document: memory, without the texts. All shares come from `evaluate`.',
    ].join('\n'),
    table(
      ['corpus', 'length', 'documents', 'redundant', 'documents of the tables below Defaults'],
      corpora.map((truth) => [
        title(truth),
        truth.kind,
        whole(truth.all),
        whole(truth.redundant),
        whole(truth.documents),
      ]),
    ),
    '## Defaults',
    defaults(corpora),
    'Below 0.99:',
    losses(corpora),
    '## Where no shingle is given',
    [
      'The default chooses features by script and length; the columns beside it use pairs of characters for all texts. The ground truth is still that of the',
      'n-grams named with each corpus. A cell has recall / precision, and documents per second.',
    ].join('\n'),
    unsaid(corpora),
    '## Methods, all corpora',
    'Verified, with clusters by components. The first four corpora have long texts, the others short ones:',
    methods(corpora),
    '## Distance: SimHash alone, verified',
    'Recall by `maxDistance` (k), with clusters by components:',
    curve(corpora),
    '## A fingerprint or a signature',
    'A fingerprint takes 8 bytes. The tables for its lookup are added to that, and 24 to 40 bytes for finding equal texts, which every method needs.',
    sketches(corpora),
    matrix(corpora, 'verification', '## Verification, by method'),
    matrix(corpora, 'methods', '## Methods'),
    matrix(corpora, 'features', '## Features and weights, SimHash at distance 8 and MinHash'),
    ...(controls.templates === undefined ? [] : [templates(controls.templates)]),
    ...(controls.people === undefined ? [] : [people(controls.people)]),
    ...(controls.labelled === undefined ? [] : [labelled(controls.labelled)]),
  ];
  return `${parts.join('\n\n')}\n`;
}
