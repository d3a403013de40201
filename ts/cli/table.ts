/** Rows as a table for people: columns of one width, numbers to the right. */

/** The first two columns hold words, the others numbers. */
const WORDS = 2;

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_name, column) =>
    Math.max(...all.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]) =>
    row.map((cell, column) => aligned(cell, widths[column] ?? 0, column)).join('  ');
  return all.map((row) => `${line(row).trimEnd()}\n`).join('');
}

function aligned(cell: string, width: number, column: number): string {
  return column < WORDS ? cell.padEnd(width) : cell.padStart(width);
}
