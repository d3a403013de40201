import { getEventListeners } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { MemoryLevel } from 'memory-level';
import { afterAll, describe, expect, test } from 'vitest';
import { Fingerprinter, Index, MinHasher } from '..';
import { KeptIndex } from '../dist/connect/level.js';
import { METHODS, of } from './indexes';

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
  const found = await new Index().searchManyAsync(['x'], { signal: controller.signal });
  controller.abort(reason);
  expect(found.length).toBe(1);
});

const folder = mkdtempSync(join(tmpdir(), 'simhash-abort-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Jobs {
  /** Takes texts. */
  batches: Record<string, (texts: string[], signal: AbortSignal) => Promise<unknown>>;
  /** Takes none. */
  others?: Record<string, (signal: AbortSignal) => Promise<unknown>>;
  size?: () => number;
}

type Options = { method: 'exact'; signal: AbortSignal };
const file = join(folder, 'index');
const indexed = (index: Index): Required<Jobs> => ({
  batches: {
    addManyAsync: (texts, signal) => index.addManyAsync(texts, { signal }),
    searchManyAsync: (texts, signal) => index.searchManyAsync(texts, { signal }),
    checkAndAddManyAsync: (texts, signal) => index.checkAndAddManyAsync(texts, { signal }),
    // All in one batch: the first of many may be done before the abort.
    checkAndAddAll: (texts, signal) =>
      index.checkAndAddAll(texts, { signal, batch: 65_536 }).next(),
  },
  others: { save: (signal) => index.save(file, { signal }) },
  size: () => index.size,
});

const classes: Record<string, () => Jobs | Promise<Jobs>> = {
  ...Object.fromEntries(
    METHODS.map((method) => [
      method,
      () => {
        const index = of(method);
        const { batches, others, size } = indexed(index as unknown as Index);
        const compact = (signal: AbortSignal) => index.compact({ signal });
        const clusters = (signal: AbortSignal) => index.clusters({ signal });
        const pairs = (signal: AbortSignal) => index.pairs({ signal }).next();
        const open = (signal: AbortSignal) => Index.open(file, { method, signal } as Options);
        return { batches, others: { ...others, compact, clusters, pairs, open }, size };
      },
    ]),
  ),
  'groups of sentences': () => {
    const index = new Index({ groups: true });
    const similarIdManyAsync = (texts: string[], signal: AbortSignal) =>
      index.similarIdManyAsync(texts, { signal });
    return { batches: { similarIdManyAsync }, size: () => index.size };
  },
  KeptIndex: async () => {
    const kept = await KeptIndex.open(new MemoryLevel());
    return {
      batches: {
        addManyAsync: (texts, signal) => kept.index.addManyAsync(texts, { signal }),
      },
      others: {
        compact: (signal) => kept.compact({ signal }),
        open: (signal) => KeptIndex.open(new MemoryLevel(), { signal }),
      },
      size: () => kept.index.size,
    };
  },
  'Fingerprinter and MinHasher': () => {
    const [by, hasher] = [new Fingerprinter(), new MinHasher({ hashes: 16 })];
    return {
      batches: {
        fingerprintManyAsync: (texts, signal) => by.fingerprintManyAsync(texts, { signal }),
        signatureManyAsync: (texts, signal) => hasher.signatureManyAsync(texts, { signal }),
      },
    };
  },
};

describe.each(Object.entries(classes))('every job of %s', (_name, of) => {
  test('aborted before does nothing', async () => {
    const { batches, others = {}, size } = await of();
    const signal = AbortSignal.abort(reason);
    for (const [name, job] of Object.entries(batches)) {
      await expect(job(['一'], signal), name).rejects.toBe(reason);
    }
    for (const [name, job] of Object.entries(others)) {
      await expect(job(signal), name).rejects.toBe(reason);
    }
    expect(readdirSync(folder)).toEqual([]);
    expect(size?.() ?? 0).toBe(0);
  });

  test('aborted between two slices rejects with the reason and has changed nothing', async () => {
    const { batches, size } = await of();
    for (const [name, job] of Object.entries(batches)) {
      const [controller, before] = [new AbortController(), size?.() ?? 0];
      const pending = job(texts, controller.signal);
      await turn();
      controller.abort(reason);
      await expect(pending, name).rejects.toBe(reason);
      expect(size?.() ?? 0, name).toBe(before);
    }
  });
});
