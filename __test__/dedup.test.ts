import { expect, test } from 'vitest';
import { type Decision, dedup, type Summary } from '..';

const NEWS =
  '青禾市图书馆新馆昨日起试运行。新馆位于云浦大道东侧，地上五层，藏书一百二十万册，设有阅览座位两千三百个。';
const docs = [NEWS, { id: 7, text: `【转载】${NEWS}` }, '临溪县今年的早稻收割进入尾声', NEWS, ''];

async function all(options?: Parameters<typeof dedup>[1]): Promise<[Decision[], Summary]> {
  const stream = dedup(docs, options);
  const decisions: Decision[] = [];
  for (;;) {
    const { done, value } = await stream.next();
    if (done) return [decisions, value];
    decisions.push(value);
  }
}

test('the first is kept, decisions come in order, the summary adds up', async () => {
  const [decisions, summary] = await all();
  expect(decisions.map(({ doc }) => doc)).toEqual(docs);
  expect(decisions.map(({ index, duplicateOf }) => [index, duplicateOf])).toEqual([
    [0, undefined],
    [1, 0],
    [2, undefined],
    [3, 0],
    [4, undefined],
  ]);
  expect(summary).toMatchObject({ read: 5, kept: 3, duplicates: 2, rejected: 0, clusters: 1 });
});

test('batches and threads change nothing', async () => {
  const [decisions] = await all();
  for (const options of [{ batch: 1 }, { batch: 2, threads: 1 }]) {
    expect((await all(options))[0]).toEqual(decisions);
  }
});

test('leaving the loop closes the source, at most two batches ahead', async () => {
  let read = 0;
  let closed = false;
  async function* source() {
    try {
      for (;;) yield `${NEWS}${read++}`;
    } finally {
      closed = true;
    }
  }
  for await (const _ of dedup(source(), { batch: 8 })) break;
  expect(closed).toBe(true);
  expect(read).toBeLessThanOrEqual(16);
});

test('an abort rejects with its reason, before and between', async () => {
  const reason = new Error('enough');
  await expect(dedup(docs, { signal: AbortSignal.abort(reason) }).next()).rejects.toBe(reason);
  const controller = new AbortController();
  const stream = dedup(docs, { batch: 1, signal: controller.signal });
  await stream.next();
  controller.abort(reason);
  await expect(stream.next()).rejects.toBe(reason);
});

/** Gives `texts`, then never answers again. */
function silentAfter(...texts: string[]) {
  let closed = false;
  const source: AsyncIterableIterator<string> = {
    next: () => {
      const value = texts.shift();
      return value === undefined ? new Promise(() => {}) : Promise.resolve({ value });
    },
    return: () => {
      closed = true;
      return Promise.resolve({ done: true, value: undefined });
    },
    [Symbol.asyncIterator]: () => source,
  };
  return { source, closed: () => closed };
}

test('what a silent source gave is decided, and an abort does not wait for it', async () => {
  const { source, closed } = silentAfter(NEWS, NEWS);
  const abort = new AbortController();
  const stream = dedup(source, { signal: abort.signal });
  expect((await stream.next()).value).toMatchObject({ index: 0 });
  expect((await stream.next()).value).toMatchObject({ index: 1, duplicateOf: 0 });
  const waiting = stream.next();
  abort.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  expect(closed()).toBe(true);
});

test('what the source throws is what comes out, the decisions before it first', async () => {
  const own = Object.assign(new Error('mine'), { code: 'ERR_OUT_OF_RANGE', extra: 1 });
  const seen: number[] = [];
  const run = async () => {
    const source = (async function* () {
      yield NEWS;
      await new Promise((resolve) => setTimeout(resolve, 20));
      throw own;
    })();
    for await (const { index } of dedup(source)) seen.push(index);
  };
  await expect(run()).rejects.toBe(own);
  expect(seen).toEqual([0]);
});

test('slow and fast sources are decided alike', async () => {
  const [decisions] = await all();
  const slow = (async function* () {
    for (const doc of docs) {
      await new Promise((resolve) => setImmediate(resolve));
      yield doc;
    }
  })();
  const found: Decision[] = [];
  for await (const decision of dedup(slow, { batch: 2 })) found.push(decision);
  expect(found).toEqual(decisions);
});
