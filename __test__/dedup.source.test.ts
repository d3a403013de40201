/** Sources of documents: `dedup` and `checkAndAddAll` take from them what `for await` takes, in the same order of calls. */
import { setTimeout as sleep } from 'node:timers/promises';
import vm from 'node:vm';
import { describe, expect, test } from 'vitest';
import { dedup, Idf, Index } from '..';

const TEXTS = [
  '青禾市图书馆新馆昨日起试运行',
  '四号线今日贯通设站十四座',
  '青禾市图书馆新馆昨日起试运行',
];

/**
 * What `for await` makes of a source; after `leave` documents the loop is left, or throws where it is negative.
 * It is left when what `dedup` asked for ahead has been answered: a source that still owes an answer is told, and
 * not waited for, so what its return() says may come too late.
 */
async function loop(source: unknown, leave = Infinity): Promise<unknown> {
  const seen: unknown[] = [];
  try {
    for await (const doc of source as AsyncIterable<unknown>) {
      seen.push(doc);
      if (seen.length === Math.abs(leave)) await sleep(20);
      if (seen.length === leave) break;
      if (seen.length === -leave) throw new Error('left');
    }
  } catch (error) {
    return { seen, error };
  }
  return { seen };
}

/** What `dedup` makes of it, in batches of one. */
async function run(source: unknown, leave = Infinity): Promise<unknown> {
  const decisions = async function* () {
    for await (const { doc } of dedup(source as AsyncIterable<string>, { batch: 1 })) yield doc;
  };
  return loop(decisions(), leave);
}

/** What `checkAndAddAll` makes of it: what it answers is for the texts in their order. */
async function check(source: unknown, leave = Infinity): Promise<unknown> {
  const index = new Index();
  const texts = async function* () {
    let row = 0;
    for await (const checked of index.checkAndAddAll(source as AsyncIterable<string>, {
      batch: 1,
    })) {
      expect(checked).toMatchObject(row === 2 ? { duplicateOf: 0 } : { id: row });
      yield TEXTS[row++];
    }
  };
  return loop(texts(), leave);
}

/** Both doors. */
const DOORS = [
  ['dedup', run],
  ['checkAndAddAll', check],
] as const;

const thenable = (value: unknown) => ({
  // biome-ignore lint/suspicious/noThenProperty: it is what is tested
  then: (done: (value: unknown) => void) => setImmediate(done, value),
});
const refusing = (reason: unknown) => ({
  // biome-ignore lint/suspicious/noThenProperty: it is what is tested
  then: (_: unknown, fail: (reason: unknown) => void) => setImmediate(fail, reason),
});

type Calls = string[];
type Make = (calls: Calls) => unknown;

/** An asynchronous source whose next() answers as `answer` says, with a log of what is called on it. */
const asynchronous =
  (answer: (result: object) => unknown, closed: () => unknown = () => ({})): Make =>
  (calls) => ({
    [Symbol.asyncIterator]() {
      calls.push('begin');
      let row = 0;
      return {
        get next() {
          calls.push('get next');
          return () => {
            calls.push('next');
            const value = TEXTS[row++];
            return answer(value === undefined ? { done: true } : { done: false, value });
          };
        },
        return() {
          calls.push('return');
          return closed();
        },
      };
    },
  });

const foreign = vm.runInNewContext(`({
  promise: (value) => Promise.resolve(value),
  generator: async function* (texts) { yield* texts; },
  list: (texts) => Array.from(texts),
  lazy: function* (texts) { for (const text of texts) yield Promise.resolve(text); },
})`);

const reason = new Error('mine');
const sources: Record<string, Make> = {
  promises: asynchronous((answer) => Promise.resolve(answer)),
  thenables: asynchronous(thenable),
  'promises of another realm': asynchronous((answer) => foreign.promise(answer)),
  'plain answers': asynchronous((answer) => answer),
  'answers that are functions': asynchronous((answer) => Object.assign(() => {}, answer)),
  'a generator of another realm': () => foreign.generator(TEXTS),
  'an array of another realm': () => foreign.list(TEXTS),
  'a generator of promises of another realm': () => foreign.lazy(TEXTS),
  'an array of promises': () => TEXTS.map((text) => Promise.resolve(text)),
  'an array of thenables': () => TEXTS.map(thenable),
  'no asynchronous iterator after all': () =>
    Object.assign([...TEXTS], { [Symbol.asyncIterator]: undefined }),
  'a web stream': () =>
    new ReadableStream({
      start(stream) {
        for (const text of TEXTS) stream.enqueue(text);
        stream.close();
      },
    }),
  'a web stream of bytes and its end': () => new Blob(['text']).stream(),
  'a thenable that refuses': asynchronous(() => refusing(reason)),
  'answers that are no object': asynchronous(() => 5),
  'promises of no object': asynchronous(() => Promise.resolve('text')),
  'a done that throws': asynchronous(() => ({
    get done() {
      throw reason;
    },
  })),
  'a value that throws': asynchronous(() => ({
    done: false,
    get value() {
      throw reason;
    },
  })),
  'a return that throws': asynchronous(thenable, () => {
    throw reason;
  }),
  'a return that is refused': asynchronous(thenable, () => refusing(reason)),
  'a return that gives no object': asynchronous(thenable, () => thenable(5)),
};

/** An outcome with errors of ours and of the engine's alike. */
const shown = (outcome: unknown) => {
  const { seen, error } = outcome as { seen: unknown[]; error?: unknown };
  return { seen, error: error === reason ? 'mine' : (error as Error | undefined)?.name };
};

const ENDS = [
  ['read to the end', Infinity],
  ['left after the first', 1],
] as const;

describe.each(Object.entries(sources))('%s', (name, make) => {
  const cases = DOORS.flatMap(([door, take]) => ENDS.map((end) => [door, ...end, take] as const));
  // Bytes are no text of the list.
  const asTexts = (outcome: ReturnType<typeof shown>) =>
    name.includes('bytes') ? { ...outcome, seen: outcome.seen.length } : outcome;
  test.each(cases)('%s, %s', async (_door, _how, leave, take) => {
    const [theirs, ours]: [Calls, Calls] = [[], []];
    const expected = asTexts(shown(await loop(make(theirs), leave)));
    expect(asTexts(shown(await take(make(ours), leave)))).toEqual(expected);
    // Reading ahead is allowed, everything else is not.
    const only = (calls: Calls) => calls.filter((call) => call !== 'next');
    expect(only(ours)).toEqual(only(theirs));
    if (leave === Infinity) expect(ours).toEqual(theirs);
  });
});

test('what is no source is refused with what could be one', async () => {
  for (const wrong of ['a text', 5, null, { getReader: 1 }]) {
    const outcome = (await check(wrong)) as { error: Error };
    expect(outcome.error.message).toMatch(
      /^source must be an iterable, async iterable or web stream of documents, got /,
    );
  }
  const answer = asynchronous(() => 5);
  const [ours, theirs] = (await Promise.all([check(answer([])), run(answer([]))])) as {
    error: Error;
  }[];
  expect(ours?.error.message).toBe('the iterator of source must give an object, got 5');
  expect(theirs?.error.message).toBe('the iterator of docs must give an object, got 5');
});

test('a failure is what comes out, whatever return() says to it', async () => {
  for (const closed of [
    () => {
      throw new Error('from return');
    },
    () => refusing(new Error('from return')),
  ]) {
    const source = asynchronous((answer) => thenable({ ...answer, value: 5 }), closed);
    const outcome = (await run(source([]))) as { error: Error };
    expect(outcome.error.message).toContain('docs[0] must be a string');
  }
});

test('a refused promise of a synchronous source closes it', async () => {
  const calls: string[] = [];
  const source = {
    *[Symbol.iterator]() {
      try {
        yield 'x';
        yield Promise.reject(reason);
        calls.push('went on');
      } finally {
        calls.push('closed');
      }
    },
  };
  expect(shown(await run(source)).error).toBe('mine');
  expect(calls).toEqual(['closed']);
});

test('bytes of another realm are texts', async () => {
  const bytes = vm.runInNewContext('Uint8Array.of(0x61, 0x62)');
  expect(await run([bytes, { text: bytes }])).toMatchObject({ seen: [bytes, { text: bytes }] });
  expect(new Index().add(bytes)).toBe(0);
});

test('Idf.train takes the same sources, and leaves them as for await does', async () => {
  const table = await Idf.train(asynchronous(thenable)([]) as AsyncIterable<string>);
  const same = await Idf.train(TEXTS);
  expect(table.save()).toBe(same.save());
  const calls: Calls = [];
  const wrong = asynchronous((answer) => thenable({ ...answer, value: 5 }))(calls);
  await expect(Idf.train(wrong as AsyncIterable<string>)).rejects.toThrow('docs[0]');
  expect(calls).toEqual(['begin', 'get next', 'next', 'return']);
});

/** A web stream as a polyfill or an older realm has it: its reader alone, with a log of what is called on it. */
function withoutIterator(stream: ReadableStream<string>, calls: Calls) {
  return {
    getReader() {
      const reader = stream.getReader();
      calls.push('reader');
      return {
        read: () => reader.read(),
        cancel() {
          calls.push('cancel');
          return reader.cancel();
        },
        releaseLock() {
          calls.push('release');
          reader.releaseLock();
        },
      };
    },
  };
}

const streamed = (fails = false) =>
  new ReadableStream<string>({
    pull(stream) {
      const text = texts.shift();
      if (text !== undefined) stream.enqueue(text);
      else if (fails) stream.error(reason);
      else stream.close();
    },
  });
let texts: string[] = [];

describe('a web stream without an iterator', () => {
  const cases = [
    ['read to the end', Infinity, false, ['reader', 'release']],
    ['left after the first', 1, false, ['reader', 'cancel', 'release']],
    ['that fails', Infinity, true, ['reader', 'release']],
  ] as const;
  test.each(DOORS.flatMap(([door, take]) => cases.map((one) => [door, ...one, take] as const)))(
    'by %s, %s is as one with it',
    async (_door, _how, leave, fails, expected, take) => {
      texts = [...TEXTS];
      const theirs = shown(await take(streamed(fails), leave));
      texts = [...TEXTS];
      const calls: Calls = [];
      const stream = streamed(fails);
      expect(shown(await take(withoutIterator(stream, calls), leave))).toEqual(theirs);
      expect(calls).toEqual(expected);
      expect(stream.locked).toBe(false);
    },
  );

  test('is taken by Idf.train and as known documents too', async () => {
    texts = [...TEXTS];
    const table = await Idf.train(withoutIterator(streamed(), []));
    expect(table.save()).toBe((await Idf.train(TEXTS)).save());
    texts = [...TEXTS];
    const stream = dedup([TEXTS[1] as string], { known: withoutIterator(streamed(), []) });
    expect((await stream.next()).value).toMatchObject({ status: 'known', duplicateOfKnown: 1 });
    await stream.return({} as never);
  });

  test.each([
    ['dedup', (docs: never) => dedup(docs)],
    ['checkAndAddAll', (docs: never) => new Index().checkAndAddAll(docs)],
  ])('is closed by %s while it is silent', async (_door, take) => {
    let cancelled = false;
    const silent = new ReadableStream<string>({
      start: (stream) => stream.enqueue('text'),
      cancel: () => {
        cancelled = true;
      },
    });
    for await (const _ of take(withoutIterator(silent, []) as never)) break;
    expect([cancelled, silent.locked]).toEqual([true, false]);
  });
});
