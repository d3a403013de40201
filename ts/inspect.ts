/** How `util.inspect`, and so `console.log`, prints instances of a class. */
import { type InspectOptions, inspect } from 'node:util';

/** Gives the text; `depth` is below 0 where only a name is wanted, `show` prints what is inside. */
export type Print<T> = (value: T, depth: number, options: InspectOptions, show: Show) => string;
type Show = typeof inspect;

/** Prints instances so. The method is no part of the type of the class, whose declarations need none of Node's then. */
export function printedBy<T>(of: { readonly prototype: T }, print: Print<T>): void {
  Object.defineProperty(of.prototype, inspect.custom, {
    configurable: true,
    writable: true,
    value(this: T, depth: number, options: InspectOptions, show: Show) {
      return print(this, depth, options, show);
    },
  });
}
