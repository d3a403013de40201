/** Options of an index of sentences in a LevelDB and of its calls, and how they are checked. */
import { JOB, type JobOptions } from '../fingerprinter';
import { CHECK_MANY, type DuplicateOptions, SEARCH } from '../index-calls';
import { INDEX, type SentencesIndexOptions } from '../index-options';
import type { Normalize } from '../normalize';
import * as check from '../options';
import { type Time, type Times, time, times } from '../time';

/** How an index in a LevelDB is opened; what exists must have been made with what is given. */
export interface LevelSentencesOptions
  extends Pick<
    SentencesIndexOptions,
    'sentences' | 'minLength' | 'hash' | 'common' | 'window' | 'threads'
  > {
  /** Normalisation, as for `sentences()`. Default as for a fingerprinter. */
  normalize?: Normalize | undefined;
  /** Begins every key, so that other things can be in the database. Default `'simhash-sentences'`. */
  prefix?: string | undefined;
  /** Passed to every write: whether the database has the disk write it before it acknowledges. Default true. */
  sync?: boolean | undefined;
}

/** The options that decide what is similar, as the database has them; `count` is `sentences`. */
export interface KeptOptions extends Pick<LevelSentencesOptions, 'common' | 'window'> {
  count?: number | undefined;
}

/** When one text came. */
export interface TimeOptions {
  /** The text's time, as for `Index`. Default now. */
  at?: Time | undefined;
}

/** When many texts came. */
export interface TimesOptions {
  /** One time for all texts, or one for each, in order. Default now. */
  at?: Times | undefined;
}

export const LEVEL: check.Checks<LevelSentencesOptions> = {
  sentences: INDEX.sentences,
  minLength: INDEX.minLength,
  hash: INDEX.hash,
  common: INDEX.common,
  window: INDEX.window,
  threads: INDEX.threads,
  normalize: INDEX.normalize,
  prefix: check.string,
  sync: check.boolean,
};

const keyless = check.notHere(
  'is an option of Index, made with keys: true; this index keeps no keys, so map its ids to your own',
);
const KEYLESS = { key: keyless, keys: keyless };
type Keyless = { key?: never; keys?: never };

/** Times come out of the check in milliseconds. */
export const AT: check.Checks<{ at?: number } & Keyless> = { at: time, ...KEYLESS };
export const AT_JOB: check.Checks<{ at?: Float64Array } & Keyless & JobOptions> = {
  at: times,
  ...KEYLESS,
  ...JOB,
};
const { onDuplicate } = CHECK_MANY;
export const CHECK_AT: check.Checks<{ at?: number } & Keyless & DuplicateOptions> = {
  ...AT,
  onDuplicate,
};
export const CHECK_AT_JOB: check.Checks<
  { at?: Float64Array } & Keyless & JobOptions & DuplicateOptions
> = { ...AT_JOB, onDuplicate };
export const SEARCH_TEXT: check.Checks<{ limit?: number | undefined }> = { limit: SEARCH.limit };
export const SEARCH_TEXTS: check.Checks<{ limit?: number | undefined } & JobOptions> = {
  ...SEARCH_TEXT,
  ...JOB,
};
