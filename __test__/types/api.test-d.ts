/** Compiled, never run: what the types promise, and what they refuse. */
import {
  type Checked,
  type CheckedItems,
  type Converted,
  convertIndex,
  cut,
  cutMany,
  cutManyAsync,
  type Decision,
  Dictionary,
  dedup,
  dedupFiles,
  Fingerprinter,
  Fingerprints,
  Idf,
  Index,
  type IndexOptions,
  type IndexPlan,
  type Match,
  type MatchSummary,
  MinHasher,
  matchFiles,
  minHash,
  openState,
  pairsFiles,
  reportFiles,
  type SharedIndex,
  type SimHashError,
  type SimHashErrorCode,
  type Stats,
  type Summary,
} from '@x/simhash-native';
import { KeptIndex, type Level, type Store } from '@x/simhash-native/level';
import { MemoryLevel } from 'memory-level';

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

const group: number = new Index({ hash: 'md5', common: false, groups: true }).similarId('x');
// Any database with the interface of abstract-level, whatever its own keys and values are.
const levels: Promise<KeptIndex>[] = [
  KeptIndex.open(new MemoryLevel(), { sync: false }),
  KeptIndex.open(new MemoryLevel<Uint8Array, { json: string }>({ valueEncoding: 'json' })),
  KeptIndex.open(new MemoryLevel().sublevel('part')),
];
// Its index is one of this package, whichever entry it came by.
const kept: Promise<Index<'sentences', false>> = KeptIndex.open(new MemoryLevel()).then(
  ({ index }) => index,
);

const signature: Uint32Array = minHash('x', { scheme: 'bottom-k', seed: 1n });
const similar: Match<'minhash'>[] = new Index({ recall: 0.99, texts: false }).search(signature);

// The method is that of the options that are given, dedup's default without any.
const methods: [
  Index,
  Index<'minhash'>,
  Index<'simhash'>,
  Index<'simhash', false>,
  Index<'sentences'>,
  Index<'exact', false>,
  Index<'minhash', false>,
] = [
  new Index(),
  new Index({ keys: true, ngram: 3, features: 'chars', minSimilarity: 0.9 }),
  new Index({ maxDistance: 10 }),
  new Index({ method: 'simhash', texts: false }),
  new Index({ groups: true }),
  new Index({ method: 'exact', texts: false }),
  new Index({ texts: false }),
];
const opened: Promise<Index<'sentences', false>> = Index.open(new URL('file:///x'), {
  groups: true,
  texts: false,
  durability: 'commit',
});
const plans: [IndexPlan<'minhash'>, IndexPlan<'simhash'>] = [
  Index.plan({ count: 5 }),
  Index.plan({ maxDistance: 3 }),
];
const tables: number = plans[1].tables + plans[0].bands;
const stats: Stats<'simhash'> = methods[2].stats();
// Options in a variable of the union, and handles, keep their types.
declare const options: IndexOptions;
declare const handle: SharedIndex<'simhash', false>;
const others: [
  Index<'minhash' | 'simhash' | 'sentences' | 'exact', boolean>,
  Index<'simhash', false>,
] = [new Index(options), Index.fromShared(handle)];

// Results are unions that narrow.
const checked = new Index({ maxDistance: 3, keys: true }).checkAndAdd('x');
if (checked.duplicateOf === undefined) {
  const id: number = checked.id;
  void id;
} else {
  const distance: number = checked.distance;
  const key: string | undefined = checked.key;
  void [distance, key];
  if (checked.verified) {
    const similarity: number = checked.similarity;
    void similarity;
  } else {
    // @ts-expect-error it may not be known
    const similarity: number = checked.similarity;
    void similarity;
  }
  // @ts-expect-error it was not added, unless duplicates are
  const id: number = checked.id;
  void id;
}
// @ts-expect-error a match of SimHash has no bands
new Index({ maxDistance: 3 }).search('x')[0]?.bands;
const shared: number | undefined = new Index({ sentences: 3 }).search('x')[0]?.shared;
const all: AsyncGenerator<Checked<'minhash'>, void, undefined> = new Index().checkAndAddAll([
  'x',
  { text: 'y', key: 'k', at: new Date() },
]);

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
// @ts-expect-error an oracle has no live index
new Index({ method: 'brute-force' });
// @ts-expect-error options of two methods
new Index({ maxDistance: 3, bands: 4, rows: 4 });
// @ts-expect-error an option of another method
new Index({ method: 'exact', hash: 'md5' });
const wide = { keys: true, method: 'minhash', maxDistance: 3 } as const;
// @ts-expect-error an option of another method, in a variable too
new Index(wide);
// @ts-expect-error no database
KeptIndex.open(new Map());
// @ts-expect-error a number is no fingerprint
new Index({ maxDistance: 3, texts: false }).add(1);
// @ts-expect-error fingerprints need texts: false
new Index({ maxDistance: 3 }).add(1n);
// @ts-expect-error fingerprints need SimHash
new Index({ texts: false }).add(1n);
// @ts-expect-error signatures need texts: false
new Index().add(signature);
// @ts-expect-error equal texts are found by nothing else
new Index({ method: 'exact', texts: false }).add(1n);
// @ts-expect-error undefined, never null
new Fingerprinter({ ngram: null });
// @ts-expect-error a distance is for SimHash
new Index().search('x', { maxDistance: 3 });
// @ts-expect-error groups are for sentences
new Index().similarId('x');
// @ts-expect-error what is measured is an option of the index
new Index().checkAndAdd('x', { verify: 'edit' });
// @ts-expect-error a batch cannot call back
new Index().checkAndAddMany(['x'], { textOf: () => 'x' });
// @ts-expect-error other tables
const wrong: Stats<'minhash'> = methods[2].stats();

// Fingerprints and signatures go into an index of them whole, and into no other.
const batch: Fingerprints = new Fingerprinter().fingerprintMany(['x']);
const bits = new Index({ maxDistance: 3, texts: false });
const many2: Promise<CheckedItems<'simhash'>> = bits.checkAndAddManyAsync(batch);
bits.addMany(batch.values);
new Index({ texts: false }).addMany(new MinHasher().signatureMany(['x']));
// @ts-expect-error fingerprints are no signatures
new Index({ texts: false }).addMany(batch);
// @ts-expect-error a row may have none
bits.addMany([...batch]);
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
dedupFiles('in', 'out', { report: new URL('file:///r'), reportTexts: 'none', dateField: 'date' });
reportFiles('clusters', ['in'], 'out.html', { others: 'old', method: 'simhash', maxDistance: 8 });
// @ts-expect-error some is no amount of text
reportFiles('clusters', 'in', 'out.html', { reportTexts: 'some' });

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

/** A store of one's own has five methods. */
class Own implements Store {
  async get(): Promise<undefined> {}
  async *entries(): AsyncGenerator<[string, Uint8Array]> {}
  async put(): Promise<void> {}
  async delete(): Promise<void> {}
  async close(): Promise<void> {}
}
const own: Promise<KeptIndex> = KeptIndex.open(new Own(), { prefix: 'p' });
// @ts-expect-error a store of one's own knows how it writes
KeptIndex.open(new Own(), { sync: false });
// @ts-expect-error it keeps neither keys nor texts
KeptIndex.open(new Own(), { keys: true });
declare const level: Level;
void KeptIndex.open(level, { sync: true });

// What is not verified stores no texts by itself.
const unverified: [
  Index<'minhash', false>,
  Index<'simhash', false>,
  Index<'sentences', false>,
  Index<'minhash', true>,
  Index<'sentences', false>,
] = [
  new Index({ verify: false }),
  new Index({ maxDistance: 3, verify: false, minSimilarity: 0 }),
  new Index({ sentences: 4, verify: false }),
  new Index({ verify: false, texts: true }),
  new Index({ groups: true }),
];
new Index({ maxDistance: 3, verify: false }).add(1n);

// Options that do not go together.
// @ts-expect-error nothing is measured
new Index({ verify: false, minSimilarity: 0.5 });
// @ts-expect-error nothing is compared
new Index({ verify: false, maxVerifications: 5 });
// @ts-expect-error nothing is compared
new Index({ maxDistance: 3, verify: false, maxVerifications: 5 });
// @ts-expect-error a shared sentence decides
new Index({ groups: true, verify: 'auto' });
// @ts-expect-error a shared sentence decides
new Index({ groups: true, minSimilarity: 0.9 });
// @ts-expect-error a shared sentence decides
new Index({ groups: true, maxVerifications: 5 });
// @ts-expect-error bands without rows
new Index({ bands: 4 });
// @ts-expect-error rows without bands
new Index({ rows: 4 });
// @ts-expect-error two ways to bands
new Index({ bands: 4, rows: 4, recall: 0.9 });
// @ts-expect-error two ways to bands
new Index({ recall: 0.9, weights: { falsePositive: 1, falseNegative: 1 } });
// @ts-expect-error half a weight
new Index({ weights: { falsePositive: 1 } });
// @ts-expect-error equal texts are known by their hashes
new Index({ method: 'exact', texts: true });
// @ts-expect-error an index in memory has no folder
new Index({ groups: true, durability: 'none' });
// @ts-expect-error nor does a plan
Index.plan({ groups: true, durability: 'none' });
// @ts-expect-error a name of before
Index.open('x', { method: 'sentences', durability: 'system' });
// @ts-expect-error milliseconds are a number
Index.open('x', { flushInterval: '5' });
// @ts-expect-error a name of release 0.1
new Index({ threshold: 0.8 });
// @ts-expect-error a name of release 0.1
new Index({ fingerprinter: { ngram: 3 } });
// @ts-expect-error what is made by the addon is not made by others
new (Object.getPrototypeOf(others) as typeof import('@x/simhash-native').Matches)();

// Without a method an index is what its file says, until somebody has asked.
async function open(): Promise<number | undefined> {
  const index = await Index.open('x');
  const method: 'minhash' | 'simhash' | 'sentences' | 'exact' = index.method;
  // @ts-expect-error it may be of another method
  const wrong: Index<'simhash'> = index;
  const [logged, exact, simhash, whole]: [
    Index<'sentences', false>,
    Index<'exact', false>,
    Index<'simhash'>,
    Index<'minhash'>,
  ] = [
    await Index.open('x', { durability: 'commit', method: 'sentences', verify: false }),
    await Index.open('x', { method: 'exact' }),
    Index.openSync('x', { maxDistance: 3 }),
    Index.openSync('x', { method: 'minhash', minSimilarity: 0.7 }),
  ];
  void [method, wrong, logged, exact, simhash, whole];
  return index.search('x', { minSimilarity: 0.8 })[0]?.id;
}

// Every outcome can be asked whether it is verified, and how similar it is.
function similarTo(outcome: Checked<'minhash'>): number {
  if (outcome.verified) {
    const of: number = outcome.duplicateOf;
    return outcome.similarity + of;
  }
  const { bands, key, similarity } = outcome;
  void [bands, key];
  // @ts-expect-error it may have none
  const missing: number = outcome.duplicateOf;
  return missing + (similarity ?? 0);
}
function cases(outcome: Checked<'simhash'>): number {
  switch (outcome.verified) {
    case undefined:
      return outcome.id;
    case true:
      return outcome.similarity;
    case false:
      return outcome.distance;
  }
}

// Sources of anything, where it is said what is in it.
const books: { isbn: string; page: { body: string } }[] = [];
void new Index({ keys: true }).checkAndAddAll(books, { text: 'page.body', key: 'isbn' });
void new Index({ keys: true }).checkAndAddAll(books, {
  text: ({ page }) => page.body,
  key: ({ isbn }) => isbn,
});
// @ts-expect-error a book has no text of its own
void new Index().checkAndAddAll(books);
// @ts-expect-error a book is no text
void new Index().checkAndAddAll(books, { text: (book) => book });
// @ts-expect-error a book has no title
void new Index().checkAndAddAll(books, { text: ({ page }) => page.title });
void new Index({ maxDistance: 3, texts: false }).checkAndAddAll([{ bits: 1n }], {
  text: ({ bits }) => bits,
});

// What is known may be an index.
dedup(['x'], { known: new Index() });
dedup(rows, { text: 'body', known: new Index({ maxDistance: 8 }), method: 'simhash' });
dedup(['x'], { known: new Index({ method: 'exact' }), method: 'exact' });

dedup(['x'], { known: ['y'], keep: 'first', cluster: 'representative' });
// @ts-expect-error a known document could be a duplicate of a later one
dedup(['x'], { known: ['y'], keep: 'last' });
// @ts-expect-error a known document could be a duplicate of a later one
dedup(['x'], { known: new Index(), cluster: 'components' });
dedup(['x'], { verify: false, minSimilarity: 0, maxVerifications: 5 });
// What a trial recommends is taken as it is.
declare const tried: import('@x/simhash-native').ComparisonOptions;
dedup(['x'], tried);

/** What a batch had done when memory ended. */
function done({ done }: SimHashError): number {
  return done === undefined ? 0 : 'count' in done ? done.count : done.length;
}

export default [
  ...[all, similar, group, levels, words, table, value, many, many2, found, row, stream, own],
  ...[matched, isFull, told, byFunction, summary],
  ...[methods, opened, tables, stats, others, shared, wrong],
  ...[kept, unverified, open, similarTo, cases, done],
];

/** The state of a stream. */
async function _goesOn(): Promise<number> {
  await using state = await openState('x', { method: 'sentences', sentences: 3, create: false });
  for await (const { duplicateOf } of dedup(['x'], { state, batch: 5, onMissing: 'reject' })) {
    duplicateOf satisfies number | undefined;
  }
  await state.saveState(new URL('file:///x'), { signal: AbortSignal.timeout(5) });
  // @ts-expect-error these decide when the stream has ended
  await openState('x', { keep: 'last' });
  // @ts-expect-error so do these
  await openState('x', { cluster: 'components' });
  // @ts-expect-error no index compares with everything
  await openState('x', { method: 'brute-force' });
  // @ts-expect-error the state says how documents are compared
  dedup(['x'], { state, minSimilarity: 0.9 });
  // @ts-expect-error the state holds what is known
  dedup(['x'], { state, known: ['y'] });
  // @ts-expect-error a state keeps the first
  dedup(['x'], { state, keep: 'last' });
  return state.position;
}

const _converted: Promise<Converted> = convertIndex('old', new URL('file:///new'), {
  dictionary: new Dictionary(['云计算 5']),
});
// @ts-expect-error options come from the file
convertIndex('old', 'new', { method: 'simhash' });

const _cut: [string[], string[][], string[][], Uint32Array[]] = [
  cut('x', { hmm: false }),
  cutMany(['x']),
  cutMany(['x'], { threads: 1 }),
  cutMany(['x'], { as: 'offsets' }),
];
const _cutLater: [Promise<string[][]>, Promise<Uint32Array[]>] = [
  cutManyAsync(['x'], { signal: AbortSignal.timeout(1) }),
  cutManyAsync(['x'], { as: 'offsets', dictionary: ['云计算'] }),
];
// @ts-expect-error offsets are those of a string
cutMany([new Uint8Array(1)]);
// @ts-expect-error there is one text
cut('x', { as: 'offsets' });
