import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, expect, test } from 'vitest';
import { Index, type SimHashIndexOptions } from '..';
import { nearby } from './fingerprints';
import { BARE, bare, METHODS, near, of } from './indexes';

const folder = mkdtempSync(join(tmpdir(), 'simhash-index-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string) => join(folder, name);
const items = nearby(2000);

/** What a call throws or rejects with; both ways to open a file must agree. */
async function refusal(path: string, options: SimHashIndexOptions | undefined = BARE) {
  const rejected = await Index.open(path, options).catch((error: unknown) => error);
  let thrown: unknown;
  try {
    Index.openSync(path, options);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toMatchObject({ ...(rejected as object), message: (rejected as Error).message });
  return rejected;
}

test('a saved index opens with equal answers, equal ids, and the same next id', async () => {
  const index = bare({ window: { maxAge: 1000 }, plan: 'k3-t6' });
  index.addMany(items, { at: items.map((_, row) => row) });
  index.addMany(['短', '', '短'], { at: 2000 });
  index.delete(1500);
  await index.save(at('whole'));
  const opened = [await Index.open(at('whole'), BARE), Index.openSync(at('whole'), BARE)];
  for (const other of opened) {
    expect(other.size).toBe(index.size);
    expect([...other.searchMany(items, { maxDistance: 5 })]).toEqual([
      ...index.searchMany(items, { maxDistance: 5 }),
    ]);
    expect(other.search('短')).toEqual(index.search('短'));
    expect(other.stats().plan).toBe('k3-t6');
  }
  const more = nearby(4000).slice(2000);
  const times = { at: more.map((_, row) => 2000 + row) };
  const expected = [...index.checkAndAddMany(more, times)];
  expect(expected.some(({ id }) => id === items.length + 3)).toBe(true);
  for (const other of opened) {
    expect([...other.checkAndAddMany(more, times)]).toEqual(expected);
    expect(other.size).toBe(index.size);
  }
});

test('an empty index and one without a window go to a file and back', async () => {
  const index = bare({ maxDistance: 5 });
  await index.save(at('empty'));
  expect((await Index.open(at('empty'), { ...BARE, maxDistance: 5 })).add(1n)).toBe(0);
  expect(() => Index.openSync(at('empty'), BARE).expire(1)).toThrowError(
    expect.objectContaining({ code: 'ERR_SIMHASH_NO_WINDOW' }),
  );
});

test('saving replaces the file as a whole and leaves nothing beside it', async () => {
  const index = bare();
  index.addMany(items);
  writeFileSync(at('replaced'), 'something else');
  await Promise.all([index.save(at('replaced')), index.save(at('replaced'))]);
  expect(Index.openSync(at('replaced'), BARE).size).toBe(items.length);
  expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
});

test('an aborted save leaves the old file and nothing beside it', async () => {
  const index = bare();
  index.addMany(items);
  writeFileSync(at('kept'), 'as it was');
  const reason = new Error('enough');
  const signal = AbortSignal.abort(reason);
  await expect(index.save(at('kept'), { signal })).rejects.toBe(reason);
  const controller = new AbortController();
  // The signal may come too late; then the promise says so, and the file is the new one.
  const large = bare();
  large.addMany(BigUint64Array.from({ length: 300_000 }, (_, row) => BigInt(row) << 20n));
  const during = large.save(at('kept'), { signal: controller.signal });
  controller.abort(reason);
  const outcome = await during.then(
    () => Index.openSync(at('kept'), BARE).size,
    (error: unknown) => [error, readFileSync(at('kept'), 'utf8')],
  );
  expect([large.size, [reason, 'as it was']]).toContainEqual(outcome);
  expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  await index.save(at('opened'));
  await expect(Index.open(at('opened'), { ...BARE, signal })).rejects.toBe(reason);
});

test('a file that cannot be written or read is named', async () => {
  const missing = at(join('no', 'such', 'folder'));
  await expect(bare().save(missing)).rejects.toMatchObject({
    code: 'ERR_SIMHASH_OUTPUT',
    message: `cannot write ${missing}: there is no folder ${dirname(missing)}; make it first`,
  });
  await expect(bare().save(folder)).rejects.toMatchObject({ code: 'ERR_SIMHASH_OUTPUT' });
  for (const path of [missing, at('none')]) {
    const refused = {
      name: 'SimHashError',
      code: 'ERR_SIMHASH_INPUT',
      message: expect.stringContaining(path),
    };
    await expect(Index.open(path, { create: false })).rejects.toMatchObject(refused);
    expect(() => Index.openSync(path)).toThrowError(expect.objectContaining(refused));
  }
});

test('truncated, flipped and foreign files are refused with file and offset', async () => {
  const index = bare({ window: {} });
  index.addMany(items.slice(0, 300), { at: 1 });
  await index.save(at('sound'));
  const sound = readFileSync(at('sound'));
  const damaged = at('damaged');
  const refused = async (bytes: Uint8Array | string) => {
    writeFileSync(damaged, bytes);
    const error = await refusal(damaged);
    expect(error).toMatchObject({ name: 'SimHashError', code: 'ERR_SIMHASH_INDEX_DAMAGED' });
    expect((error as Error).message).toContain(damaged);
    const [, offset] = /damaged at byte (\d+)/.exec((error as Error).message) ?? [];
    return Number(offset);
  };
  for (const foreign of ['', 'text', `{"id": 1}\n`.repeat(100), 'SIMHIDX\n'.repeat(9)]) {
    expect(await refused(foreign)).toBe(0);
    const { message } = (await refusal(damaged)) as Error;
    expect(message).toContain('this is not a saved index; name a file that holds one');
  }
  await refused(Buffer.concat([sound, Buffer.from([0])]));
  for (let cut = 1; cut < 80; cut++) {
    const end = Math.floor((sound.length * cut) / 80);
    expect(await refused(sound.subarray(0, end))).toBeLessThanOrEqual(end);
  }
  for (let step = 0; step < 200; step++) {
    const where = step < 60 ? step : Math.floor((sound.length * step) / 200);
    const flipped = Buffer.from(sound);
    flipped[where] = (flipped[where] ?? 0) ^ (1 << (step & 7));
    expect(await refused(flipped)).toBeLessThanOrEqual(where + 8);
  }
  expect(Index.openSync(at('sound'), BARE).size).toBe(300);
});

test('other options than the saved ones are refused, with both', async () => {
  const made = { ...BARE, features: 'chars', ngram: 3 } as const;
  const index = bare({ ...made, window: { maxAge: 5 }, maxDistance: 2 });
  index.add('这是一条关于天气的消息，明天有雨');
  await index.save(at('made'));
  const refused = async (options: object, saved: string, given: string) => {
    const error = await refusal(at('made'), { ...BARE, ...options });
    expect(error).toMatchObject({ code: 'ERR_SIMHASH_INDEX_MISMATCH' });
    for (const part of [at('made'), saved, given]) {
      expect((error as Error).message).toContain(part);
    }
  };
  await refused({ features: 'words' }, 'features (chars)', '(words)');
  await refused({ ngram: 2 }, 'ngram (3)', '(2)');
  await refused({ ...made, minFeatures: 3 }, 'minFeatures (12)', '(3)');
  await refused({ ...made, normalize: false }, 'normalize (nfkc', '(nothing)');
  await refused({ normalize: { case: false } }, 'nfkc + case', '(nfkc + whitespace auto)');
  await refused({ preset: 'jieba-tfidf' }, 'features (chars)', '(jieba)');
  await refused({ ...made, maxDistance: 3 }, '2', '3');
  await refused({ ...made, plan: 'k3-t14' }, index.stats().plan, 'k3-t14');
  await refused({ ...made, window: { maxAge: 6 } }, 'maxAge 5', 'maxAge 6');
  await refused({ ...made, window: {} }, 'maxAge 5', 'maxAge any');
  await refused({ ...made, texts: true }, 'none', 'maxLength 65536');
  await refused({ ...made, minSimilarity: 0.9 }, 'minSimilarity (0.8)', '(0.9)');
  await refused({ ...made, verify: false }, 'verify (auto)', '(false)');
  await refused({ ...made, verify: 'edit' }, 'verify (auto)', '(edit)');
  await refused({ ...made, maxVerifications: 5 }, '1000', '5');
  const same = { ...made, maxDistance: 2, plan: 'auto', minSimilarity: 0.8 };
  const opened = await Index.open(at('made'), { ...same, window: { maxAge: 5 }, threads: 1 });
  expect(opened.search('这是一条关于天气的消息，明天有雨')).toEqual([near(0, 0)]);
});

test('options of open and save are checked', async () => {
  const type = { name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' };
  await expect(Index.open(1 as never)).rejects.toMatchObject(type);
  await expect(Index.open('x', { count: 1 } as never)).rejects.toMatchObject(type);
  await expect(bare().save(undefined as never)).rejects.toMatchObject(type);
  expect(() => Index.openSync('x', { signal: undefined, at: 1 } as never)).toThrow(TypeError);
});

test('compact keeps every answer and makes one run', async () => {
  const index = bare();
  for (let from = 0; from < items.length; from += 100) index.addMany(items.slice(from, from + 100));
  index.delete(3);
  const before = [...index.searchMany(items)];
  await index.compact();
  expect(index.stats()).toMatchObject({ memtable: 0, dead: 0, merging: false });
  expect(index.stats().segments.length).toBe(1);
  expect([...index.searchMany(items)]).toEqual(before);
});

test('an aborted compact rejects with the reason and changes no answer', async () => {
  const index = bare();
  index.addMany(items);
  const before = [...index.searchMany(items)];
  const reason = new Error('enough');
  await expect(index.compact({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  expect([...index.searchMany(items)]).toEqual(before);
  await index.compact({});
  expect(index.stats().memtable).toBe(0);
});

test('the engine is told the size of an opened index, and that it is gone', async () => {
  const index = bare();
  index.addMany(BigUint64Array.from({ length: 200_000 }, (_, row) => BigInt(row) << 20n));
  await index.save(at('large'));
  const script = `
    const { Index } = require(${JSON.stringify(join(__dirname, '..'))});
    (async () => {
      for (let round = 0; round < 40; round++) await Index.open(${JSON.stringify(at('large'))}, { method: 'simhash', texts: false });
      console.log(process.memoryUsage().rss);
    })();`;
  const run = (code: string) =>
    spawnSync(process.execPath, ['-e', code], { encoding: 'utf8', maxBuffer: 1 << 20 });
  const { status, stdout, stderr } = run(script);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const { tableBytes, idBytes } = index.stats();
  // Forty that nobody collected would be forty times the size.
  expect(Number(stdout)).toBeLessThan(40 * (tableBytes + idBytes));
});

test('an index does not cross to a worker', async () => {
  const index = bare();
  index.add(1n);
  const code = `require('node:worker_threads').parentPort.once('message', () => process.exit(0))`;
  const worker = new Worker(code, { eval: true });
  try {
    worker.postMessage(index);
    const copy = structuredClone(index) as Partial<Index>;
    expect(copy).not.toBeInstanceOf(Index);
    expect(copy.search).toBeUndefined();
  } finally {
    await worker.terminate();
  }
});

test.each(METHODS)('without a method that of the file is taken: %s', async (method) => {
  const text = '今天的天气非常好，我们一起去公园散步，孩子们都很开心。';
  const index = of(method, { keys: true, minSimilarity: 0.7 });
  index.add(text, { key: 'k' });
  const path = at(`any.${method}`);
  await index.save(path);
  for (const options of [undefined, {}, { keys: true }, { minSimilarity: 0.7 }]) {
    const given = method === 'exact' && options?.minSimilarity !== undefined ? {} : options;
    for (const opened of [await Index.open(path, given), Index.openSync(path, given)]) {
      expect([opened.method, opened.idOf('k')]).toEqual([method, 0]);
      expect(opened.checkAndAdd(text)).toMatchObject({ duplicateOf: 0, verified: true });
    }
  }
  // An option that one method has chooses it.
  const own = method === 'sentences' ? { maxDistance: 3 } : { sentences: 3 };
  expect(() => Index.openSync(path, own as { sentences: 3 })).toThrowError(
    expect.objectContaining({ code: 'ERR_SIMHASH_INDEX_MISMATCH' }),
  );
});

test('a file that is not opened says what to do', async () => {
  const path = at('advice');
  const index = new Index({ maxDistance: 4 });
  index.add('x');
  await index.save(path);
  const told = async (file: string, options?: object) =>
    ((await refusal(file, options as SimHashIndexOptions)) as Error).message;
  const nowhere =
    /nowhere: .*; save\(\) of an index writes such a file; Index\.open without create: false makes a folder/;
  await expect(Index.open(at('nowhere'), { create: false })).rejects.toThrowError(nowhere);
  expect(() => Index.openSync(at('nowhere'))).toThrowError(nowhere);
  expect(await told(path, { method: 'exact' })).toContain('; leave method out: the index has it');
  expect(await told(path, { keys: true })).toContain('; leave keys out: the index has it');
  expect(await told(path, { maxDistance: 5 })).toContain('; leave maxDistance out: the index has');
  expect(await told(path, { ngram: 3 })).toContain('; leave ngram out: the index has it');
  const readOnly = /nowhere: .*; readOnly reads an index that is there; leave it out/;
  await expect(Index.open(at('nowhere'), { readOnly: true })).rejects.toThrowError(readOnly);
  const bytes = readFileSync(path);
  bytes[bytes.length - 40] = (bytes.at(-40) ?? 0) ^ 1;
  writeFileSync(at('flipped'), bytes);
  expect(await told(at('flipped'))).toContain('; open a copy of it, or build the index again');
  writeFileSync(at('short'), bytes.subarray(0, 20));
  expect(await told(at('short'))).toContain('; open a copy of it, or build the index again');
  writeFileSync(at('foreign'), 'not one of ours, and long enough to have a head of its own');
  expect(await told(at('foreign'))).toMatch(/not a saved index; name a file that holds one$/);
});
