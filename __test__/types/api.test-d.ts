/** Compiled, never run: what the types promise, and what they refuse. */
import {
  type AddOptions,
  type CheckedItems,
  type Decision,
  Dictionary,
  dedup,
  dedupFiles,
  Fingerprinter,
  Fingerprints,
  Idf,
  Index,
  LevelSentenceIndex,
  type Match,
  MinHashIndex,
  type MinHashMatch,
  minHash,
  SentenceIndex,
  type SimHashError,
  type SimHashErrorCode,
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

// Any documents, where it is said what their text is.
interface Row {
  readonly id: number;
  readonly body: string | undefined;
}
const rows: Row[] = [];
const byField = dedup(rows, { text: 'body', key: 'id', onMissing: 'reject' });
const byFunction: AsyncGenerator<Decision<Row>, Summary> = dedup(rows, {
  text: (row) => row.body,
  key: ({ id }) => id,
  keep: (members) => members.findIndex(({ id }) => id > 0),
});
const summary: Promise<Summary> = byField.summary;
dedup(rows.values(), { text: 'body', known: new Set(rows) });
dedup(new ReadableStream<Row>(), { text: ({ body }) => body });
dedup(['x', new Uint8Array(1), { text: 'y' }], { known: ['z'], fingerprint: true });
// @ts-expect-error a row has no text of its own
dedup(rows);
// @ts-expect-error nor beside other options
dedup(rows, { key: 'id' });
// @ts-expect-error a number is no text
dedup(rows, { text: ({ id }) => id });
// @ts-expect-error a row has no such field
dedup(rows, { text: (row) => row.title });
// @ts-expect-error a boolean is no key
dedup(['x'], { key: () => true });
// @ts-expect-error unknown rule
dedup(['x'], { onMissing: 'skip' });
// @ts-expect-error known documents are of the same kind
dedup(['x'], { known: [1] });
// @ts-expect-error no option of streams
dedup(['x'], { textField: 'body' });
// @ts-expect-error unknown option
dedup(['x'], { minSimilarty: 0.9 });

// Errors say which of the known codes they have.
function isFull(error: SimHashError): boolean {
  // @ts-expect-error no such code
  if (error.code === 'ERR_SIMHASH_FULL') return true;
  const code: SimHashErrorCode = error.code;
  return code === 'ERR_SIMHASH_INDEX_FULL';
}
dedupFiles([new URL('file:///a'), 'b'], new URL('file:///c'), { rejects: new URL('file:///d') });
new Dictionary(new URL('file:///a'));
// @ts-expect-error a number is no file
dedupFiles(1, 'out');
// @ts-expect-error options of a stream
dedupFiles('in', 'out', { text: 'body' });

// `status` says what a decision has.
function told(decision: Decision<Row>): unknown[] {
  const { index, duplicateOf, similarity, duplicateKey, reason } = decision;
  switch (decision.status) {
    case 'kept': {
      // @ts-expect-error it duplicates nothing
      const of: number = decision.duplicateOf;
      return [of, decision.fingerprint satisfies bigint | undefined];
    }
    case 'duplicate': {
      const of: number = decision.duplicateOf;
      return [of, decision.duplicateKey satisfies string | number | undefined];
    }
    case 'known': {
      const of: number = decision.duplicateOfKnown;
      // @ts-expect-error it is no document of the stream
      const other: number = decision.duplicateOf;
      return [of, other];
    }
    case 'rejected': {
      const why: string = decision.reason;
      // @ts-expect-error it was not compared
      const similar: number = decision.similarity;
      return [why, similar];
    }
    default:
      return [decision satisfies never, index, duplicateOf, similarity, duplicateKey, reason];
  }
}

export default [
  isFull,
  told,
  byFunction,
  summary,
  checked,
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
