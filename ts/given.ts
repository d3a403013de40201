/** Options as the library takes them: a key is absent where nothing was given. */

type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** `values` without the keys whose value is `undefined`. */
export function given<T extends object>(values: T): Given<T> {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined),
  ) as Given<T>;
}
