/**
 * Matches of one search, in order. An array that says, as the matches of a regular expression say their `index`, whether
 * it is whole.
 */
export interface Found<M> extends Array<M> {
  /** `true` where a limit left matches out; else absent. `console.log` shows it, and as JSON such an array is `{ truncated, matches }`. */
  readonly truncated?: true;
}

/** Matches that say whether a limit left some out. */
export function found<M>(matches: M[], truncated: boolean): Found<M> {
  if (!truncated) return matches;
  // JSON knows nothing of an array but its elements.
  const toJSON = { value: () => ({ truncated, matches: [...matches] }) };
  return Object.defineProperties(matches, { truncated: { value: true, enumerable: true }, toJSON });
}
