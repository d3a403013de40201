/** Compiled, never run: what the types promise, and what they refuse. */
import {
  type Decision,
  Dictionary,
  dedup,
  Fingerprinter,
  Fingerprints,
  Idf,
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
const found: Match<'simhash'>[] = new Index({ maxDistance: 3, texts: false }).search(1n);
const row: bigint | undefined = new Fingerprints(new BigUint64Array(1), new Uint8Array(1)).get(0);
const stream: AsyncGenerator<Decision<{ id: number; text: string }>, Summary> = dedup([
  { id: 1, text: 'x' },
]);

const words: Fingerprinter = new Fingerprinter({
  preset: 'jieba-tfidf',
  dictionary: new Dictionary(['云计算 5']),
  stopWords: false,
  normalize: { base: 'web', emoji: true },
});
const table: Promise<Idf> = Idf.train(['x', { text: 'y' }], { normalize: 'microblog' });

// @ts-expect-error unknown preset
Fingerprinter.preset('jieba');
// @ts-expect-error unknown option
new Index({ distance: 3 });
// @ts-expect-error a number is no fingerprint
new Index().add(1);
// @ts-expect-error undefined, never null
new Fingerprinter({ ngram: null });

export default [words, table, value, many, found, row, stream];
