/**
 * Matches of one search, in order. An array that says, as the matches of a regular expression say their `index`, whether
 * it is whole.
 */
export interface Found<M> extends Array<M> {
  /** `true` where a limit left matches out; else absent. Not enumerable. */
  readonly truncated?: true;
}

/** Matches that say whether a limit left some out. Two of them are equal where the matches are. */
export function found<M>(matches: M[], truncated: boolean): Found<M> {
  return truncated ? Object.defineProperty(matches, 'truncated', { value: true }) : matches;
}
