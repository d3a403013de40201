/** Fingerprints for tests: numbers that look random and are the same in every run, about half of them near an earlier one. */

/** xorshift64. */
export function* random(): Generator<bigint, never> {
  let state = 88172645463325252n;
  for (;;) {
    state = BigInt.asUintN(64, state ^ (state << 13n));
    state ^= state >> 7n;
    state = BigInt.asUintN(64, state ^ (state << 17n));
    yield state;
  }
}

export function nearby(count: number): bigint[] {
  const source = random();
  const next = () => source.next().value;
  const all: bigint[] = [];
  for (let row = 0; row < count; row++) {
    const base = all[Number(next() % BigInt(all.length + 1))];
    const flipped = () => 1n << (next() % 64n);
    all.push(base !== undefined && row % 2 === 1 ? base ^ flipped() ^ flipped() : next());
  }
  return all;
}

/** Bits that differ. */
export function distance(a: bigint, b: bigint): number {
  return (a ^ b).toString(2).replaceAll('0', '').length;
}
