/** The summary beside the loop, and progress inside it. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { dedup, type Progress } from '..';

const NEWS =
  '青禾市图书馆新馆昨日起试运行。新馆位于云浦大道东侧，地上五层，藏书一百二十万册，设有阅览座位两千三百个。';
const docs = [NEWS, '临溪县今年的早稻收割进入尾声', NEWS, '', NEWS];

const unhandled: unknown[] = [];
const listen = (reason: unknown) => unhandled.push(reason);
beforeAll(() => process.on('unhandledRejection', listen));
afterAll(() => {
  process.off('unhandledRejection', listen);
});

describe('summary', () => {
  test.each([{}, { cluster: 'components' }, { keep: 'last' }] as const)(
    'is there after for await, and what the generator returns: %o',
    async (options) => {
      const stream = dedup(docs, options);
      let last: IteratorResult<unknown> = await stream.next();
      while (!last.done) last = await stream.next();
      const summary = await stream.summary;
      expect(summary).toBe(last.value);
      expect(summary).toMatchObject({ read: 5, kept: 3, duplicates: 2, rejected: 0, clusters: 1 });
      const again = dedup(docs, options);
      for await (const _ of again);
      expect(await again.summary).toMatchObject({ read: 5, duplicates: 2 });
    },
  );

  test('is not there before the loop has ended', async () => {
    const stream = dedup(docs, { batch: 1 });
    let ended = false;
    stream.summary.then(() => {
      ended = true;
    });
    await stream.next();
    await new Promise((resolve) => setImmediate(resolve));
    expect(ended).toBe(false);
  });

  test('rejects with what the loop threw, abort and misuse included', async () => {
    const own = new Error('mine');
    const failing = (function* () {
      yield NEWS;
      throw own;
    })();
    for (const stream of [
      dedup(failing),
      dedup(docs, { signal: AbortSignal.abort(own) }),
      dedup(docs, {
        key: () => {
          throw own;
        },
      }),
      dedup({
        [Symbol.iterator]: () => {
          throw own;
        },
      } as Iterable<string>),
    ]) {
      await expect(stream.next().then(() => stream.next())).rejects.toBe(own);
      await expect(stream.summary).rejects.toBe(own);
    }
    const wrong = dedup(docs, { batch: 0 });
    await expect(wrong.next()).rejects.toMatchObject({ code: 'ERR_OUT_OF_RANGE' });
    await expect(wrong.summary).rejects.toMatchObject({ code: 'ERR_OUT_OF_RANGE' });
  });

  test('a rejection that nobody waits for is no unhandled one', async () => {
    await expect(dedup([5] as never[]).next()).rejects.toThrow('docs[0]');
    for await (const _ of dedup(docs)) break;
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(unhandled).toEqual([]);
  });

  test('rejects with an AbortError where the loop was left, begun or not', async () => {
    const left = { name: 'AbortError', message: 'The loop was left before it ended' };
    const begun = dedup(docs);
    for await (const _ of begun) break;
    await expect(begun.summary).rejects.toMatchObject(left);
    const never = dedup(docs);
    expect(await never.return({} as never)).toEqual({ done: true, value: {} });
    await expect(never.summary).rejects.toMatchObject(left);
    const disposed = dedup(docs);
    await disposed[Symbol.asyncDispose]();
    await expect(disposed.summary).rejects.toMatchObject(left);
    const own = new Error('mine');
    const thrown = dedup(docs);
    await expect(thrown.throw(own)).rejects.toBe(own);
    await expect(thrown.summary).rejects.toBe(own);
    const closing = dedup(
      (function* () {
        try {
          for (;;) yield NEWS;
        } finally {
          // biome-ignore lint/correctness/noUnsafeFinally: it is what is tested
          throw own;
        }
      })(),
      { batch: 1 },
    );
    const loop = async () => {
      for await (const _ of closing) break;
    };
    await expect(loop()).rejects.toBe(own);
    await expect(closing.summary).rejects.toBe(own);
    // After the end, leaving changes nothing.
    const ended = dedup(docs);
    for await (const _ of ended);
    await ended.return({} as never);
    expect(await ended.summary).toMatchObject({ read: 5 });
  });
});

describe('onProgress', () => {
  test.each([
    ['as they come', {}],
    ['at the end', { keep: 'last' }],
  ] as const)('tells how far the loop is, decided %s', async (_how, options) => {
    const seen: Progress[] = [];
    const many = [5 as never, ...Array.from({ length: 200 }, (_, row) => `${NEWS}${row % 2}`)];
    const known = 'keep' in options ? {} : { known: [NEWS] };
    const stream = dedup(many, {
      ...options,
      ...known,
      batch: 1,
      onMissing: 'reject',
      onProgress: (progress) => {
        seen.push(progress);
      },
    });
    for await (const _ of stream);
    const { read, duplicates, bytes } = await stream.summary;
    const { length } = many;
    expect(seen[0]).toMatchObject({ stage: 'dedup', documents: 1, bytes: 0, duplicates: 0 });
    expect(seen.filter(({ stage }) => stage === 'finish')).toEqual([seen.at(-1)]);
    const counted = 'keep' in options ? 0 : duplicates;
    expect(seen.at(-1)).toEqual({ stage: 'finish', documents: length, bytes, duplicates: counted });
    expect(read).toBe(length);
    const documents = seen.map((progress) => progress.documents);
    expect(documents).toEqual([...documents].sort((a, b) => a - b));
  });

  test('at most every 50 ms, but for the end', async () => {
    const seen: number[] = [];
    const clock = vi.spyOn(performance, 'now');
    let now = 0;
    clock.mockImplementation(() => now);
    try {
      const onProgress = ({ documents }: Progress) => {
        seen.push(documents);
      };
      const texts = Array.from({ length: 10 }, (_, row) => `${NEWS}${row}`);
      for await (const { index } of dedup(texts, { batch: 1, onProgress })) {
        now = [0, 49, 49, 49, 50, 99, 100, 100, 100, 100][index] ?? 0;
      }
    } finally {
      clock.mockRestore();
    }
    expect(seen).toEqual([1, 6, 8, 10]);
  });

  test('what it throws is what the loop throws, and closes the source', async () => {
    const own = new Error('mine');
    let closed = false;
    const source = (function* () {
      try {
        for (;;) yield NEWS;
      } finally {
        closed = true;
      }
    })();
    const stream = dedup(source, {
      batch: 2,
      onProgress: () => {
        throw own;
      },
    });
    await expect(stream.next()).rejects.toBe(own);
    await expect(stream.summary).rejects.toBe(own);
    expect(closed).toBe(true);
  });
});
