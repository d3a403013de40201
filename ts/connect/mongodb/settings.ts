/** The options of a run over a collection. */
import { randomUUID } from 'node:crypto';
import type { Collection, Document } from 'mongodb';
import { COMPARISON, keep } from '../../comparison';
import { about, typeError } from '../../errors';
import { JOB } from '../../fingerprinter';
import { FORM } from '../../form';
import * as check from '../../options';
import { path } from '../../path';
import { REPORT } from '../../report/options';
import type { DedupCollectionOptions, PlanCollectionOptions } from '../mongodb';

const object = (value: unknown, name: string): Document => {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw check.wrongType(name, 'an object', value);
};
const fingerprint = check.choice('string', 'long');

const PLAN: check.Checks<PlanCollectionOptions> = {
  ...COMPARISON,
  ...JOB,
  keep,
  textField: FORM.textField,
  cutAfter: FORM.cutAfter,
  memory: check.integer(1, Number.MAX_SAFE_INTEGER),
  tmp: path,
  filter: object,
  limit: check.integer(1, 2 ** 31 - 1),
  known: (value) => value as string | Collection,
  batch: check.integer(1, 100_000),
};

const OPTIONS: check.Checks<DedupCollectionOptions> = {
  ...PLAN,
  append: check.boolean,
  texts: check.boolean,
  mark: check.boolean,
  markField: check.field,
  fingerprint: (value, name) => (value === false ? false : fingerprint(value, name)),
  lease: check.integer(1000, 2 ** 31 - 1),
  report: path,
  ...REPORT,
  onProgress: check.callback,
};

/** Checked options. */
export type Settings = DedupCollectionOptions & { readonly textFields: readonly string[] };

/** @throws TypeError, RangeError for what is no option, or does not go together. */
export function settingsOf(options: DedupCollectionOptions | undefined): Settings {
  const given = check.checked<DedupCollectionOptions>(options, OPTIONS);
  const { mark = false, textField = 'text' } = given;
  const refused = mark
    ? (['append', 'fingerprint'] as const).find((name) => given[name] !== undefined)
    : given.markField === undefined
      ? undefined
      : ('markField' as const);
  if (refused !== undefined) {
    const message = `${refused} must be left out ${mark ? 'beside' : 'without'} mark`;
    throw about(typeError(message, 'ERR_INVALID_ARG_VALUE'), refused);
  }
  if (given.texts === false) refuseBesideFingerprints(given);
  if (given.report === undefined) {
    const own = (['reportTexts', 'dateField'] as const).find((name) => given[name] !== undefined);
    if (own !== undefined) {
      const message = `${own} is for report, which is not given`;
      throw about(typeError(message, 'ERR_INVALID_ARG_VALUE'), own);
    }
  }
  return { ...given, textFields: typeof textField === 'string' ? [textField] : textField };
}

/** @throws TypeError, RangeError for what is no option of a plan. */
export function planSettingsOf(options: PlanCollectionOptions | undefined): Settings {
  const given = check.checked<PlanCollectionOptions>(options, PLAN);
  const { textField = 'text' } = given;
  return { ...given, textFields: typeof textField === 'string' ? [textField] : textField };
}

/** Refuses what fingerprints alone cannot do. */
function refuseBesideFingerprints(options: DedupCollectionOptions): void {
  const only: Partial<Record<keyof DedupCollectionOptions, readonly unknown[]>> = {
    method: ['simhash'],
    keep: ['first'],
    cluster: ['representative'],
    verify: [false],
    minSimilarity: [0],
    mark: [false],
    ...{ bands: [], rows: [], sentences: [], maxVerifications: [], tmp: [], report: [] },
  };
  for (const [name, values] of Object.entries(only)) {
    const value = options[name as keyof DedupCollectionOptions];
    if (value === undefined || values.includes(value)) continue;
    const [one] = values;
    const must = one === undefined ? 'be left out' : `be ${check.show(one)}`;
    const message = `${name} must ${must} beside texts: false, which compares fingerprints as documents come, got ${check.show(value)}`;
    throw about(typeError(message, 'ERR_INVALID_ARG_VALUE'), name);
  }
}

/**
 * What a run is, as text: runs with the same one go on with each other. What changes no result is left out. `filter` is the query as
 * extended JSON, `places` says where the collections are.
 */
export function recipeOf(
  places: readonly string[],
  settings: Settings,
  filter: string,
  versions: string,
): string {
  const {
    threads,
    memory,
    tmp,
    signal,
    batch,
    lease,
    onProgress,
    append,
    known,
    report,
    reportTexts,
    ...rest
  } = settings as Settings & { threads?: number };
  // A dictionary that is an object says nothing of its words: such a run is one that nobody goes on with.
  return JSON.stringify({ places, ...rest, filter, versions }, (_, value) => {
    const isPlain = typeof value !== 'object' || value === null || Array.isArray(value);
    const kind = isPlain ? undefined : Object.getPrototypeOf(value)?.constructor?.name;
    if (kind !== undefined && kind !== 'Object') return `${kind} ${randomUUID()}`;
    return typeof value === 'bigint' ? String(value) : value;
  });
}
