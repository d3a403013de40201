/** Whether bit `row` is set; the lowest bit of a byte comes first. */
export function bit(bitmap: Uint8Array, row: number): boolean {
  return (((bitmap[row >> 3] ?? 0) >> (row & 7)) & 1) === 1;
}
