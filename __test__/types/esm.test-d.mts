/** Compiled, never run: what the types promise, and what they refuse. */
import {
  type Decision,
  dedup,
  Fingerprinter,
  Fingerprints,
  Index,
  type Match,
  type Summary,
} from '@x/simhash-native';

const value: bigint | undefined = new Fingerprinter({
  features: 'jieba',
  normalize: false,
}).fingerprint('x');
const many: Promise<Fingerprints> = new Fingerprinter().fingerprintManyAsync([
  'x',
  new Uint8Array(1),
]);
const found: Match[] = new Index({ maxDistance: 3, fingerprinter: { ngram: 3 } }).search(1n);
const row: bigint | undefined = new Fingerprints(new BigUint64Array(1), new Uint8Array(1)).get(0);
const stream: AsyncGenerator<Decision<{ id: number; text: string }>, Summary> = dedup([
  { id: 1, text: 'x' },
]);

// @ts-expect-error unknown option
new Index({ distance: 3 });
// @ts-expect-error a number is no fingerprint
new Index().add(1);
// @ts-expect-error undefined, never null
new Fingerprinter({ ngram: null });

export default [value, many, found, row, stream];
