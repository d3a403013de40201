/** While work runs on the pool, the event loop turns. */
import { expect, test } from 'vitest';
import { Fingerprinter, Index } from '..';

const COUNT = 100_000;
const texts = Array.from(
  { length: COUNT },
  (_, row) =>
    `第${row}条：青禾市图书馆新馆昨日起试运行，新馆位于云浦大道东侧，地上五层，藏书${row * 7}万册，设有阅览座位两千三百个。`,
);

/** How often a timer of 1 ms fires, and an immediate, while `work` is pending. */
async function turns(
  work: () => Promise<unknown>,
): Promise<{ timers: number; immediates: number }> {
  let [timers, immediates, pending] = [0, 0, true];
  const immediate = () => {
    immediates++;
    if (pending) setImmediate(immediate);
  };
  const running = work();
  const timer = setInterval(() => timers++, 1);
  setImmediate(immediate);
  await running;
  pending = false;
  clearInterval(timer);
  return { timers, immediates };
}

test.each(['chars', 'jieba-tfidf'] as const)(
  'timers fire while 100,000 documents are fingerprinted asynchronously (%s)',
  async (preset) => {
    const by = Fingerprinter.preset(preset);
    let length = 0;
    const { timers, immediates } = await turns(async () => {
      length = (await by.fingerprintManyAsync(texts)).length;
    });
    expect(length).toBe(COUNT);
    expect(timers).toBeGreaterThan(3);
    expect(immediates).toBeGreaterThan(3);
  },
);

test('and while they are checked and added', async () => {
  const index = new Index({ maxDistance: 3, texts: false });
  const { timers } = await turns(() => index.checkAndAddManyAsync(texts));
  expect(index.size).toBeGreaterThan(0);
  expect(timers).toBeGreaterThan(3);
});
