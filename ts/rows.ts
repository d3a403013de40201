/** Batches in columns: how they are printed and written as JSON. */
import { inspect } from 'node:util';
import { printedBy } from './inspect';

/** Rows that `util.inspect` shows; there may be millions. */
const SHOWN = 10;

/** Rows that become objects when they are read. */
export abstract class Rows<T> implements Iterable<T> {
  /** Number of rows. */
  abstract get length(): number;

  /** Row `row`; `undefined` where there is no such row, or an empty array where rows are arrays. */
  abstract get(row: number): T | undefined;

  *[Symbol.iterator](): IterableIterator<T> {
    for (let row = 0; row < this.length; row++) yield this.get(row) as T;
  }

  /** The rows as JSON has them. */
  toJSON(): unknown[] {
    return [...this];
  }
}

// Name, length and the first rows.
printedBy<Rows<unknown>>(Rows, (batch, depth, options, show) => {
  const name = `${batch.constructor.name}(${batch.length})`;
  if (depth < 0) return `[${name}]`;
  const most = Math.min(SHOWN, options.maxArrayLength ?? SHOWN);
  const rows: unknown[] = [];
  for (const row of batch) {
    if (rows.length === most) break;
    rows.push(row);
  }
  const more = batch.length - rows.length;
  if (more > 0) rows.push({ [inspect.custom]: () => `... ${more} more` });
  return `${name} ${show(rows, { ...options, depth })}`;
});
