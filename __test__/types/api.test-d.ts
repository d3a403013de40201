/** Compiled, never run: what the types promise, and what they refuse. */
import {
  type AddOptions,
  type CheckedItems,
  type Decision,
  Dictionary,
  dedup,
  Fingerprinter,
  Fingerprints,
  Idf,
  Index,
  LevelSentenceIndex,
  type Match,
  type MatchSummary,
  MinHashIndex,
  type MinHashMatch,
  matchFiles,
  minHash,
  pairsFiles,
  SentenceIndex,
  type Summary,
  type TimeOptions,
} from '@x/simhash-native';
import { MemoryLevel } from 'memory-level';

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

const words: Fingerprinter = new Fingerprinter({
  preset: 'jieba-tfidf',
  dictionary: new Dictionary(['云计算 5']),
  stopWords: false,
  normalize: { base: 'web', emoji: true },
});
const table: Promise<Idf> = Idf.train(['x', { text: 'y' }], { normalize: 'microblog' });

const group: number = new SentenceIndex({ hash: 'md5', common: false }).similarId('x');
// Any database with the interface of abstract-level, whatever its own keys and values are.
const levels: Promise<LevelSentenceIndex>[] = [
  LevelSentenceIndex.open(new MemoryLevel()),
  LevelSentenceIndex.open(new MemoryLevel<Uint8Array, { json: string }>({ valueEncoding: 'json' })),
  LevelSentenceIndex.open(new MemoryLevel().sublevel('part')),
];

const signature: Uint32Array = minHash('x', { scheme: 'bottom-k', seed: 1n });
const similar: MinHashMatch[] = new MinHashIndex({ recall: 0.99 }).search(signature);

const matched: Promise<MatchSummary> = matchFiles('new', '-', { against: ['old'], limit: 3 });
// @ts-expect-error against what
matchFiles('new', '-', {});
// @ts-expect-error nothing is clustered
pairsFiles('in', '-', { cluster: 'components' });
// @ts-expect-error pairs have no limit
pairsFiles('in', '-', { limit: 3 });

// @ts-expect-error unknown preset
Fingerprinter.preset('jieba');
// @ts-expect-error unknown option
new Index({ distance: 3 });
// @ts-expect-error no database
LevelSentenceIndex.open(new Map());
// @ts-expect-error a number is no fingerprint
new Index().add(1);
// @ts-expect-error a fingerprint is no signature
new MinHashIndex().add(1n);
// @ts-expect-error undefined, never null
new Fingerprinter({ ngram: null });

// Fingerprints go into an index of them whole, and into no other.
const batch: Fingerprints = new Fingerprinter().fingerprintMany(['x']);
const checked: Promise<CheckedItems> = new Index().checkAndAddManyAsync(batch);
new Index().addMany(batch.values);
// @ts-expect-error fingerprints are no signatures
new MinHashIndex().addMany(batch);
// @ts-expect-error a row may have none
new Index().addMany([...batch]);

// Keys are options of Index alone.
const keyed: AddOptions = { at: 5, key: 'a' };
const timed: TimeOptions = { at: 5 };
new Index({ keys: true }).add('x', keyed);
new Index({ keys: true }).add('x', timed);
new MinHashIndex().add('x', timed);
// @ts-expect-error no keys
new MinHashIndex().add('x', { key: 'a' });
// @ts-expect-error no keys, in a variable either
new MinHashIndex().add('x', keyed);
// @ts-expect-error no keys
new MinHashIndex().addMany(['x'], { keys: ['a'] });
// @ts-expect-error no keys
new MinHashIndex().checkAndAdd('x', { key: 'a' });
// @ts-expect-error no keys
new SentenceIndex().similarId('x', { key: 'a' });
// @ts-expect-error no keys
new SentenceIndex().checkAndAddManyAsync(['x'], { keys: ['a'] });
// @ts-expect-error no keys
levels[0]?.then((index) => index.addMany(['x'], { keys: ['a'] }));
// @ts-expect-error what waits for its work cannot be ended
new Fingerprinter().fingerprintMany(['x'], { signal: new AbortController().signal });

export default [
  checked,
  matched,
  similar,
  group,
  levels,
  words,
  table,
  value,
  many,
  found,
  row,
  stream,
];
