/** Writes the page of a report; texts go from file to file in the addon. */
import { existsSync } from 'node:fs';
import { binding } from '../binding';
import { telling } from '../callback';
import { type ComparisonOptions, nativeComparison, type Rejected } from '../comparison';
import { typeError } from '../errors';
import type { FingerprinterOptions, JobOptions } from '../fingerprinter';
import { type FormOptions, nativeForm } from '../form';
import { given } from '../given';
import { defaultDistance, methodOf } from '../method';
import type { NativeProgress } from '../native';
import { type BandPlan, plan } from '../plan';
import { canBeReadAgain } from '../read-again';
import type { RunAbout } from './about';
import { around } from './document';
import { next } from './next';
import type { ReportOptions } from './options';

/** How far a report is. */
export interface ReportProgress {
  /** Records read. */
  documents: number;
  /** Bytes read, compressed ones of compressed files; comparable with `totalBytes`. */
  bytes: number;
  /** Size of all inputs. */
  totalBytes?: number;
  /** Duplicates met. */
  duplicates: number;
}

/** What a report tells. */
export interface ReportSummary {
  /** Documents of the inputs. */
  documents: number;
  /** Of these, those that the result names as duplicates; of matches those that have one. */
  duplicates: number;
  /** Clusters of two or more; of matches documents that have one. */
  groups: number;
  /** Groups that the page shows with their texts. */
  shown: number;
  /** Duplicates that the result names and no input has: it may be of other inputs. */
  unknown: number;
  /** Lines and records that could not be used, of all files. */
  rejected: number;
  /** The first ten of them. */
  firstRejected: Rejected[];
  /** Unfinished pages of earlier runs that were killed; they were removed. */
  leftovers: string[];
}

/** The files of a report. */
export interface Written {
  readonly result: string;
  readonly inputs: readonly string[];
  readonly others: readonly string[];
  readonly output: string;
}

/** What the page says of how documents were compared. */
export type ComparedBy = Pick<
  ComparisonOptions,
  'method' | 'maxDistance' | 'bands' | 'rows' | 'verify' | 'minSimilarity' | 'threads'
>;

/** How a report is made; what makes features is for the commands that the page shows. */
export interface Made
  extends ReportOptions,
    ComparedBy,
    JobOptions,
    FormOptions,
    FingerprinterOptions {
  readonly onProgress?: ((progress: ReportProgress) => void) | undefined;
  readonly command: RunAbout['command'];
  readonly truncated?: number | undefined;
  /** Whether the result is a file that goes away. */
  readonly temporary?: boolean | undefined;
  /** Of documents of a database, which were in files that go away; `form` is how they would be read from a file of them. */
  readonly database?:
    | (Pick<RunAbout, 'inputs' | 'names' | 'rejected'> & { readonly form: FormOptions })
    | undefined;
}

/** Writes a page. */
export async function write(files: Written, made: Made): Promise<ReportSummary> {
  refuseStreams(files);
  const { result, inputs, others, output } = files;
  const { reportTexts: texts = 'cut', dateField: date, threads = 0 } = made;
  const about: RunAbout = {
    ...{ command: made.command, version: binding.version(), texts },
    ...comparedBy(made),
    ...given({ truncated: made.truncated, result: made.temporary ? undefined : result }),
    ...of(inputs, made.database),
    next: next(files, made),
  };
  const native = {
    ...{ result, inputs: [...inputs], others: [...others], output, texts, threads },
    ...around(about),
    form: nativeForm(made),
    ...given({ date }),
  };
  const { onProgress } = made;
  const report = onProgress && ((progress: NativeProgress) => onProgress(position(progress)));
  return telling(report, made.signal, (report, cancel) =>
    binding.reportFiles(native, report, cancel),
  );
}

/** The documents, in words: not of what file each is, which may be many. */
function of(
  inputs: readonly string[],
  database: Made['database'],
): Pick<RunAbout, 'inputs' | 'moreInputs' | 'names' | 'rejected'> {
  const { form: _form, ...named } = database ?? { inputs };
  const [first = '', ...more] = named.inputs;
  return { ...named, inputs: [first], ...(more.length === 0 ? {} : { moreInputs: more.length }) };
}

/** Refuses what a report cannot be made of or written to, before a run begins. */
export function refuseStreams({ result, inputs, others, output }: Written): void {
  const invalid = (what: string) => typeError(what, 'ERR_INVALID_ARG_VALUE');
  if ([...inputs, ...others].includes('-')) {
    const why = "a report reads inputs again, and standard input ('-') can be read only once";
    throw invalid(`inputs must be files: ${why}`);
  }
  const once = [...inputs, ...others].find((name) => existsSync(name) && !canBeReadAgain(name));
  if (once !== undefined) {
    const why = `a report reads inputs again, and ${once} is a pipe or a device`;
    throw invalid(`inputs must be files: ${why}`);
  }
  if (output === '-') throw invalid("a report is a file of its own, not standard output ('-')");
  if (result === '-' || /\.[ct]sv(\.gz|\.zst)?$/i.test(result)) {
    throw invalid(
      `a report reads clusters or matches as a file of JSON lines, got ${result === '-' ? 'standard output' : result}`,
    );
  }
}

/** What the page says of how documents were compared; for a file of which nothing is said, the threshold by default. */
function comparedBy(made: Made): Partial<RunAbout> {
  // Refuses what does not go together.
  const { minSimilarity = 0.8 } = nativeComparison(made);
  const name = methodOf(made);
  const verified = minSimilarity > 0 && name !== 'exact';
  const threshold = verified ? { threshold: minSimilarity } : {};
  const all = { method: name, ...threshold, ...given({ measure: made.verify || undefined }) };
  if (name === 'simhash') {
    return { ...all, maxDistance: made.maxDistance ?? defaultDistance(verified) };
  }
  if (name !== 'minhash') return all;
  const own = given({ bands: made.bands, rows: made.rows });
  if (!verified && own.bands === undefined) return all;
  const planned = plan({ method: 'minhash', minSimilarity, count: 0, ...own }) as BandPlan;
  return { ...all, bands: planned.bands, rows: planned.rows };
}

function position({ documents, bytes, totalBytes, duplicates }: NativeProgress): ReportProgress {
  // The addon says null for what is absent.
  const total = typeof totalBytes === 'number' ? { totalBytes } : {};
  return { documents, bytes, ...total, duplicates };
}
