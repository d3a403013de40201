/** Options: what a call does not use it refuses, what an object inherits counts, and other objects are no options. */
import vm from 'node:vm';
import { MemoryLevel } from 'memory-level';
import { describe, expect, test } from 'vitest';
import * as library from '..';
import {
  Fingerprinter,
  Idf,
  Index,
  LevelSentenceIndex,
  MinHasher,
  MinHashIndex,
  SentenceIndex,
} from '..';

const TEXT = '青禾市图书馆新馆昨日起试运行，周一闭馆。';
const MANY = [TEXT];
const ADD = 'at key';
const ADD_MANY = 'at keys';
const OPEN = 'fingerprinter maxDistance plan window keys storeShortTexts threads';
const MINHASH =
  'fingerprinter scheme hashes seed bands rows threshold recall weights signatures bucketLimit window threads';
const SENTENCES = 'hash minLength count common window normalize durability threads';
const FINGERPRINTER =
  'preset features ngram weighting topK segmenter hmm dictionary stopWords idf normalize minFeatures threads';

type Call = (options: object) => unknown;
/** The calls of a class that take options, and which they take. */
type Calls = Record<string, readonly [known: string, call: Call]>;

const index = () => new Index({ keys: true, window: {}, storeShortTexts: true });
const classes: Record<string, () => Calls | Promise<Calls>> = {
  Index: () => {
    const i = index();
    return {
      'new Index': [`${OPEN} capacity`, (o) => new Index(o)],
      'Index.open': [`${OPEN} signal`, (o) => Index.open('/nowhere', o)],
      'Index.openSync': [OPEN, (o) => Index.openSync('/nowhere', o)],
      'Index.plan': ['maxDistance capacity plan', (o) => Index.plan(o)],
      add: [ADD, (o) => i.add(TEXT, o)],
      addMany: [ADD_MANY, (o) => i.addMany(MANY, o)],
      addManyAsync: [`${ADD_MANY} signal`, (o) => i.addManyAsync(MANY, o)],
      search: ['maxDistance limit', (o) => i.search(TEXT, o)],
      searchMany: ['maxDistance limit', (o) => i.searchMany(MANY, o)],
      searchManyAsync: ['maxDistance limit signal', (o) => i.searchManyAsync(MANY, o)],
      checkAndAdd: [`${ADD} onDuplicate verify textOf`, (o) => i.checkAndAdd(TEXT, o)],
      checkAndAddMany: [`${ADD_MANY} onDuplicate verify`, (o) => i.checkAndAddMany(MANY, o)],
      checkAndAddManyAsync: [
        `${ADD_MANY} onDuplicate verify signal`,
        (o) => i.checkAndAddManyAsync(MANY, o),
      ],
      pairs: ['maxDistance batch signal', (o) => i.pairs(o).next()],
      clusters: ['maxDistance onProgress signal', (o) => i.clusters(o)],
      compact: ['signal', (o) => i.compact(o)],
      save: ['signal', (o) => i.save('/nowhere/x', o)],
    };
  },
  MinHashIndex: () => {
    const i = new MinHashIndex({ window: {} });
    return {
      'new MinHashIndex': [MINHASH, (o) => new MinHashIndex(o)],
      'MinHashIndex.open': [`${MINHASH} signal`, (o) => MinHashIndex.open('/nowhere', o)],
      'MinHashIndex.openSync': [MINHASH, (o) => MinHashIndex.openSync('/nowhere', o)],
      'MinHashIndex.plan': [
        'hashes bands rows threshold recall weights',
        (o) => MinHashIndex.plan(o),
      ],
      add: ['at', (o) => i.add(TEXT, o)],
      addMany: ['at', (o) => i.addMany(MANY, o)],
      addManyAsync: ['at signal', (o) => i.addManyAsync(MANY, o)],
      search: ['threshold limit', (o) => i.search(TEXT, o)],
      searchMany: ['threshold limit', (o) => i.searchMany(MANY, o)],
      searchManyAsync: ['threshold limit signal', (o) => i.searchManyAsync(MANY, o)],
      checkAndAdd: ['at onDuplicate', (o) => i.checkAndAdd(TEXT, o)],
      checkAndAddMany: ['at onDuplicate', (o) => i.checkAndAddMany(MANY, o)],
      checkAndAddManyAsync: ['at onDuplicate signal', (o) => i.checkAndAddManyAsync(MANY, o)],
      save: ['signal', (o) => i.save('/nowhere/x', o)],
    };
  },
  SentenceIndex: () => {
    const i = new SentenceIndex({ window: {} });
    const made = SENTENCES.replace(' durability', '');
    return {
      'new SentenceIndex': [made, (o) => new SentenceIndex(o)],
      'SentenceIndex.open': [`${SENTENCES} signal`, (o) => SentenceIndex.open('/nowhere/x', o)],
      'SentenceIndex.openSync': [SENTENCES, (o) => SentenceIndex.openSync('/nowhere/x', o)],
      similarId: ['at', (o) => i.similarId(TEXT, o)],
      similarIdMany: ['at', (o) => i.similarIdMany(MANY, o)],
      similarIdManyAsync: ['at signal', (o) => i.similarIdManyAsync(MANY, o)],
      add: ['at', (o) => i.add(TEXT, o)],
      addMany: ['at', (o) => i.addMany(MANY, o)],
      addManyAsync: ['at signal', (o) => i.addManyAsync(MANY, o)],
      search: ['limit', (o) => i.search(TEXT, o)],
      searchMany: ['limit', (o) => i.searchMany(MANY, o)],
      searchManyAsync: ['limit signal', (o) => i.searchManyAsync(MANY, o)],
      checkAndAdd: ['at onDuplicate', (o) => i.checkAndAdd(TEXT, o)],
      checkAndAddMany: ['at onDuplicate', (o) => i.checkAndAddMany(MANY, o)],
      checkAndAddManyAsync: ['at onDuplicate signal', (o) => i.checkAndAddManyAsync(MANY, o)],
      compact: ['signal', (o) => i.compact(o)],
      save: ['signal', (o) => i.save('/nowhere/x', o)],
    };
  },
  LevelSentenceIndex: async () => {
    const made = `${SENTENCES.replace(' durability', '')} prefix sync signal`;
    const i = await LevelSentenceIndex.open(new MemoryLevel(), { window: {} });
    return {
      'LevelSentenceIndex.open': [made, (o) => LevelSentenceIndex.open(new MemoryLevel(), o)],
      similarId: ['at', (o) => i.similarId(TEXT, o)],
      similarIdMany: ['at signal', (o) => i.similarIdMany(MANY, o)],
      add: ['at', (o) => i.add(TEXT, o)],
      addMany: ['at signal', (o) => i.addMany(MANY, o)],
      search: ['limit', (o) => i.search(TEXT, o)],
      searchMany: ['limit signal', (o) => i.searchMany(MANY, o)],
      checkAndAdd: ['at onDuplicate', (o) => i.checkAndAdd(TEXT, o)],
      checkAndAddMany: ['at onDuplicate signal', (o) => i.checkAndAddMany(MANY, o)],
      compact: ['signal', (o) => i.compact(o)],
    };
  },
  'Fingerprinter and MinHasher': () => {
    const [by, hasher] = [new Fingerprinter(), new MinHasher()];
    return {
      'new Fingerprinter': [FINGERPRINTER, (o) => new Fingerprinter(o)],
      fingerprintMany: ['', (o) => by.fingerprintMany(MANY, o)],
      fingerprintManyAsync: ['signal', (o) => by.fingerprintManyAsync(MANY, o)],
      'new MinHasher': ['fingerprinter scheme hashes seed threads', (o) => new MinHasher(o)],
      signatureMany: ['', (o) => hasher.signatureMany(MANY, o)],
      signatureManyAsync: ['signal', (o) => hasher.signatureManyAsync(MANY, o)],
      levenshtein: ['maxDistance', (o) => library.levenshtein('a', 'b', o)],
      jaccard: [FINGERPRINTER, (o) => library.jaccard('a', 'b', o)],
      'Idf.train': ['minDocuments batch signal dictionary normalize', (o) => Idf.train(MANY, o)],
    };
  },
};

/** A value that suits each option wherever it is known. */
const values: Record<string, unknown> = {
  at: 5,
  batch: 10,
  common: false,
  count: 3,
  dictionary: new library.Dictionary(['云计算 5']),
  durability: 'system',
  features: 'jieba',
  fingerprinter: {},
  hash: 'md5',
  hmm: true,
  idf: new Idf(['云计算 5']),
  key: 'a',
  keys: ['a'],
  normalize: false,
  onDuplicate: 'add',
  onProgress: () => {},
  plan: 'auto',
  prefix: 'p',
  preset: 'auto',
  scheme: 'permutations',
  segmenter: 'own',
  signal: new AbortController().signal,
  signatures: true,
  storeShortTexts: true,
  stopWords: false,
  sync: true,
  textOf: () => undefined,
  threshold: 0.5,
  recall: 0.9,
  topK: 5,
  verify: 'auto',
  weighting: 'count',
  weights: { missed: 0.5, extra: 0.5 },
  window: {},
};

const outcome = async (call: () => unknown): Promise<{ code?: string; message?: string }> => {
  try {
    await call();
    return {};
  } catch (error) {
    return error as { code?: string; message?: string };
  }
};

describe.each(Object.entries(classes))('%s', (_name, of) => {
  test('each call takes its options and refuses those of every other', async () => {
    const calls = await of();
    const everything = new Set<string>();
    for (const other of Object.values(classes)) {
      for (const [known] of Object.values(await other())) {
        for (const name of known.split(' ')) if (name !== '') everything.add(name);
      }
    }
    expect(everything.size).toBeGreaterThan(40);
    for (const [call, [known, run]] of Object.entries(calls)) {
      const names = new Set(known.split(' '));
      for (const option of everything) {
        const given = { [option]: values[option] ?? 1 };
        const { code, message } = await outcome(() => run(given));
        const place = `${call}({ ${option} }): ${code} ${message}`;
        const unknown = message?.includes(`no option '${option}'`) ?? false;
        if (names.has(option)) {
          // It may be refused beside others, or the file is not there; but it is known.
          expect(unknown, place).toBe(false);
          continue;
        }
        expect(code, place).toMatch(/^ERR_INVALID_ARG_(TYPE|VALUE)$/);
        expect(message, place).toContain(option);
      }
      for (const option of ['toString', 'constructor', '__proto__', 'hasOwnProperty', '']) {
        const given = JSON.parse(`{ "${option}": 1 }`);
        const { code, message } = await outcome(() => run(given));
        expect([code, message]).toEqual([
          'ERR_INVALID_ARG_TYPE',
          expect.stringContaining(`no option '${option}'`),
        ]);
      }
    }
  });
});

test('keys are refused where there are none, with where they are', async () => {
  const level = await LevelSentenceIndex.open(new MemoryLevel());
  for (const i of [new MinHashIndex(), new SentenceIndex(), level]) {
    for (const call of [
      () => i.add(TEXT, { key: 'a' } as never),
      () => i.addMany(MANY, { keys: ['a'] } as never),
      () => i.addMany(MANY, { key: 'a' } as never),
      () => i.checkAndAdd(TEXT, { key: 'a' } as never),
      () => i.checkAndAddMany(MANY, { keys: [undefined] } as never),
    ]) {
      const { code, message } = await outcome(call);
      expect(code).toBe('ERR_INVALID_ARG_VALUE');
      expect(message).toMatch(/^keys? is an option of Index/);
    }
    expect(i.size).toBe(0);
  }
  const { message } = await outcome(() => new MinHashIndex().add(TEXT, { id: 1 } as never));
  expect(message).toBe("options has no option 'id'; known are at");
});

describe('what an object inherits', () => {
  class Options {
    get maxDistance() {
      return 10;
    }
    describe() {
      return 'a method is no option';
    }
  }
  const distance = (options: object) => {
    const i = new Index(options);
    i.add(0n);
    return Math.max(...[0, 3, 10, 12].filter((d) => i.search((1n << BigInt(d)) - 1n).length > 0));
  };

  test.each([
    ['a class with getters', new Options()],
    ['a class that extends one', new (class extends Options {})()],
    ['an object made of another', Object.create({ maxDistance: 10 })],
    [
      'one made of one without a prototype',
      Object.create(Object.assign(Object.create(null), { maxDistance: 10 })),
    ],
    ['no prototype', Object.assign(Object.create(null), { maxDistance: 10 })],
    ['a hidden property', Object.defineProperty({}, 'maxDistance', { value: 10 })],
    ['a Proxy', new Proxy({ maxDistance: 10 }, {})],
    ['another realm', vm.runInNewContext('({ maxDistance: 10 })')],
    [
      'a class of another realm',
      vm.runInNewContext('new (class { get maxDistance() { return 10 } })()'),
    ],
    [
      'its own over what it inherits',
      Object.assign(Object.create({ maxDistance: 3 }), { maxDistance: 10 }),
    ],
  ])('counts: %s', (_name, options) => {
    expect(distance(options)).toBe(10);
  });

  test('is no mistake of the caller where every object inherits it', () => {
    try {
      Object.assign(Object.prototype, { polluted: 1 });
      expect(distance({})).toBe(3);
      expect(distance(new Options())).toBe(10);
    } finally {
      Reflect.deleteProperty(Object.prototype, 'polluted');
    }
  });

  test.each([
    [
      'of a misspelt getter',
      new (class {
        get maxDistnce() {
          return 10;
        }
      })(),
    ],
    ['of a misspelt property', Object.create({ maxDistnce: 10 })],
    ['of a misspelt getter of its own', Object.defineProperty({}, 'maxDistnce', { get: () => 10 })],
  ])('is refused: %s', (_name, options) => {
    expect(() => new Index(options)).toThrow("no option 'maxDistnce'; did you mean 'maxDistance'?");
  });
});

describe('objects that are no options are refused', () => {
  const others: Record<string, unknown> = {
    'a Map': new Map([['maxDistance', 10]]),
    'a Map with a property': Object.assign(new Map(), { maxDistance: 10 }),
    'a Set': new Set(['maxDistance']),
    'a Date': new Date(),
    'a RegExp': /maxDistance/,
    'a promise': Promise.resolve({ maxDistance: 10 }),
    'an error': new Error('x'),
    'an array': [],
    'an ArrayBuffer': new ArrayBuffer(8),
    'a SharedArrayBuffer': new SharedArrayBuffer(8),
    'a typed array': new Uint8Array(8),
    'a Buffer': Buffer.from('x'),
    'a DataView': new DataView(new ArrayBuffer(8)),
    'a boxed string': Object('maxDistance'),
    'a WeakMap': new WeakMap(),
    'a URL': new URL('file:///x'),
    'a signal': new AbortController().signal,
    'a fingerprinter': new Fingerprinter(),
    'an index': new MinHashIndex(),
    'a Map of another realm': vm.runInNewContext('new Map()'),
    'a Date of another realm': vm.runInNewContext('new Date()'),
    'a function': () => {},
    'a string': 'maxDistance',
    null: null,
  };
  test.each(Object.entries(others))('%s', async (_name, value) => {
    const calls: Record<string, () => unknown> = {
      Index: () => new Index(value as never),
      window: () => new Index({ window: value as never }),
      add: () => new Index().add(TEXT, value as never),
      addManyAsync: () => new Index().addManyAsync(MANY, value as never),
      MinHashIndex: () => new MinHashIndex(value as never),
      SentenceIndex: () => new SentenceIndex(value as never),
    };
    for (const [name, call] of Object.entries(calls)) {
      expect((await outcome(call)).code, name).toBe('ERR_INVALID_ARG_TYPE');
    }
  });
});
