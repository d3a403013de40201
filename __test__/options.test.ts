/** Options: what a call does not use it refuses, what an object inherits counts, and other objects are no options. */
import vm from 'node:vm';
import { MemoryLevel } from 'memory-level';
import { describe, expect, test } from 'vitest';
import * as library from '..';
import { Fingerprinter, Idf, Index, MinHasher } from '..';
import { KeptIndex } from '../dist/connect/level.js';
import { METHODS, of } from './indexes';

const TEXT = '青禾市图书馆新馆昨日起试运行，周一闭馆。';
const MANY = [TEXT];
const ADD = 'at key';
const ADD_MANY = 'at keys';
const SENTENCES = 'sentences hash minLength common window normalize threads';
const FINGERPRINTER =
  'preset features ngram weighting topK segmenter hmm dictionary stopWords idf normalize minFeatures threads';

const INDEX = `${FINGERPRINTER} method verify minSimilarity maxVerifications texts keys window memory maxDistance plan capacity bands rows recall weights hashes scheme seed signatures bucketLimit sentences minLength hash common groups`;
const SEARCH = 'limit verify minSimilarity maxDistance';

type Call = (options: object) => unknown;
/** The calls of a class that take options, and which they take. */
type Calls = Record<string, readonly [known: string, call: Call]>;

const classes: Record<string, () => Calls | Promise<Calls>> = {
  ...Object.fromEntries(
    METHODS.map((method) => [
      method,
      (): Calls => {
        const i = of(method, { keys: true, window: {} });
        return {
          'new Index': [INDEX, (o) => new Index(o)],
          'Index.open': [`${INDEX} signal`, (o) => Index.open('/nowhere/x', o)],
          'Index.openSync': [INDEX, (o) => Index.openSync('/nowhere/x', o)],
          'Index.plan': [`${INDEX} count averageLength`, (o) => Index.plan(o)],
          add: [ADD, (o) => i.add(TEXT, o)],
          addMany: [ADD_MANY, (o) => i.addMany(MANY, o)],
          addManyAsync: [`${ADD_MANY} signal`, (o) => i.addManyAsync(MANY, o)],
          search: [SEARCH, (o) => i.search(TEXT, o)],
          searchMany: [SEARCH, (o) => i.searchMany(MANY, o)],
          searchManyAsync: [`${SEARCH} signal`, (o) => i.searchManyAsync(MANY, o)],
          checkAndAdd: [`${ADD} onDuplicate textOf`, (o) => i.checkAndAdd(TEXT, o)],
          checkAndAddMany: [`${ADD_MANY} onDuplicate`, (o) => i.checkAndAddMany(MANY, o)],
          checkAndAddManyAsync: [
            `${ADD_MANY} onDuplicate signal`,
            (o) => i.checkAndAddManyAsync(MANY, o),
          ],
          checkAndAddAll: [
            'text key at batch onDuplicate signal',
            (o) => i.checkAndAddAll(MANY, o).next(),
          ],
          pairs: [`${SEARCH.slice(6)} batch signal`, (o) => i.pairs(o).next()],
          clusters: [`${SEARCH.slice(6)} onProgress signal`, (o) => i.clusters(o)],
          compact: ['signal', (o) => i.compact(o)],
          save: ['signal', (o) => i.save('/nowhere/x', o)],
        };
      },
    ]),
  ),
  'groups of sentences': () => {
    const i = new Index({ groups: true, keys: true, window: {} });
    return {
      similarId: [ADD, (o) => i.similarId(TEXT, o)],
      similarIdMany: [ADD_MANY, (o) => i.similarIdMany(MANY, o)],
      similarIdManyAsync: [`${ADD_MANY} signal`, (o) => i.similarIdManyAsync(MANY, o)],
    };
  },
  KeptIndex: async () => {
    const made = `${SENTENCES} prefix sync signal`;
    const kept = await KeptIndex.open(new MemoryLevel(), { window: {} });
    return {
      'KeptIndex.open': [made, (o) => KeptIndex.open(new MemoryLevel(), o)],
      compact: ['signal', (o) => kept.compact(o)],
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
  texts: true,
  stopWords: false,
  sync: true,
  textOf: () => undefined,
  recall: 0.9,
  topK: 5,
  verify: 'auto',
  weighting: 'count',
  weights: { falsePositive: 0.5, falseNegative: 0.5 },
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

test('keys are refused where there are none', async () => {
  const { index: i } = await KeptIndex.open(new MemoryLevel());
  for (const call of [
    () => i.add(TEXT, { key: 'a' }),
    () => i.addMany(MANY, { keys: ['a'] }),
    () => i.checkAndAdd(TEXT, { key: 'a' }),
    () => i.checkAndAddManyAsync(MANY, { keys: ['a'] }),
  ]) {
    const { code, message } = await outcome(call);
    expect(code).toBe('ERR_INVALID_ARG_VALUE');
    expect(message).toMatch(/^key needs an index that keeps keys/);
  }
  expect(i.size).toBe(0);
  const { message } = await outcome(() => i.add(TEXT, { id: 1 } as never));
  expect(message).toBe("options has no option 'id'; known are at, key");
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
    return i.method === 'simhash' ? Index.plan(options as { maxDistance: 3 }).maxDistance : 3;
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
    'an index': new Index(),
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
      'Index.open': () => Index.open('/nowhere', value as never),
      'Index.plan': () => Index.plan(value as never),
    };
    for (const [name, call] of Object.entries(calls)) {
      expect((await outcome(call)).code, name).toBe('ERR_INVALID_ARG_TYPE');
    }
  });
});
