/** The verbs that every method has: one test for all of them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { type Checked, Index, type Pair } from '..';
import { METHODS, of } from './indexes';

const folder = mkdtempSync(join(tmpdir(), 'simhash-verbs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let state = 7;
const random = (bound: number) => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return (state >>> 8) % bound;
};
const sentence = () =>
  `${Array.from({ length: 14 + random(10) }, () => String.fromCodePoint(0x4e00 + random(900))).join('')}。`;

/** Every third text is an earlier one, as it is or with a character changed; some are short, some empty. */
const texts: string[] = [];
for (let row = 0; row < 600; row++) {
  const earlier = texts[random(row + 1)] ?? '';
  if (row % 40 === 7) texts.push(['好的', '收到', ''][row % 3] ?? '');
  else if (row % 3 === 2) texts.push(random(3) === 0 ? earlier : earlier.replace(/..$/, '改。'));
  else texts.push(Array.from({ length: 4 }, sentence).join(''));
}

describe.each(METHODS)('%s', (method) => {
  const make = (options: Parameters<typeof of>[1] = {}) => of(method, options);
  const single = <R>(of: (text: string) => R) => texts.map(of);

  test.each([
    {},
    { texts: false },
    { verify: false },
    { keys: true, window: { maxCount: 200 } },
  ] as object[])('batches decide as one by one: %j', async (options) => {
    for (const onDuplicate of ['skip', 'add', 'touch'] as const) {
      const [one, many, later, all] = [1, 2, 3, 4].map(() =>
        make(onDuplicate === 'touch' ? { window: {}, ...options } : options),
      ) as [
        ReturnType<typeof make>,
        ReturnType<typeof make>,
        ReturnType<typeof make>,
        ReturnType<typeof make>,
      ];
      // With keys the answers name originals by them, which may have left the window before the batch ends.
      const hasKeys = 'keys' in options;
      const named: { text: string; key?: string }[] = texts.map((text, row) =>
        hasKeys ? { text, key: `key ${row}` } : { text },
      );
      const expected = named.map(({ text, ...key }) =>
        one.checkAndAdd(text, { onDuplicate, ...key }),
      );
      const isNamed = ({ duplicateOf, key }: Checked) =>
        duplicateOf !== undefined && (key !== undefined) === hasKeys;
      expect(expected.some(isNamed)).toBe(true);
      const how = (from: number, to: number) =>
        hasKeys
          ? { onDuplicate, keys: named.slice(from, to).map((one) => one.key) }
          : { onDuplicate };
      expect([...many.checkAndAddMany(texts, how(0, texts.length))]).toEqual(expected);
      const halves = [
        ...(await later.checkAndAddManyAsync(texts.slice(0, 300), how(0, 300))),
        ...(await later.checkAndAddManyAsync(texts.slice(300), how(300, texts.length))),
      ];
      expect(halves).toEqual(expected);
      const streamed = [];
      for await (const checked of all.checkAndAddAll(hasKeys ? named : texts, {
        onDuplicate,
        batch: 77,
      }))
        streamed.push(checked);
      expect(streamed).toEqual(expected);
      const found = [...one.searchMany(texts, { limit: 5 })];
      expect([...(await one.searchManyAsync(texts, { limit: 5 }))]).toEqual(found);
      expect(single((text) => one.search(text, { limit: 5 }))).toEqual(found);
      for (const other of [many, later, all]) {
        expect([other.size, ...other.searchMany(texts, { limit: 5 })]).toEqual([
          one.size,
          ...found,
        ]);
      }
    }
  });

  test('ids grow by one and are never used again; keys and texts leave with their document', () => {
    const index = make({ keys: true });
    const [a, b, c] = [texts[0], texts[1], texts[3]] as [string, string, string];
    expect(index.addMany([a, '', b], { keys: ['a', undefined, 'b'] })).toEqual({
      first: 0,
      count: 3,
    });
    expect([index.idOf('a'), index.keyOf(2), index.keyOf(1)]).toEqual([0, 'b', undefined]);
    expect(index.search(a)[0]).toMatchObject({ id: 0, key: 'a', verified: true, similarity: 1 });
    expect(index.checkAndAdd(b, { key: 'again' })).toMatchObject({ duplicateOf: 2, key: 'b' });
    expect(index.checkAndAddMany([b]).get(0)).toMatchObject({ duplicateOf: 2, key: 'b' });
    expect([index.delete(0), index.delete(0), index.has(0), index.idOf('a'), index.size]).toEqual([
      true,
      false,
      false,
      undefined,
      2,
    ]);
    expect(index.search(a)).toEqual([]);
    expect([index.checkAndAdd(a), index.checkAndAdd('')]).toEqual([{ id: 3 }, { id: 4 }]);
    const both = index.checkAndAdd(a, { onDuplicate: 'add' });
    expect(both).toMatchObject({ id: 5, duplicateOf: 3, similarity: 1 });
    expect(index.add(c)).toBe(6);
    expect([index.search('').length, index.stats().live]).toEqual([0, index.size]);
  });

  test('old documents leave the window, renewed ones later', () => {
    const index = make({ window: { maxAge: 100 } });
    const [a, b] = [texts[0], texts[1]] as [string, string];
    index.add(a, { at: 0 });
    index.add(b, { at: 50 });
    const how = { at: 90, onDuplicate: 'touch' } as const;
    expect(index.checkAndAdd(a, how)).toMatchObject({ duplicateOf: 0 });
    expect(index.checkAndAdd(b, { at: 151 })).toEqual({ id: 2 });
    expect([index.has(0), index.has(1), index.has(2)]).toEqual([true, false, true]);
    expect([index.expire(new Date(151)), index.size]).toEqual([1, 1]);
    expect(() => make().expire(1)).toThrowError(
      expect.objectContaining({ code: 'ERR_SIMHASH_NO_WINDOW' }),
    );
  });

  test('a saved index opens with equal answers, by a path or a URL', async () => {
    const options = { keys: true, window: { maxCount: 1000 } };
    const index = make(options);
    const keys = texts.map((_, row) => (row % 2 === 0 ? `key ${row}` : undefined));
    index.addMany(texts, { keys, at: 5 });
    index.delete(17);
    const file = join(folder, method);
    await index.save(pathToFileURL(file));
    const given = { method } as { method: 'exact' };
    const opened = [await Index.open(file, given), Index.openSync(pathToFileURL(file), given)];
    const expected = [...index.checkAndAddMany(texts.slice(0, 100), { at: 6 })];
    for (const other of opened) {
      expect([other.method, other.keyOf(4), other.idOf('key 4')]).toEqual([method, 'key 4', 4]);
      expect([...other.checkAndAddMany(texts.slice(0, 100), { at: 6 })]).toEqual(expected);
      expect(other.size).toBe(index.size);
    }
    const wrong = METHODS.find((other) => other !== method);
    expect(() => Index.openSync(file, { method: wrong } as { method: 'exact' })).toThrowError(
      expect.objectContaining({ code: 'ERR_SIMHASH_INDEX_MISMATCH' }),
    );
  });

  test('pairs are the matches of each document among those before it, clusters what they connect', async () => {
    const index = make();
    index.addMany(texts);
    const pairs: Pair<'exact'>[] = [];
    for await (const batch of index.pairs({ batch: 50 })) pairs.push(...batch);
    expect(pairs.length).toBeGreaterThan(20);
    for (const { a, b, similarity, verified } of pairs) {
      expect([a < b, verified]).toEqual([true, true]);
      const match = index.search(texts[b] ?? '').find(({ id }) => id === a);
      expect(match).toMatchObject({ similarity });
    }
    const members = new Set(pairs.flatMap(({ a, b }) => [a, b]));
    const clusters = [...(await index.clusters())];
    expect(new Set(clusters.flatMap(({ members }) => members))).toEqual(members);
  });

  test('a shared index is one index', () => {
    const index = make({ keys: true });
    const other = Index.fromShared(structuredClone(index.share()));
    other.add(texts[0] ?? '', { key: 'k' });
    expect([other.method, index.size, index.idOf('k')]).toEqual([method, 1, 0]);
    expect(index.checkAndAdd(texts[0] ?? '')).toMatchObject({ duplicateOf: 0, key: 'k' });
    index.close();
    expect(other.size).toBe(1);
    other.close();
    expect(() => other.size).toThrowError(expect.objectContaining({ code: 'ERR_SIMHASH_CLOSED' }));
  });

  test('beyond its memory an index takes nothing more, and goes on answering', async () => {
    const warnings: Error[] = [];
    const warned = (warning: Error) => warnings.push(warning);
    process.on('warning', warned);
    const index = make({ memory: 2_000_000 });
    let added = 0;
    const refused = expect.objectContaining({ name: 'SimHashError', code: 'ERR_SIMHASH_MEMORY' });
    expect(() => {
      for (; added < 100_000; added++)
        index.add(`${added}号${sentence()}${sentence()}${sentence()}`);
    }).toThrowError(refused);
    expect(added).toBeGreaterThan(100);
    expect(() => index.checkAndAdd(`${added}号${sentence()}`)).toThrowError(refused);
    await expect(index.addManyAsync([sentence()])).rejects.toEqual(refused);
    expect([index.size, index.search(texts[0] ?? '')]).toEqual([added, []]);
    expect(index.stats().bytes).toBeLessThan(2_400_000);
    await new Promise((turn) => setImmediate(turn));
    process.off('warning', warned);
    const told = warnings.filter(
      (warning) => (warning as { code?: string }).code === 'SIMHASH_MEMORY',
    );
    // What would take less is named where there is something.
    const advice = method === 'exact' ? /additions fail$/ : /texts: false takes less/;
    expect(told.map(({ message }) => message)).toEqual([expect.stringMatching(advice)]);
    // What leaves makes room.
    for (let id = 0; id < added; id++) index.delete(id);
    expect(index.add(sentence())).toBe(added);
  });
});

describe('checkAndAddAll', () => {
  test('takes iterables, async iterables and web streams; keys and times are of the items', async () => {
    const items = [
      { text: texts[0] as string, key: 'a', at: 10 },
      texts[1] as string,
      { text: texts[0] as string, key: 'b', at: new Date(20) },
    ];
    async function* later() {
      yield* items;
    }
    for (const source of [items, new Set(items), later(), ReadableStream.from(items)]) {
      const index = new Index({ keys: true, window: { maxSkew: Number.POSITIVE_INFINITY } });
      const checked = [];
      for await (const outcome of index.checkAndAddAll(source as Iterable<string>))
        checked.push(outcome);
      expect(checked).toMatchObject([{ id: 0 }, { id: 1 }, { duplicateOf: 0, key: 'a' }]);
      expect(index.idOf('b')).toBeUndefined();
    }
    const bits = new Index({ maxDistance: 3, texts: false });
    const found = [];
    for await (const outcome of bits.checkAndAddAll([1n, { text: 1n }, 'x'])) found.push(outcome);
    expect(found).toEqual([{ id: 0 }, { duplicateOf: 0, verified: false, distance: 0 }, { id: 1 }]);
  });

  test('reads at most two batches ahead, and closes a source that is left', async () => {
    let [read, closed] = [0, false];
    function* endless() {
      try {
        for (;;) yield `${read++}号${texts[0]}`;
      } finally {
        closed = true;
      }
    }
    const index = new Index({ method: 'exact' });
    const all = index.checkAndAddAll(endless(), { batch: 10 });
    for (let row = 0; row < 25; row++) {
      expect(await all.next()).toEqual({ done: false, value: { id: row } });
      expect(read).toBeLessThanOrEqual(10 * (Math.floor(row / 10) + 2));
    }
    await all.return();
    expect(closed).toBe(true);
    expect(index.size).toBeLessThanOrEqual(50);
    expect(index.add('下一个')).toBe(index.size - 1);
  });

  test('a silent source holds nothing up, and an abort ends the wait with its reason', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    async function* silent() {
      yield texts[0] as string;
      await new Promise(() => {});
    }
    const index = new Index();
    const all = index.checkAndAddAll(silent(), { signal: controller.signal });
    expect(await all.next()).toEqual({ done: false, value: { id: 0 } });
    const next = all.next();
    controller.abort(reason);
    await expect(next).rejects.toBe(reason);
    expect(index.size).toBe(1);
    const none = index.checkAndAddAll([texts[1] as string], { signal: AbortSignal.abort(reason) });
    await expect(none.next()).rejects.toBe(reason);
  });

  test('what a source throws passes through, and what it must not give is named', async () => {
    const mine = new Error('mine');
    function* failing() {
      yield texts[0] as string;
      throw mine;
    }
    const index = new Index({ keys: true });
    const all = async () => {
      for await (const checked of index.checkAndAddAll(failing()))
        expect(checked).toEqual({ id: 0 });
    };
    await expect(all()).rejects.toBe(mine);
    const type = { name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' };
    const refused = async (source: unknown) =>
      expect(index.checkAndAddAll(source as string[]).next()).rejects.toMatchObject(type);
    await refused([5]);
    await refused([{ text: 'x', key: 5 }]);
    await refused([{ text: 'x', at: 'now' }]);
    await refused('text');
    await refused(5);
  });
});
