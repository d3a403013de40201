import type { BandPlan, PlanEstimate, PlanOptions } from '../..';
import { given } from '../../given';
import type { IndexConstructor } from '../../index-constructor';
import { INDEX_METHODS } from '../../method';
import { choosing, isAddress, planOfCollection } from '../collections';
import { defineCommand } from '../command';
import { EXIT, UsageError } from '../exit';
import { OF_FILES, planOfFiles, refuseOfFiles } from '../foretold';
import { bytes, count } from '../format';
import { comparing, methodOptions } from '../options';
import { table } from '../table';
import type { Terminal } from '../terminal';
import { versions } from '../version';

/** What a search costs: a look-up that misses the cache, and a fingerprint read in order, as `auto` weighs them too. */
const [LOOKUP_NS, READ_NS] = [60, 1];

/** Of more tables few have the memory, and to estimate large plans takes seconds. */
const TABLES = 16;

const { method, 'max-distance': maxDistance, bands, rows: bandRows, sentences } = comparing;
const { verify, 'min-similarity': minSimilarity } = comparing;

/** What is for an index alone. */
const OF_INDEX = {
  count: {
    kind: 'integer',
    short: 'n',
    value: 'N',
    min: 1,
    max: Number.MAX_SAFE_INTEGER,
    default: 1_000_000,
    help: 'for an index: number of documents, all different',
  },
  'average-length': {
    kind: 'integer',
    value: 'BYTES',
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    default: 3000,
    help: 'for an index: average bytes of a text; a Chinese character has three',
  },
  plan: {
    kind: 'text',
    value: 'NAME',
    help: 'for simhash: only this plan: auto, classic, or a name such as k3-t6',
  },
} as const;

/** What chooses documents. */
const OF_INPUTS = {
  known: {
    kind: 'texts',
    value: 'FILE',
    help: 'documents that you have already, as for dedup --known',
  },
  ...choosing,
} as const;

export const plan = defineCommand({
  name: 'plan',
  summary: 'predict what a run over files or a collection, or an index, will take',
  arguments: {
    usage: '[IN...]',
    min: 0,
    max: Number.POSITIVE_INFINITY,
    help: 'the inputs of dedup: files, folders or a collection; without them an index is planned',
  },
  addresses: 'collections',
  options: {
    ...OF_INDEX,
    method: {
      ...method,
      choices: INDEX_METHODS,
      help: 'only this method; without it the one whose options are given, else all',
    },
    'max-distance': maxDistance,
    ...{ bands, rows: bandRows, sentences, verify, 'min-similarity': minSimilarity },
    ...OF_FILES,
    ...OF_INPUTS,
    json: { kind: 'flag', help: 'print all figures as JSON' },
  },
  examples: [
    'plan news.jsonl.gz',
    'plan mongodb:///news.raw',
    'plan --count 50000000 --max-distance 3',
    'plan --count 1000000 --method minhash',
  ],
  notes: [
    'For files, about 32 MB are read and deduplicated: pieces from all over files of lines, the beginnings of others. From this the command predicts documents, memory, temporary files and processor time of dedup. Memory and files are right within a fifth; time is a range.',
    'For a MongoDB collection, 24 MB of texts are read, from both ends, and both ways of dedup are shown: verified, with files in --tmp, and --no-texts, by fingerprints only. An arrow marks verified if it fits into the free memory and disk, else --no-texts if that fits. Bytes are upper estimates; those of disk are less than twice what a run takes.',
    'Without a method every method is shown, with and without stored texts: bytes of the index and of a text per document, and the memory of all. For minhash the command also shows the probability that two texts of a given similarity share a band.',
    'For simhash the plans of an index without texts are shown. A plan defines the tables of an index: copies of the fingerprints, each sorted by other bits. Every plan finds everything within the distance; they differ in cost. An arrow marks the plan that auto chooses. Plans that another one beats in memory and time are left out, except classic, and so are plans of more than 16 tables, which --plan shows.',
    'A search looks each bucket up and reads the fingerprints in it. Columns: bits of a prefix on average, bytes per fingerprint, memory of tables and id map in the running index, look-ups and fingerprints read per search. The time is 60 ns for a look-up that misses the cache and 1 ns for a fingerprint, on one core: right in order of magnitude. Figures are expectations for uniform fingerprints; similar texts make some buckets larger.',
  ],
  async run(inputs, values, terminal) {
    const files = inputs.length > 0;
    for (const [name, spec] of Object.entries(OF_INDEX)) {
      const value = values[name as keyof typeof OF_INDEX];
      if (files && value !== ('default' in spec ? spec.default : undefined)) {
        throw new UsageError(`--${name} is for an index, and must be left out beside files`);
      }
    }
    if (inputs.some(isAddress)) return planOfCollection(inputs, whole(values), terminal);
    if (files) {
      for (const name of Object.keys(choosing) as (keyof typeof choosing)[]) {
        if (values[name]) throw new UsageError(`--${name} is for a collection, mongodb://…`);
      }
      const { filter: _filter, limit: _limit, ...own } = values;
      return planOfFiles(inputs, own, terminal);
    }
    for (const name of Object.keys(OF_INPUTS) as (keyof typeof OF_INPUTS)[]) {
      if (values[name])
        throw new UsageError(`--${name} is for files or a collection: plan IN... --${name}`);
    }
    refuseOfFiles(values);
    const { Index } = await import('../../index.js');
    const { count, 'average-length': averageLength } = values;
    const own = values.plan === undefined ? values.method : (values.method ?? 'simhash');
    const options = methodOptions({ ...values, method: own });
    const { method, maxDistance, bands, sentences } = options;
    if (maxDistance !== undefined) return plans(Index, values, maxDistance, terminal);
    const { plan } = values;
    const made = Index.plan({
      ...options,
      ...given({ plan }),
      count,
      averageLength,
    } as unknown as PlanOptions);
    const asked = [values.method, bands, sentences].some((option) => option !== undefined);
    const choices = made.choices.filter((choice) => !asked || choice.method === method);
    if (values.json) {
      const { bands, rows, recall, half, curve } = made as BandPlan;
      const found = method === 'minhash' ? { bands, rows, recall, half, curve } : {};
      const all = { count, averageLength, choices, ...found, versions: versions() };
      await terminal.write(`${JSON.stringify(all)}\n`);
      return EXIT.done;
    }
    await terminal.write(
      table(
        ['method', 'texts', 'index', 'text', 'together', 'memory'],
        choices.map((choice) => [
          choice.method,
          choice.texts ? 'stored' : '-',
          choice.indexBytes.toFixed(1),
          choice.textBytes.toFixed(1),
          choice.bytesPerDocument.toFixed(1),
          bytes(choice.bytes),
        ]),
      ),
    );
    if (asked && method === 'minhash') await terminal.write(finds(made as BandPlan));
    return EXIT.done;
  },
});

/** With what a plan does not ask for. */
function whole<T>(values: T) {
  return { ...values, memory: undefined, resume: false, quiet: false };
}

/** What bands find, by similarity. */
function finds({ bands, rows, threshold, recall, half, curve }: BandPlan): string {
  const points = curve.filter((_, step) => step % 2 === 0);
  return [
    `${bands} bands of ${rows} rows: at similarity ${threshold} ${(100 * recall).toFixed(2)} % of the pairs share one, at ${half.toFixed(2)} half of them`,
    table(
      ['similarity', '', 'found'],
      points.map(({ similarity, probability }) => [
        similarity.toFixed(1),
        '',
        `${(100 * probability).toFixed(2)} %`,
      ]),
    ),
  ].join('\n');
}

/** The plans of tables of fingerprints. */
async function plans(
  Index: IndexConstructor,
  values: { readonly count: number; readonly plan: string | undefined; readonly json: boolean },
  maxDistance: number,
  terminal: Terminal,
): Promise<number> {
  const options = { maxDistance, capacity: values.count };
  const estimate = (name: string) =>
    Index.plan({ ...options, count: values.count, texts: false, plan: name });
  const auto = estimate('auto');
  const plans =
    values.plan === undefined
      ? choices(
          Index.planNames().filter(fits(options.maxDistance)).map(estimate),
          auto,
          estimate('classic'),
        )
      : [estimate(values.plan)];
  if (values.json) {
    const rows = plans.map((row) => figures(row, auto));
    await terminal.write(`${JSON.stringify({ ...options, plans: rows, versions: versions() })}\n`);
  } else {
    const rows = plans.map((row) => cells(row, auto));
    await terminal.write(table(HEAD, rows));
  }
  return EXIT.done;
}

/** Whether a plan is looked at: others are too large, or made for distances so small that they look up far too much. */
function fits(maxDistance: number): (name: string) => boolean {
  return (name) => {
    const [, radius, tables] = /^k(\d+)-t(\d+)/.exec(name) ?? [];
    return (
      Number(tables) <= TABLES && Number(radius) >= maxDistance / 2 && Number(radius) <= maxDistance
    );
  };
}

/** The plans worth a look, by memory: those that are faster than all smaller ones, and the two that have a word of their own. */
function choices(
  named: readonly PlanEstimate[],
  auto: PlanEstimate,
  classic: PlanEstimate,
): PlanEstimate[] {
  const own = [auto, classic].filter((row, at, all) => all[at - 1]?.plan !== row.plan);
  const others = named.filter(({ plan, scans }) => !scans && own.every((row) => row.plan !== plan));
  const all = [...own, ...others].sort((a, b) => a.bytesPerFingerprint - b.bytesPerFingerprint);
  let fastest = Number.POSITIVE_INFINITY;
  return all.filter((row) => {
    const faster = microseconds(row) < fastest;
    if (faster) fastest = microseconds(row);
    return faster || own.includes(row);
  });
}

function microseconds({ lookups, candidates }: PlanEstimate): number {
  return (lookups * LOOKUP_NS + candidates * READ_NS) / 1000;
}

function figures(row: PlanEstimate, auto: PlanEstimate) {
  return {
    ...row,
    tableBits: [...row.tableBits],
    bytes: row.bytesPerFingerprint * row.capacity,
    microseconds: microseconds(row),
    auto: row.plan === auto.plan,
  };
}

const HEAD = [
  '',
  'plan',
  'tables',
  'prefix',
  'bytes',
  'memory',
  'look-ups',
  'read',
  'time',
] as const;

function cells(row: PlanEstimate, auto: PlanEstimate): string[] {
  return [
    row.plan === auto.plan ? '→' : '',
    row.plan,
    count(row.tables),
    row.meanPrefixBits.toFixed(1),
    row.bytesPerFingerprint.toFixed(1),
    bytes(row.bytesPerFingerprint * row.capacity),
    row.scans ? 'scan' : count(row.lookups),
    row.candidates < 10 ? row.candidates.toFixed(2) : count(Math.round(row.candidates)),
    time(microseconds(row)),
  ];
}

function time(value: number): string {
  if (value >= 1000) return `${(value / 1000).toFixed(1)} ms`;
  return `${value.toFixed(value < 10 ? 2 : 0)} µs`;
}
