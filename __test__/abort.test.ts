import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { Fingerprinter, Index } from '..';

const texts = Array.from({ length: 20_000 }, (_, row) => `第${row}条消息，`.repeat(100));
const reason = new Error('enough');

test('before: nothing starts', async () => {
  const signal = AbortSignal.abort(reason);
  await expect(new Fingerprinter().fingerprintManyAsync([], { signal })).rejects.toBe(reason);
});

test('during: rejects with the reason, nothing was added, the own handler runs, no listener stays', async () => {
  const controller = new AbortController();
  const { signal } = controller;
  let called = 0;
  signal.onabort = () => called++;
  const before = getEventListeners(signal, 'abort').length;
  const index = new Index();
  const pending = index.addManyAsync(texts, { signal });
  controller.abort(reason);
  await expect(pending).rejects.toBe(reason);
  expect([called, index.size]).toEqual([1, 0]);
  expect(getEventListeners(signal, 'abort').length).toBe(before);
});

test('after: changes nothing', async () => {
  const controller = new AbortController();
  const found = await new Index().searchManyAsync([1n], { signal: controller.signal });
  controller.abort(reason);
  expect(found.length).toBe(1);
});
