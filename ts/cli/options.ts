/** Options that several commands share, so that a name means the same thing everywhere. */
import { DELIMITER, type FormOptions, isDelimiter } from '../form';
import { given } from '../given';
import { defaultDistance, methodOf } from '../method';
import { OPTIONS } from '../option-table';
import type { ReportSummary } from '../report/write';
import type { Values } from './command';
import { UsageError } from './exit';
import { count, plural } from './format';
import { LIST_HELP, normalizeOf } from './normalize';

/** Who is compared with whom. */
export const candidates = {
  method: OPTIONS.method,
  'max-distance': OPTIONS.maxDistance,
  bands: OPTIONS.bands,
  rows: OPTIONS.rows,
  sentences: OPTIONS.sentences,
} as const;

/** What they are compared by. */
export const verification = {
  verify: { ...OPTIONS.verify, choices: [...OPTIONS.verify.choices, 'off'], default: 'auto' },
  'min-similarity': OPTIONS.minSimilarity,
  'max-verifications': OPTIONS.maxVerifications,
} as const;

/** Files of the words of one's own. */
export const words = {
  dictionary: {
    kind: 'text',
    value: 'FILE',
    help: "words beside jieba's own, a line each: word, frequency and tag, the latter two if known",
  },
  'stop-words': {
    kind: 'text',
    value: 'FILE',
    help: 'words that never become keywords, a line each; for tfidf',
  },
  idf: {
    kind: 'text',
    value: 'FILE',
    help: "how rare words are, a line each: word and idf, in place of jieba's; for tfidf",
  },
} as const;

/** How a text becomes features; without an option, what the preset says. */
export const features = {
  preset: { ...OPTIONS.preset, default: 'auto' },
  features: OPTIONS.features,
  ngram: OPTIONS.ngram,
  weighting: OPTIONS.weighting,
  'top-k': {
    kind: 'text',
    value: 'K',
    help: 'keep only the K heaviest features; auto: half of them, at least 30; for tfidf',
  },
  segmenter: OPTIONS.segmenter,
  'no-hmm': {
    kind: 'flag',
    help: 'cut what is in no dictionary into single characters; for jieba',
  },
  ...words,
  normalize: { kind: 'text', value: 'LIST', help: LIST_HELP },
  'min-features': OPTIONS.minFeatures,
} as const;

type FeatureOptions = typeof features;

/** A number or `auto`; the library says what is wrong with anything else. */
function topK(typed: string | undefined): number | 'auto' | undefined {
  if (typed === undefined || typed === 'auto') return typed;
  if (!/^\d+$/.test(typed)) {
    throw new UsageError(`--top-k must be a whole number from 1 or auto, got '${typed}'`);
  }
  return Number(typed);
}

/** The options of {@link features} as the library takes them. */
export function fingerprinterOptions(values: Values<FeatureOptions>) {
  const { preset, features, ngram, weighting, segmenter, normalize } = values;
  return given({
    ...{ preset, features, ngram, weighting, segmenter },
    topK: topK(values['top-k']),
    hmm: values['no-hmm'] ? false : undefined,
    ...wordsOf(values),
    normalize: normalize === undefined ? undefined : normalizeOf(normalize),
    minFeatures: values['min-features'],
  });
}

/** The options of {@link words} as the library takes them. */
export function wordsOf(values: Values<typeof words>) {
  const { dictionary, 'stop-words': stopWords, idf } = values;
  return given({ dictionary, stopWords, idf });
}

/** How files are read: where text and id are in a record, and what files do not say themselves. */
export const fields = {
  'text-field': {
    kind: 'texts',
    value: 'NAME',
    help: 'field that holds the text, a.b for nested ones; several are joined; without it text',
  },
  'id-field': {
    kind: 'text',
    value: 'NAME',
    default: 'id',
    help: 'field that holds the id; without it the line number is the id',
  },
  format: {
    kind: 'choice',
    value: 'FORMAT',
    choices: ['auto', 'jsonl', 'json', 'csv', 'tsv', 'lines', 'files', 'parquet', 'arrow'],
    default: 'auto',
    help: 'format of the records; auto: by file name, then by the first character; files: one text in each file',
  },
  encoding: {
    kind: 'text',
    value: 'NAME',
    help: 'encoding of the inputs: utf-8, utf-16le, gb18030, big5 …; without it detected, once for each file',
  },
  'no-header': {
    kind: 'flag',
    help: 'the first row of CSV or TSV is a record; columns are named by number: --text-field 3',
  },
  delimiter: {
    kind: 'text',
    value: 'SIGN',
    help: 'separator of CSV fields: one ASCII character, such as ; or |, or tab; without it a comma',
  },
  'max-record': {
    kind: 'text',
    value: 'SIZE',
    help: 'longest record, in bytes or as 64K, 64M, at most 1G; without it 64M',
  },
  'cut-after': {
    kind: 'texts',
    value: 'TEXT',
    help: 'cut texts where this string begins, before they are compared',
  },
} as const;

/** How a command runs. */
export const execution = {
  threads: { ...OPTIONS.threads, default: 0 },
  json: { kind: 'flag', help: 'print the summary as JSON, with options and versions' },
  quiet: { kind: 'flag', short: 'q', help: 'no progress and no summary, only errors' },
} as const;

const memory = {
  kind: 'text',
  value: 'SIZE',
  help: 'memory limit of the process, as 512M or 2G (of 1,024), at least 200M; the rest goes to temporary files',
} as const;

/** What a run over files may take that does not go on where another one stopped. */
export const bounds = {
  memory,
  tmp: {
    kind: 'text',
    value: 'DIR',
    help: 'folder for temporary files, on a disk; without it that of the system',
  },
} as const;

/** The values of {@link bounds} as the library takes them. */
export function boundsOf({ memory, tmp }: Values<typeof bounds>) {
  return given({ memory: memory === undefined ? undefined : sizeOf(memory, MEMORY), tmp });
}

/** What a run over files may take. */
export const resources = {
  memory,
  tmp: {
    kind: 'text',
    value: 'DIR',
    help: 'folder for temporary files, on a disk, where the run also stores its progress; without it that of the system, and no progress is stored',
  },
  resume: {
    kind: 'flag',
    help: 'continue this command, given the same --tmp, where it was stopped; if it was not, start from the beginning',
  },
} as const;

/** The values of {@link resources} as the library takes them. */
export function resourcesOf({ resume, ...within }: Values<typeof resources>) {
  return { ...boundsOf(within), ...given({ resume: resume || undefined }) };
}

/** A flag whose value is a size: from how many bytes to how many, and how that is said. */
interface Size {
  readonly flag: string;
  readonly least: number;
  readonly most: number;
  readonly must: string;
}

const MEMORY: Size = {
  flag: '--memory',
  least: 200 * 1024 ** 2,
  most: Number.MAX_SAFE_INTEGER,
  must: 'a size of at least 200M, as 512M or 2G',
};

const MAX_RECORD: Size = {
  flag: '--max-record',
  least: 1,
  most: 1024 ** 3,
  must: 'a size from 1 to 1G, as 64K or 256M',
};

/** Bytes of `2G`, `1.5G`, `512M` or `300000000`. */
export function sizeOf(typed: string, { flag, least, most, must }: Size): number {
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)([KMGT]?)$/i.exec(typed) ?? [];
  const size = Math.round(Number(amount) * 1024 ** ' KMGT'.indexOf(unit.toUpperCase() || ' '));
  // Without an amount it is no number, and in no range.
  if (size >= least && size <= most) return size;
  throw new UsageError(`${flag} must be ${must}, got '${typed}'`);
}

/** What stands between fields: `tab` and `\\t`, which a shell passes on as they are, are a tab. */
function delimiterOf(typed: string): string {
  const sign = typed === 'tab' || typed === '\\t' ? '\t' : typed;
  if (isDelimiter(sign)) return sign;
  throw new UsageError(`--delimiter must be ${DELIMITER}, or tab, got '${typed}'`);
}

/** Who is compared with whom, by what, whatever the documents come from. */
export const judging = { ...candidates, ...verification, ...features } as const;

/** How documents are compared. */
export const comparing = {
  ...judging,
  ...fields,
  ...execution,
} as const;

/** The values of {@link comparing} as the library takes them. */
export function comparingOptions(values: Values<Omit<typeof comparing, keyof typeof fields>>) {
  const maxVerifications = values['max-verifications'];
  return {
    ...methodOptions(values),
    ...fingerprinterOptions(values),
    ...given({ maxVerifications }),
    threads: values.threads,
  };
}

/** The method that is asked for, with its own options and what it is verified by. */
export function methodOptions(
  values: Values<typeof candidates & Omit<typeof verification, 'max-verifications'>>,
) {
  const { bands, rows, sentences } = values;
  const own = given({ maxDistance: values['max-distance'], bands, rows, sentences });
  const method = methodOf({ ...given({ method: values.method }), ...own });
  const compared = verified(values);
  const maxDistance = defaultDistance(compared.verify !== false);
  return { ...(method === 'simhash' && { maxDistance }), ...own, method, ...compared };
}

function verified({
  verify,
  'min-similarity': least,
}: Values<Pick<typeof verification, 'verify' | 'min-similarity'>>) {
  // The measure that nobody asked for goes with 0; another one beside it is refused.
  if (verify === 'auto' && least === 0) return { verify: false as const };
  if (verify !== 'off') return { verify, minSimilarity: least ?? 0.8 };
  if (least === undefined || least === 0) return { verify: false as const };
  throw new UsageError(
    `--min-similarity ${least} must be left out beside --verify off, which measures nothing`,
  );
}

/** The values of {@link fields} as the library takes them. */
export function fieldsOf(values: Values<typeof fields>): FormOptions {
  const { format, encoding, delimiter, 'max-record': maxRecord } = values;
  return given({
    textField: values['text-field'],
    idField: values['id-field'],
    format: format === 'auto' ? undefined : format,
    encoding,
    header: !values['no-header'],
    delimiter: delimiter === undefined ? undefined : delimiterOf(delimiter),
    maxRecord: maxRecord === undefined ? undefined : sizeOf(maxRecord, MAX_RECORD),
    cutAfter: values['cut-after'],
  });
}

/** Options that help shows together, beside those that are a command's own. */
export const GROUPS: readonly (readonly [title: string, names: readonly string[]])[] = [
  [
    'What a duplicate is',
    [
      ...Object.keys(candidates),
      ...['plan', 'capacity', 'cluster', 'keep', 'keep-by', 'across-files-only'],
      ...Object.keys(verification),
    ],
  ],
  ['What texts are compared by', Object.keys(features)],
  ['How files are read', Object.keys(fields)],
  [
    'How it runs',
    [...Object.keys({ ...execution, ...resources }), ...['config', 'print-config', 'help']],
  ],
];

/** A file for data that goes to standard output otherwise. */
export const output = {
  output: {
    kind: 'text',
    short: 'o',
    value: 'FILE',
    default: '-',
    help: 'file that appears whole or not at all, compressed if its name ends in .gz or .zst; - is standard output',
  },
} as const;

/** New documents themselves, in place of their matches. */
export const separating = {
  remove: {
    kind: 'flag',
    help: 'write the new documents without a match, in their format, instead of matches',
  },
  mark: {
    kind: 'flag',
    help: 'write all new documents; add duplicateOf, similarity and distance of the best match',
  },
  list: {
    kind: 'flag',
    help: 'for texts in files: write the paths of those without a match, one per line',
  },
  copy: {
    kind: 'text',
    value: 'DIR',
    help: 'for texts in files, instead of -o: copy those without a match into this folder; existing files are not replaced',
  },
  'output-encoding': {
    kind: 'text',
    value: 'NAME',
    help: 'for new documents: encoding of the output; without it that of the inputs',
  },
} as const;

/** The values of {@link separating} as the library takes them; where the data goes, and whether it is documents. */
export function separatingOf(
  values: Values<typeof separating & typeof output & { limit: typeof OPTIONS.limit }>,
) {
  const { remove, mark, list, copy, 'output-encoding': outputEncoding } = values;
  const ways = Object.entries({ remove, mark, list, copy: copy !== undefined });
  const [way, other] = ways.filter(([, given]) => given).map(([name]) => name);
  if (way !== undefined && other !== undefined) {
    throw new UsageError(`--${other} must be left out beside --${way}`);
  }
  if (outputEncoding !== undefined && way !== 'remove' && way !== 'mark') {
    throw new UsageError(
      '--output-encoding is for --remove and --mark',
      'matches are in UTF-8, lists and copies have the bytes of files',
    );
  }
  if (way !== undefined && values.limit !== undefined) {
    throw new UsageError(
      `--limit must be left out beside --${way}`,
      'it is for matches, which are not written',
    );
  }
  const records = given({
    remove: remove || undefined,
    mark: mark || undefined,
    list: list || undefined,
    copy,
    outputEncoding,
  });
  const separates = way !== undefined;
  if (copy === undefined) return { records, separates, output: values.output };
  if (values.output !== '-') throw new UsageError('--copy is instead of -o FILE');
  return { records, separates, output: undefined };
}

/** A file for what could not be used. */
export const rejects = {
  rejects: { kind: 'text', value: 'FILE', help: 'also write the rejected records' },
} as const;

/** What a report shows. */
export const looks = {
  'report-texts': OPTIONS.reportTexts,
  'date-field': {
    kind: 'text',
    value: 'NAME',
    help: 'field that holds the date of a document, for the report: as 2026-11-24, or seconds since 1970',
  },
} as const;

/** A report beside the result. */
export const reporting = {
  report: {
    kind: 'text',
    value: 'FILE',
    help: 'also write a report as an HTML page: figures, and clusters to look at and to label; docs/report.md',
  },
  ...looks,
} as const;

/** The values of {@link looks} as the library takes them. */
export function looksOf(values: Values<typeof looks>) {
  return given({ reportTexts: values['report-texts'], dateField: values['date-field'] });
}

/** The values of {@link reporting} as the library takes them. */
export function reportingOf(values: Values<typeof reporting>) {
  const looks = looksOf(values);
  if (values.report !== undefined) return { report: values.report, ...looks };
  for (const name of ['report-texts', 'date-field'] as const) {
    if (values[name] !== undefined) throw new UsageError(`--${name} is for --report FILE`);
  }
  return {};
}

/** What is said of a report that was written. */
export function reported(report: ReportSummary | undefined, file: string | undefined): string[] {
  if (report === undefined || file === undefined) return [];
  const { shown, groups, unknown } = report;
  return [
    `${file}: ${count(shown)} of ${plural(groups, 'cluster')} with their members`,
    ...(unknown > 0
      ? [
          `${plural(unknown, 'document')} of the clusters ${unknown === 1 ? 'is' : 'are'} not among the inputs`,
        ]
      : []),
  ];
}

/** The saved index that a command works on. */
export const savedIndex = {
  index: {
    kind: 'text',
    value: 'DIR',
    help: 'the folder of an index, or a file that Index.save has written',
  },
} as const;

/** Files of documents. */
export const DOCUMENTS = {
  usage: 'IN...',
  min: 1,
  max: Number.POSITIVE_INFINITY,
  help: 'files or folders, plain or compressed; - is standard input',
} as const;

/** The folder of an index, then files of documents. */
export const INDEX_AND_DOCUMENTS = {
  usage: 'DIR IN...',
  min: 2,
  max: Number.POSITIVE_INFINITY,
  help: 'the folder of the index, then files or folders, plain or compressed; - is standard input',
} as const;

/** An index that is only read. */
export const READ_INDEX = {
  usage: 'DIR',
  min: 1,
  max: 1,
  help: 'the folder of an index, or a file that Index.save has written',
} as const;

/** @throws UsageError where standard input or output would be used twice. */
export function checkStreams(inputs: readonly string[], files: readonly (string | undefined)[]) {
  if (inputs.filter((input) => input === '-').length > 1) {
    throw new UsageError('standard input (-) can be read only once');
  }
  if (files.includes('-')) {
    throw new UsageError('only -o can be standard output (-); name a file for the others');
  }
}
