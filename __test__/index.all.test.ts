/** What batches and sources say of single items: where they are, what was done before memory ended. */
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { type Checked, CheckedItems, Index, SimHashError } from '..';
import { METHODS, of } from './indexes';

async function all<T>(source: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const one of source) found.push(one);
  return found;
}

/** Different texts. */
const text = (row: number) =>
  Array.from({ length: 60 }, (_, at) =>
    String.fromCodePoint(0x4e00 + ((row * 7919 + at * at * 31 + at * 17) % 20000)),
  ).join('');

describe('checkAndAddAll', () => {
  test('errors name the place in the source', async () => {
    const texts: unknown[] = Array.from({ length: 2500 }, (_, row) => `${row}`);
    const at = async (place: number, wrong: unknown, options: object = {}) => {
      const source = texts.with(place, wrong) as string[];
      const error = await all(
        new Index({ keys: true, window: {} }).checkAndAddAll(source, options),
      ).catch((error: Error) => error);
      return (error as Error).message;
    };
    for (const batch of [1, 7, 1024, 65_536])
      expect(await at(2000, 5, { batch })).toMatch(/^source\[2000\] must be a string/);
    expect(await at(2000, { text: 5 })).toMatch(/^source\[2000\] must be a string/);
    expect(await at(1500, { text: 'x', key: 5 })).toMatch(/^source\[1500\]\.key must be a string/);
    expect(await at(1500, { text: 'x', key: '' })).toMatch(/^source\[1500\]\.key must be .* bytes/);
    expect(await at(1500, { text: 'x', at: 'now' })).toMatch(/^source\[1500\]\.at must be/);
    const source = Array.from({ length: 20 }, (_, row) => ({ body: row === 13 ? undefined : 'x' }));
    const body = new Index().checkAndAddAll(source, { text: 'body', batch: 5 });
    await expect(all(body)).rejects.toThrow('source[13] must have a text in body');
  });

  test('text, key and time are fields or functions', async () => {
    const source = [
      { id: 'a', page: { body: text(1) }, time: 5, key: 'not this one' },
      { id: 'b', page: { body: text(2) }, time: 6 },
      { id: 'c', page: { body: text(1) }, time: 7 },
    ];
    const expected = [{ id: 0 }, { id: 1 }, expect.objectContaining({ duplicateOf: 0, key: 'a' })];
    for (const options of [
      { text: 'page.body', key: 'id', at: 'time' },
      {
        text: ({ page }: (typeof source)[number]) => page.body,
        key: ({ id }: (typeof source)[number]) => id,
        at: ({ time }: (typeof source)[number]) => new Date(time),
      },
    ]) {
      const index = new Index({ keys: true, window: {} });
      expect(await all(index.checkAndAddAll(source, options))).toEqual(expected);
      expect([index.idOf('b'), index.idOf('not this one'), index.expire(6)]).toEqual([
        1,
        undefined,
        1,
      ]);
    }
    // Without selectors of their own, key and time are not looked for in what is the caller's.
    const plain = new Index();
    await all(plain.checkAndAddAll(source, { text: 'page.body' }));
    expect(plain.size).toBe(2);
    const named = new Index({ keys: true });
    await all(named.checkAndAddAll([{ text: text(1), name: 'n' }], { key: 'name' }));
    expect(named.idOf('n')).toBe(0);
    for (const options of [{ text: 5 }, { key: '' }, { at: 'a..b' }])
      await expect(new Index().checkAndAddAll([], options as never).next()).rejects.toThrow(
        /must be/,
      );
  });
});

describe.each(METHODS)('where memory ends, %s', (method) => {
  const memory = 1 << 20;
  const texts = Array.from({ length: 60_000 }, (_, row) => `${row}${text(row)}`);
  const failed = async (call: () => unknown): Promise<SimHashError> => {
    try {
      await call();
    } catch (error) {
      expect(error).toBeInstanceOf(SimHashError);
      expect(error).toMatchObject({ code: 'ERR_SIMHASH_MEMORY' });
      return error as SimHashError;
    }
    throw new Error('memory did not end');
  };

  test('additions say which were made', async () => {
    for (const how of ['addMany', 'addManyAsync'] as const) {
      const index = of(method, { memory });
      const { done, message } = await failed(() => index[how](texts));
      expect(message).toContain('may hold 1048576');
      if (done === undefined || done instanceof CheckedItems) throw new Error('no ids');
      expect(done.count).toBe(index.size);
      expect([...done.ids]).toEqual(Array.from({ length: index.size }, (_, id) => id));
      expect(index.size).toBeGreaterThan(100);
    }
  });

  test('checks say what was decided, and a loop yields it first', async () => {
    const expected = of(method);
    for (const how of ['checkAndAddMany', 'checkAndAddManyAsync'] as const) {
      const index = of(method, { memory });
      const copies = [texts[0] as string, ...texts];
      const { done } = await failed(() => index[how](copies));
      if (!(done instanceof CheckedItems)) throw new Error('no outcomes');
      // The second is a duplicate.
      expect([done.length - 1, done.get(1)?.duplicateOf]).toEqual([index.size, 0]);
      expect(inspect(done)).toContain('CheckedItems');
    }
    const index = of(method, { memory });
    const yielded: Checked[] = [];
    const error = await failed(async () => {
      for await (const checked of index.checkAndAddAll(texts)) yielded.push(checked);
    });
    expect(yielded.length).toBe(index.size);
    expect(yielded).toEqual(expected.checkAndAddMany(texts.slice(0, index.size)).toJSON());
    expect(error.done).toBeInstanceOf(CheckedItems);
  });

  test('one that was not made has nothing done', async () => {
    const index = of(method, { memory });
    await failed(() => index.addMany(texts));
    expect((await failed(() => index.add('又一篇'))).done).toBe(undefined);
    const { done } = await failed(() => index.addMany(['又一篇']));
    expect(done).toEqual({ first: index.size, count: 0 });
  });
});
