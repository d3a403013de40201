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
