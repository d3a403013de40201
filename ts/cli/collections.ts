/** `dedup` of a collection of MongoDB: the same command, by addresses in place of files. */
import type { Document } from 'mongodb';
import type { CollectionPlan, CollectionSummary } from '../connect/mongodb';
import { isAddress } from '../connect/mongodb/address';
import { unnamed } from '../connect/url';
import { SimHashError } from '../errors';
import { given } from '../given';
import type { Values } from './command';
import { type deciding, decidingOptions } from './deciding';
import { EXIT, UsageError } from './exit';
import { range } from './foretold';
import { bytes, count, duration, plural } from './format';
import { reported, type reporting, reportingOf } from './options';
import { cut, readings, run, type Told, watched } from './run';
import { table } from './table';
import type { Terminal } from './terminal';
import { versions } from './version';

export { isAddress };

/** Options for collections alone. */
export const ofCollections = {
  filter: {
    kind: 'text',
    value: 'JSON',
    help: 'which documents of a collection, a query as extended JSON',
  },
  limit: {
    kind: 'number',
    value: 'N',
    min: 1,
    max: 2 ** 31 - 1,
    help: 'how many documents of a collection are read at most',
  },
  'no-texts': {
    kind: 'flag',
    help: 'compare only the SimHash fingerprints of a collection, within 3 bits unless --max-distance is given, in one pass without files; nothing is verified',
  },
  fingerprint: {
    kind: 'choice',
    value: 'FORM',
    choices: ['string', 'long', 'none'],
    help: 'how the SimHash of documents kept in a collection is written: as 16 hexadecimal digits (string), as a 64-bit integer, or not at all; without it string',
  },
  append: {
    kind: 'flag',
    help: 'add to the documents that the collection OUT already holds; those are not changed',
  },
  'mark-field': {
    kind: 'text',
    value: 'NAME',
    help: 'field of marks in a collection; without it dedup',
  },
} as const;

/** Those of them that say which documents. */
export const choosing = { filter: ofCollections.filter, limit: ofCollections.limit } as const;

/** Options that only files have. */
const OF_FILES = [
  'clusters',
  'copy',
  'list',
  'output-encoding',
  'rejects',
  'index',
  'dry-run',
] as const;
const OF_RECORDS = [
  'encoding',
  'delimiter',
  'max-record',
  'no-header',
  'resume',
  'across-files-only',
] as const;

type Given = Values<typeof deciding & typeof ofCollections & typeof reporting> & {
  readonly output: string | undefined;
  readonly known: readonly string[] | undefined;
  readonly mark: boolean;
} & Readonly<Record<(typeof OF_FILES)[number], unknown>>;

/** Refuses options that are for collections, in a run over files. */
export function refuseOfCollections(values: Values<typeof ofCollections>): void {
  for (const name of Object.keys(ofCollections) as (keyof typeof ofCollections)[]) {
    if (values[name]) throw new UsageError(`--${name} is for a collection, mongodb://…`);
  }
}

/** Runs to the end; the result is the exit status. */
export async function collections(
  inputs: readonly string[],
  values: Given,
  told: Told,
  terminal: Terminal,
): Promise<number> {
  const [source, another] = inputs;
  const { output, mark, known, filter, limit, append } = values;
  if (source === undefined || another !== undefined) {
    throw new UsageError('dedup reads one collection at a time');
  }
  for (const name of OF_FILES) {
    if (values[name]) throw new UsageError(`--${name} is for files, not for a collection`);
  }
  refuseOfRecords(values);
  if (mark !== (output === undefined)) {
    throw new UsageError(
      mark
        ? '--mark marks the duplicates in the collection itself: -o must be left out'
        : 'dedup of a collection needs -o mongodb://HOST/DATABASE.COLLECTION, or --mark',
    );
  }
  refuseFiles([...(output === undefined ? [] : [output]), ...(known ?? [])], known);
  const isBare = values['no-texts'];
  if (isBare && values.report !== undefined) {
    throw new UsageError('--report must be left out beside --no-texts, which keeps no texts');
  }
  const { fingerprint } = values;
  const options = {
    ...optionsOf(isBare ? bare(values) : values),
    ...given({ limit, filter: filter === undefined ? undefined : await queryOf(filter) }),
    ...given({ known: known?.[0], markField: values['mark-field'] }),
    ...reportingOf(values),
    ...given({ fingerprint: fingerprint === 'none' ? (false as const) : fingerprint }),
    ...(mark ? { mark } : {}),
    ...(append ? { append } : {}),
    ...(isBare ? { texts: false } : {}),
  };
  const { dedupCollection } = await import('../connect/mongodb.js');
  return run(
    {
      start: ({ signal, onProgress }) =>
        asOfInput(
          dedupCollection(source, output, {
            ...options,
            signal,
            onProgress: ({ stage, documents, total }) =>
              onProgress({ documents, total, done: DONE[stage] }),
          }),
        ),
      figures: (summary) => summary,
      summary: (summary) => summary,
      sentences: (summary) => {
        const { read, kept, duplicates, rejected, repeated, clusters, truncated } = summary;
        return [
          ...(repeated ? [madeBefore(summary.run, mark)] : []),
          readings(read, { kept, duplicates, rejected }),
          `${plural(clusters, 'cluster')}, ${rate(summary)}`,
          ...cut(truncated),
          ...unmarked(summary),
          ...seen(summary),
          ...reported(summary.report, values.report),
        ];
      },
      stopped: {
        left: 'what is written so far stays',
        next: 'to resume from here, run the same command again',
      },
    },
    told,
    terminal,
  );
}

/** Refuses what is for records of files. */
function refuseOfRecords(values: Values<typeof deciding>): void {
  for (const name of OF_RECORDS) {
    if (values[name]) throw new UsageError(`--${name} is for files, not for a collection`);
  }
  if (values['id-field'] !== 'id') {
    throw new UsageError('--id-field is for files: the id of a document of a collection is _id');
  }
  if (values.format !== 'auto') {
    throw new UsageError('--format is for files, not for a collection');
  }
}

/** Refuses what is no collection. */
function refuseFiles(others: readonly string[], known: readonly string[] | undefined): void {
  for (const address of others) {
    if (isAddress(address)) continue;
    throw new UsageError(
      `'${unnamed(address)}' must be mongodb://HOST/DATABASE.COLLECTION, as the input is`,
    );
  }
  if (known !== undefined && known.length > 1) {
    throw new UsageError('--known takes one collection');
  }
}

/** How documents of a collection are decided. */
function optionsOf(values: Values<typeof deciding>) {
  const all = decidingOptions(values);
  const { idField: _id, format: _format, header: _header, resume: _resume, ...compared } = all;
  return compared;
}

/** Says what `dedup` of a collection will take; the result is the exit status. */
export async function planOfCollection(
  inputs: readonly string[],
  values: Values<typeof deciding & typeof choosing> & {
    readonly known: readonly string[] | undefined;
    readonly json: boolean;
  },
  terminal: Terminal,
): Promise<number> {
  const [source, another] = inputs;
  const { known, filter, limit, json } = values;
  if (source === undefined || another !== undefined) {
    throw new UsageError('plan reads one collection at a time');
  }
  refuseOfRecords(values);
  refuseFiles(known ?? [], known);
  const options = {
    ...optionsOf(values),
    ...given({ limit, known: known?.[0] }),
    ...given({ filter: filter === undefined ? undefined : await queryOf(filter) }),
  };
  const { planCollection } = await import('../connect/mongodb.js');
  return watched(terminal, '-', async (signal) => {
    const plan = await asOfInput(planCollection(source, { ...options, signal }));
    const said = json ? `${JSON.stringify({ ...plan, versions: versions() })}\n` : ways(plan);
    await terminal.write(said);
    return EXIT.done;
  });
}

/** Both ways, with an arrow at the one to take. */
function ways(plan: CollectionPlan): string {
  const { documents, sampled, exact, known, textBytes, readSeconds, free, advised } = plan;
  const row = (name: string, way: 'verified' | 'fingerprints') => {
    const { memoryBytes, diskBytes, cpuSeconds } = plan[way];
    const disk = diskBytes === 0 ? '-' : bytes(diskBytes);
    const arrow = advised === way ? '→' : '';
    return [arrow, name, bytes(memoryBytes), disk, range(cpuSeconds.least, cpuSeconds.most)];
  };
  const seen = exact ? 'all were read' : `${count(sampled)} of them were read`;
  const others = known === 0 ? '' : `, beside ${count(known)} known`;
  const none = 'neither way fits into what is free here: give --memory, or --tmp on another disk';
  return [
    `${plural(documents, 'document')}${others}, texts of ${bytes(textBytes)}; ${seen}`,
    table(
      ['', 'way', 'memory', 'disk', 'processor time'],
      [row('verified (default)', 'verified'), row('--no-texts', 'fingerprints')],
    ).trimEnd(),
    `free here: ${bytes(free.memoryBytes)} of memory, ${bytes(free.diskBytes)} of disk`,
    `reading takes some ${duration(Math.max(1, readSeconds))}, at the rate of the sample; writing comes to it`,
    ...(advised === undefined ? [none] : []),
    '',
  ].join('\n');
}

/** What the driver throws as an error of an input: of the driver's own kinds, and of those of its reader of BSON, none is a defect of this program. */
export async function asOfInput<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof Error) || !/^(Mongo|BSON)/.test(error.name)) throw error;
    const said = new SimHashError('ERR_SIMHASH_INPUT', `MongoDB: ${error.message}`);
    throw Object.assign(said, { cause: error });
  }
}

/** The values where fingerprints alone are compared: what nobody asked for is what goes with it. */
function bare(values: Given): Given {
  return {
    ...values,
    method: values.method ?? 'simhash',
    'max-distance': values['max-distance'] ?? 3,
    verify: values.verify === 'auto' ? 'off' : values.verify,
  };
}

/** Why nothing was written, and how it would be. */
function madeBefore(run: string, mark: boolean): string {
  const anew = mark
    ? 'unmark takes its marks out, and then it can be made again'
    : 'to make it again, empty the target and its .duplicates, and remove the record';
  const runs = mark ? 'SOURCE.runs' : 'TARGET.runs';
  return `run ${run} was made before, as ${runs} says: nothing was written; ${anew}`;
}

/** Which duplicates have no mark. */
function unmarked({ unmarked = 0, firstUnmarked = [] }: CollectionSummary): string[] {
  if (unmarked === 0) return [];
  const first = firstUnmarked.map((line) => `  ${line}`);
  return [`without a mark ${plural(unmarked, 'duplicate')}:`, ...first];
}

/** How fast it went, reading and writing included. */
function rate({ read, seconds }: CollectionSummary): string {
  const each = seconds > 0 ? Math.round(read / seconds) : 0;
  return `${plural(read, 'document')} in ${seconds.toFixed(2)} s (${count(each)}/s)`;
}

/** What was seen of a collection that may grow. */
function seen({ lastId, countAtEnd }: CollectionSummary): string[] {
  if (lastId === undefined) return [];
  const documents = plural(countAtEnd, 'document');
  return [
    `the last _id was ${lastId}, and there were ${documents} then; what came behind it later was not read`,
  ];
}

const DONE = { read: 'read', decide: 'decided', write: 'written' } as const;

async function queryOf(json: string): Promise<Document> {
  const { driver } = await import('../connect/mongodb/open.js');
  const { EJSON } = (await driver()).BSON;
  try {
    const query: unknown = EJSON.parse(json, { relaxed: false });
    if (typeof query === 'object' && query !== null && !Array.isArray(query)) return query;
  } catch {
    // Said below.
  }
  throw new UsageError(`--filter must be a query as JSON, as '{"lang": "zh"}', got '${json}'`);
}
