import { describe, expect, test } from 'vitest';
import { type Decision, type DedupOptions, dedup, Fingerprinter, type Summary } from '..';

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
  expect(decisions.map(({ index, status, duplicateOf }) => [index, status, duplicateOf])).toEqual([
    [0, 'kept', undefined],
    [1, 'duplicate', 0],
    [2, 'kept', undefined],
    [3, 'duplicate', 0],
    [4, 'kept', undefined],
  ]);
  expect(summary).toMatchObject({ read: 5, kept: 3, duplicates: 2, rejected: 0, clusters: 1 });
});

test('batches and threads change nothing', async () => {
  const [decisions] = await all();
  for (const options of [{ batch: 1 }, { batch: 2, threads: 1 }]) {
    expect((await all(options))[0]).toEqual(decisions);
  }
});

test('decisions say whose candidates a limit cut, by both kinds of clusters', async () => {
  const crowd = [0, 1, 2, 3].map((number) => `${NEWS}${number}`);
  for (const cluster of ['representative', 'components'] as const) {
    for (const [maxVerifications, cut] of [
      [1, [2, 3]],
      [2, [3]],
      [3, []],
    ] as const) {
      const truncated: number[] = [];
      const stream = dedup([...crowd, crowd[3] ?? ''], { cluster, maxVerifications });
      for await (const { index, ...decision } of stream) {
        if ('truncated' in decision) truncated.push(index);
      }
      // The fifth is a copy of the fourth.
      expect(truncated).toEqual(cut.length > 0 ? [...cut, 4] : []);
    }
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

test('a source that waits for each decision gets it, by the default batch', async () => {
  let decided = () => {};
  async function* source() {
    for (const doc of docs) {
      const next = new Promise<void>((resolve) => {
        decided = resolve;
      });
      yield doc;
      await next;
    }
  }
  const seen: Decision[] = [];
  for await (const decision of dedup(source())) {
    seen.push(decision);
    decided();
  }
  expect(seen).toEqual((await all())[0]);
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

describe('decided at the end', () => {
  const dated = [
    { text: NEWS, date: '2024-05-01', score: 1, id: 2n ** 70n },
    { text: `【转载】${NEWS}`, date: '2024-11-01', id: 2n ** 70n + 1n },
    { text: '临溪县今年的早稻收割进入尾声', score: 9 },
    { text: NEWS, date: '2023-01-01', score: { value: 3 }, id: 2 ** 70 },
  ];
  const originals = async (options: DedupOptions<(typeof dated)[number]>) => {
    const of: (number | undefined)[] = [];
    for await (const { doc, index, duplicateOf } of dedup(dated, options)) {
      expect(doc).toBe(dated[index]);
      of.push(duplicateOf);
    }
    return of;
  };

  test.each([
    ['first', [undefined, 0, undefined, 0]],
    ['last', [3, 3, undefined, undefined]],
    ['longest', [1, undefined, undefined, 1]],
    ['newest', [1, undefined, undefined, 1]],
    [{ field: 'date', order: 'smallest' }, [3, 3, undefined, undefined]],
    [{ field: 'score' }, [undefined, 0, undefined, 0]],
    [{ field: 'score.value' }, [3, 3, undefined, undefined]],
    [{ field: 'id' }, [1, undefined, undefined, 1]],
    [{ field: 'id', order: 'smallest' }, [undefined, 0, undefined, 0]],
    [(members: readonly unknown[]) => members.length - 1, [3, 3, undefined, undefined]],
  ] as const)('keep %o', async (keep, expected) => {
    for (const cluster of ['representative', 'components'] as const) {
      for (const batch of [1, 3]) {
        expect(await originals({ keep, cluster, batch })).toEqual(expected);
      }
    }
  });

  test('a function that chooses is given the documents, and what it returns is checked', async () => {
    const seen: unknown[] = [];
    await originals({
      keep: (members) => {
        seen.push(members);
        return 0;
      },
    });
    expect(seen).toEqual([[dated[0], dated[1], dated[3]]]);
    for (const wrong of [3, -1, 0.5]) {
      await expect(originals({ keep: () => wrong })).rejects.toMatchObject({
        code: 'ERR_OUT_OF_RANGE',
      });
    }
    const own = new Error('mine');
    const keep = () => {
      throw own;
    };
    await expect(originals({ keep })).rejects.toBe(own);
  });

  test('components link through a member, and the summary adds up', async () => {
    const a = '甲乙丙丁戊己庚辛壬癸子丑寅卯辰巳午未申酉戌亥天地玄黄宇宙洪荒日月盈昃辰宿列张';
    const b = a.replace('甲乙丙', '一二三');
    const c = b.replace('列张', '四五').replace('日月', '六七');
    const near = { minSimilarity: 0.75, maxDistance: 16 };
    const run = async (options: DedupOptions) => {
      const stream = dedup([a, b, c, ''], options);
      for (;;) {
        const { done, value } = await stream.next();
        if (done) return value;
      }
    };
    expect(await run(near)).toMatchObject({ read: 4, kept: 3, duplicates: 1, empty: 1 });
    const linked = await run({ ...near, cluster: 'components' });
    expect(linked).toMatchObject({ read: 4, kept: 2, duplicates: 2, clusters: 1, empty: 1 });
  });

  test('an abort ends it', async () => {
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(originals({ cluster: 'components', signal })).rejects.toThrow('enough');
  });
});

test('without a method its options choose it, and a method takes its own only', async () => {
  const distances = async (options: DedupOptions) =>
    (await all(options))[0].map(({ distance }) => distance);
  expect((await distances({ maxDistance: 16 }))[3]).toBe(0);
  expect((await distances({ bands: 30, rows: 4 }))[3]).toBeUndefined();
  for (const wrong of [{ maxDistance: 3, bands: 1, rows: 1 }, { bands: 3 }, { rows: 3 }]) {
    await expect(all(wrong)).rejects.toMatchObject({ code: 'ERR_INVALID_ARG_VALUE' });
  }
  await expect(all({ bands: 1000, rows: 1000 })).rejects.toMatchObject({
    code: 'ERR_OUT_OF_RANGE',
  });
  await expect(all({ method: 'exact', maxDistance: 3 })).rejects.toMatchObject({
    code: 'ERR_INVALID_ARG_VALUE',
  });
  const [decisions] = await all({ method: 'exact' });
  expect(decisions.map(({ duplicateOf }) => duplicateOf)).toEqual([
    undefined,
    undefined,
    undefined,
    0,
    undefined,
  ]);
  expect(decisions[3]).toMatchObject({ similarity: 1 });
  expect(decisions[3]).not.toHaveProperty('distance');
});

test('fingerprints are those of a fingerprinter, for simhash only', async () => {
  const by = new Fingerprinter();
  const texts = [NEWS, '短文', `【转载】${NEWS}`, '', NEWS];
  for (const options of [{}, { keep: 'last' }, { cluster: 'components' }] as const) {
    for (const batch of [1, 3]) {
      const found: unknown[] = [];
      const stream = dedup([...texts, 5 as never], {
        ...options,
        method: 'simhash',
        fingerprint: true,
        onMissing: 'reject',
        batch,
      });
      for await (const { fingerprint } of stream) found.push(fingerprint);
      expect(found).toEqual([...texts.map((text) => by.fingerprint(text)), undefined]);
      expect(typeof found[0]).toBe('bigint');
    }
  }
  const [plain] = await all({ method: 'simhash' });
  for (const decision of plain) expect(decision).not.toHaveProperty('fingerprint');
  // It chooses the method, as its other options do.
  const [chosen] = await all({ fingerprint: true });
  expect(chosen[3]).toMatchObject({ distance: 0, fingerprint: by.fingerprint(NEWS) });
  for (const [options, method] of [
    [{ method: 'minhash' }, 'minhash'],
    [{ bands: 3, rows: 4 }, 'minhash'],
    [{ sentences: 2 }, 'sentences'],
    [{ method: 'exact' }, 'exact'],
  ] as const) {
    await expect(all({ ...options, fingerprint: true })).rejects.toMatchObject({
      name: 'TypeError',
      code: 'ERR_INVALID_ARG_VALUE',
      message: `fingerprint is for method 'simhash', and the method is '${method}'`,
    });
    await expect(all({ ...options, fingerprint: false })).resolves.toBeDefined();
  }
});
