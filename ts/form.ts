/** How files are read, as far as they do not say it themselves: the options that every run over files takes. */
import { about, typeError } from './errors';
import type { NativeForm } from './native';
import * as check from './options';

/** What the records of files are. */
export type Format =
  /** A JSON object on each line. */
  | 'jsonl'
  /** The objects of one JSON array. */
  | 'json'
  /** Rows with commas between their fields, of which the first names the columns. */
  | 'csv'
  /** The same with tabs. */
  | 'tsv'
  /** A text on each line. */
  | 'lines'
  /** A text in each file, or in each file below a folder that ends in `.txt`, `.text`, `.md`, `.html` or `.htm`. */
  | 'files'
  /** The rows of a Parquet file. */
  | 'parquet'
  /** The rows of an Arrow file (Feather) or of a stream in a file. */
  | 'arrow';

/** How files are read. */
export interface FormOptions {
  /**
   * Field of the text, `a.b` for nested ones, of CSV and TSV the name of its column (without a header its number). Several are joined by newlines.
   * Default `'text'`.
   */
  textField?: string | readonly string[] | undefined;
  /** Field of the id. Default `'id'`; without it the line number is the id, with several inputs `file:line`. */
  idField?: string | undefined;
  /**
   * What records are. Default: by the name of each file (`.jsonl`, `.ndjson`, `.csv`, `.tsv`, `.tab`, `.txt`, `.text`, whatever compresses it), else JSON by its
   * first character, Parquet and Arrow by their bytes; a folder holds a text in each file, and so does a quoted pattern (`'news/*.txt'`). Inputs of one run have one format, and one list of columns.
   */
  format?: Format | undefined;
  /**
   * How characters are written: a name of the WHATWG's list, such as `'gb18030'`, `'big5'`, `'utf-16le'`. Default: found, once for each file: UTF-8, UTF-16 with a
   * mark or without, GB18030 (GBK), Big5. Bytes that are no characters make a rejected record.
   */
  encoding?: string | undefined;
  /** Of CSV and TSV: whether the first row names the columns; without it they have numbers, from 1. Default true. */
  header?: boolean | undefined;
  /**
   * Between the fields of CSV: one sign of ASCII that is no letter, no digit, no double quote and no end of a line, such as `';'`, `'|'` or `'\t'`. Default
   * `','`.
   */
  delimiter?: string | undefined;
  /** Longest record in bytes, 1 to 2^30; a longer one is rejected, and a quoted field of CSV that is longer is an error. Default 67,108,864. */
  maxRecord?: number | undefined;
  /** A text ends where the first of these begins, for all that is looked at. Default: none. */
  cutAfter?: string | readonly string[] | undefined;
}

const texts = (value: unknown, name: string): string | readonly string[] => {
  if (typeof value === 'string') return value;
  check.array(value, name);
  const listed = value as readonly unknown[];
  return listed.map((text, row) => check.string(text, `${name}[${row}]`));
};

/** What stands between fields, in words. */
export const DELIMITER = 'one sign of ASCII, no letter, digit, double quote or end of a line';

/** Whether this can stand between the fields of CSV. */
export function isDelimiter(sign: string): boolean {
  return /^[^\P{ASCII}\w"\r\n\0]$|^_$/u.test(sign);
}

/** Their checks. */
export const FORM: check.Checks<FormOptions> = {
  textField: texts,
  idField: check.string,
  format: check.choice('jsonl', 'json', 'csv', 'tsv', 'lines', 'files', 'parquet', 'arrow'),
  encoding: check.string,
  header: check.boolean,
  delimiter: (value, name) => {
    const sign = check.string(value, name);
    if (isDelimiter(sign)) return sign;
    const message = `${name} must be ${DELIMITER}, got ${JSON.stringify(sign)}`;
    throw about(typeError(message, 'ERR_INVALID_ARG_VALUE'), name);
  },
  maxRecord: check.integer(1, 2 ** 30),
  cutAfter: texts,
};

/** Checked options as the addon takes them; `otherwise`: the format of a file that does not say it, JSON lines unless given. */
export function nativeForm(options: FormOptions, otherwise?: 'lines'): NativeForm {
  const { textField = 'text', idField = 'id', cutAfter = [], header = true } = options;
  const { format, encoding, delimiter, maxRecord } = options;
  return {
    textFields: listed(textField),
    idField,
    header,
    cutAfter: listed(cutAfter),
    ...(format === undefined ? {} : { format }),
    ...(otherwise === undefined ? {} : { otherwise }),
    ...(encoding === undefined ? {} : { encoding }),
    ...(delimiter === undefined ? {} : { delimiter }),
    ...(maxRecord === undefined ? {} : { maxRecord }),
  };
}

function listed(texts: string | readonly string[]): string[] {
  return typeof texts === 'string' ? [texts] : [...texts];
}
