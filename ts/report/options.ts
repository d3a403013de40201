/** What a report shows: options of the report itself, and of runs that write one beside their result. */
import { checksOf } from '../option-table';
import * as check from '../options';

/** What a report shows. */
export interface ReportOptions {
  /** How much of each text the page holds: the first 20,000 characters, the first 1,000, or nothing but ids and lengths. Default `'cut'`. */
  reportTexts?: 'all' | 'cut' | 'none' | undefined;
  /**
   * Field of a record that holds its date, keys separated by dots: `2026-11-24` and whatever stands behind it, seconds or milliseconds since 1970, or a
   * year. Default: documents are not counted by date.
   */
  dateField?: string | undefined;
}

/** The options of a report, for runs that write one beside their result. */
export const REPORT: check.Checks<ReportOptions> = {
  ...checksOf('reportTexts'),
  dateField: check.field,
};
