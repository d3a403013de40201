import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { Dictionary, type DirectoryOptions, Index } from '..';
import { METHODS } from './indexes';
import { passage, passages } from './passages';
import { posix } from './posix';

const posixTest = posix('permissions');

const folder = mkdtempSync(join(tmpdir(), 'simhash-folder-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string) => join(folder, name);
const texts = passages(300);
const keys = texts.map((_, row) => `键${row % 200}`);

/** What can be asked of an index. */
const all = (index: Index) => ({
  size: index.size,
  position: index.position,
  found: texts.slice(0, 80).map((text) => index.search(text)),
  ids: keys.map((key) => index.idOf(key)),
  names: Array.from({ length: 400 }, (_, id) => (index.has(id) ? index.keyOf(id) : undefined)),
});

describe.each(METHODS)('%s', (method) => {
  const options = { method, keys: true, window: { maxCount: 250 } } as const;
  const open = (path: string, how?: DirectoryOptions) => Index.open(path, { ...options, ...how });

  test('an index opened again goes on as if it had stayed open', async () => {
    const stayed = new Index(options);
    const path = at(`again-${method}`);
    for (let part = 0; part < 4; part++) {
      const durability = (['none', 'interval', 'commit', 'none'] as const)[part] as 'none';
      const index = await open(path, { durability });
      const [from, to] = [part * 70, part * 70 + 90];
      const how = { at: from, keys: keys.slice(from, to), position: part };
      expect([...(await index.checkAndAddManyAsync(texts.slice(from, to), how))]).toEqual([
        ...stayed.checkAndAddMany(texts.slice(from, to), how),
      ]);
      expect((await index.addManyAsync([passage(part)], { at: from })).ids).toEqual(
        stayed.addMany([passage(part)], { at: from }).ids,
      );
      expect(await index.deleteAsync(part * 3)).toBe(stayed.delete(part * 3));
      if (part === 2) await index.compact();
      const { durable } = index.stats();
      expect(durable).toMatchObject({ path, tornBytes: 0 });
      expect(all(index)).toEqual(all(stayed));
      await index.close();
    }
    const index = await open(path);
    expect(all(index)).toEqual(all(stayed));
    await index.close();
    // The method, and all other options, are those of the folder.
    const found = await Index.open(path);
    expect([found.method, found.size]).toEqual([method, stayed.size]);
    await found.close();
  });

  test('a snapshot is an index of its own, as the first was at the call', async () => {
    const index = await open(at(`source-${method}`));
    index.addMany(texts.slice(0, 50), { keys: keys.slice(0, 50) });
    const before = all(index);
    const written = index.snapshot(at(`backup-${method}`));
    index.addMany(texts.slice(50, 60));
    await written;
    const backup = await open(at(`backup-${method}`));
    expect(all(backup)).toEqual(before);
    await backup.close();
    await expect(index.snapshot(at(`backup-${method}`))).rejects.toMatchObject({
      code: 'ERR_SIMHASH_OUTPUT',
      message: expect.stringContaining('it holds an index already'),
    });
    await index.close();
  });

  test('a snapshot has all of a batch with a position that is under way, and the position', async () => {
    const index = await open(at(`under-way-${method}`), { durability: 'none' });
    const many = Array.from({ length: 3000 }, (_, row) => passage(1000 + row));
    const how = { keys: many.map((_, row) => `under way ${row}`), position: 1 };
    const batch = index.checkAndAddManyAsync(many, how);
    while (index.size === 0) await new Promise((done) => setImmediate(done));
    const path = at(`under-way-backup-${method}`);
    await index.snapshot(path);
    const checked = [...(await batch)];
    const copy = await open(path);
    expect(copy.position).toBe(1);
    expect(checked.map(({ id }) => id !== undefined && copy.has(id))).toEqual(
      checked.map(({ id }) => id !== undefined && index.has(id)),
    );
    for (const one of [index, copy]) await one.close();
  });

  test('one writes, others follow', async () => {
    const path = at(`followed-${method}`);
    const writer = await open(path);
    await expect(open(path)).rejects.toMatchObject({
      code: 'ERR_SIMHASH_INDEX_LOCKED',
      message: expect.stringContaining(`process ${process.pid}`),
    });
    const reader = await open(path, { readOnly: true });
    for (let step = 0; step < 5; step++) {
      const some = texts.slice(step * 20, step * 20 + 20);
      writer.addMany(some, { keys: keys.slice(0, 20), at: step });
      // Once and twice in a row: the second time the reader has to open the folder again.
      for (let times = 0; times < step - 1; times++) await writer.compact();
      await reader.refresh();
      expect(all(reader)).toEqual(all(writer));
    }
    expect(() => reader.add('文', { at: 9 })).toThrow(
      expect.objectContaining({ code: 'ERR_SIMHASH_READ_ONLY' }),
    );
    await Promise.all([reader.close(), writer.close()]);
  });
});

test('with commit a call that would wait for the disk names the one that returns a promise', async () => {
  const index = await Index.open(at('commit'), { durability: 'commit', window: {} });
  const [id] = (await index.addManyAsync(['一条消息'])).ids;
  for (const [call, form] of [
    [() => index.add('文'), 'addManyAsync'],
    [() => index.addMany(['文']), 'addManyAsync'],
    [() => index.checkAndAdd('文'), 'checkAndAddManyAsync'],
    [() => index.checkAndAddMany(['文']), 'checkAndAddManyAsync'],
    [() => index.delete(id as number), 'deleteAsync'],
    [() => index.expire(1), 'expireAsync'],
  ] as const) {
    const refused = { code: 'ERR_SIMHASH_ASYNC_ONLY', message: expect.stringContaining(form) };
    expect(call).toThrow(expect.objectContaining(refused));
  }
  expect([index.size, index.has(id as number), index.search('一条消息').length]).toEqual([
    1,
    true,
    1,
  ]);
  expect(await index.expireAsync(Date.now() + 1000)).toBe(1);
  await index.close();
  expect(() => Index.openSync(at('commit'))).toThrow(
    expect.objectContaining({ code: 'ERR_SIMHASH_ASYNC_ONLY' }),
  );
});

test('what waits for the end of a batch takes no thread of the pool from other indexes', async () => {
  const index = await Index.open(at('waiting'), { durability: 'none' });
  const other = new Index();
  other.add(passage(1));
  let isOver = false;
  const many = Array.from({ length: 20_000 }, (_, row) => passage(row));
  const batch = index.checkAndAddManyAsync(many, { position: 1 }).finally(() => {
    isOver = true;
  });
  while (index.size === 0) await new Promise((done) => setImmediate(done));
  // As many of each as the pool has threads.
  const waiting = Array.from({ length: availableParallelism() }, (_, n) => [
    index.compact(),
    index.snapshot(at(`waiting-${n}`)),
  ]);
  const found = await other.searchManyAsync([passage(1)]);
  expect(found.get(0)).toMatchObject([{ id: 0 }]);
  expect(isOver).toBe(false);
  await Promise.all([batch, ...waiting.flat()]);
  await index.close();
});

test('a position is kept with its batch, and never falls', async () => {
  const index = await Index.open(at('position'));
  expect(index.position).toBeUndefined();
  index.addMany(['一'], { position: 0 });
  await index.checkAndAddManyAsync(['二', '三'], { position: 41 });
  await expect(index.addManyAsync(['四'], { position: 40 })).rejects.toMatchObject({
    name: 'RangeError',
    code: 'ERR_OUT_OF_RANGE',
    message: expect.stringContaining('was 41 before'),
  });
  expect([index.position, index.size]).toEqual([41, 3]);
  await index.close();
  const again = await Index.open(at('position'));
  expect(again.position).toBe(41);
  await again.close();
});

/** A process that adds numbered texts and prints each number when its addition was acknowledged. */
function adding(path: string, first: number, durability: string): ChildProcess {
  const code = `(async () => {
    const { Index } = require(${JSON.stringify(join(__dirname, '..'))});
    const index = await Index.open(${JSON.stringify(path)}, { durability: '${durability}', keys: true });
    for (let number = ${first}; ; number++) {
      const text = '第' + number + '号文本里有这样一句足够长的话，' + number * 7919 + '。';
      const keys = [String(number), String(number)];
      await index.addManyAsync(number % 3 === 0 ? [text, text] : [text], { keys: number % 3 === 0 ? keys : keys.slice(1), position: number });
      require('node:fs').writeSync(1, number + '\\n');
      if (number % 40 === 7) index.compact();
    }
  })();`;
  return spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
}

test.each(['commit', 'interval', 'none'] as const)(
  "what was acknowledged with durability '%s' survives kill -9",
  async (durability) => {
    const path = at(`killed-${durability}`);
    let next = 0;
    for (let round = 0; round < 4; round++) {
      const child = adding(path, next, durability);
      let printed = '';
      child.stdout?.setEncoding('utf8').on('data', (part: string) => {
        printed += part;
        // At a different moment each time, in the middle of whatever it is doing.
        if (printed.split('\n').length > 5 + round * 23) child.kill('SIGKILL');
      });
      await once(child, 'close');
      const numbers = printed.split('\n').slice(0, -1).map(Number);
      const index = await Index.open(path, { keys: true });
      const position = index.position as number;
      expect(position).toBeGreaterThanOrEqual(numbers.at(-1) as number);
      // A batch is there as a whole or not at all.
      const size = Array.from({ length: position + 1 }, (_, n) => (n % 3 === 0 ? 2 : 1));
      expect(index.size).toBe(size.reduce((sum: number, count) => sum + count, 0));
      for (let n = 0; n <= position; n++) {
        const id = index.idOf(String(n)) as number;
        const text = `第${n}号文本里有这样一句足够长的话，${n * 7919}。`;
        expect(
          index.search(text).map((match) => match.id),
          `text ${n}`,
        ).toContain(id);
      }
      next = position + 1;
      await index.close();
    }
  },
);

test('truncated, flipped, missing and foreign files are refused by name', async () => {
  const sound = at('sound');
  const index = await Index.open(sound, { durability: 'none' });
  for (let number = 0; number < 9; number++) index.add(passage(number));
  await index.close();
  const files = ['MANIFEST', 'checkpoint-0000000001', 'log-0000000001'];
  expect(readdirSync(sound).sort()).toEqual(['LOCK', ...files]);
  const damaged = at('damaged');
  const refused = async (name: string, change: (bytes: Buffer) => Uint8Array | undefined) => {
    rmSync(damaged, { recursive: true, force: true });
    cpSync(sound, damaged, { recursive: true });
    const changed = change(readFileSync(join(sound, name)));
    if (changed === undefined) rmSync(join(damaged, name));
    else writeFileSync(join(damaged, name), changed);
    const error = await Index.open(damaged).catch((error: unknown) => error);
    expect(error, name).toMatchObject({ name: 'SimHashError' });
    expect((error as Error).message).toContain(join(damaged, name));
    return (error as { code: string }).code;
  };
  for (const name of files) {
    expect(await refused(name, () => undefined)).toBe('ERR_SIMHASH_INPUT');
    for (const foreign of ['', 'text', '{"id": 1}\n'.repeat(999)])
      expect(await refused(name, () => Buffer.from(foreign))).toBe('ERR_SIMHASH_INDEX_DAMAGED');
    for (let step = 0; step < 12; step++) {
      const code = await refused(name, (bytes) => {
        const place = Math.floor((bytes.length * step) / 12);
        bytes[place] = (bytes[place] as number) ^ (1 << (step & 7));
        return bytes;
      });
      expect(code, `${name}, ${step}`).toMatch(/^ERR_SIMHASH_INDEX_/);
    }
  }
});

test('other options, another index, files and missing folders are refused by name', async () => {
  const made = { method: 'sentences', sentences: 4, minLength: 12, hash: 'md5' } as const;
  const path = at('made');
  await (await Index.open(path, { ...made, window: { maxAge: 9 } })).close();
  const refused = async (options: object, ...parts: string[]) => {
    const error = await Index.open(path, options).catch((error: unknown) => error);
    expect(error).toMatchObject({ code: 'ERR_SIMHASH_INDEX_MISMATCH' });
    for (const part of [path, ...parts]) expect((error as Error).message).toContain(part);
  };
  await refused({ method: 'minhash' }, 'method');
  await refused({ ...made, hash: 'xxh3' }, 'hash (md5)', '(xxh3)');
  await refused({ ...made, minLength: 10 }, 'minLength (12)', '(10)');
  await refused({ ...made, normalize: false }, 'normalize (nfkc', 'nothing');
  await refused({ groups: true }, 'groups (false)', '(true)');
  await refused({ ...made, sentences: 5 }, '4', '5');
  await refused({ ...made, window: {} }, 'maxAge 9', 'maxAge any');
  await refused({ ...made, keys: true }, 'keys');
  await expect(Index.open(at('no/such/folder'))).rejects.toMatchObject({
    code: 'ERR_SIMHASH_OUTPUT',
    message: expect.stringContaining(`there is no folder ${at('no/such')}; make it first`),
  });
  await expect(Index.open(at('none'), { create: false })).rejects.toMatchObject({
    code: 'ERR_SIMHASH_INPUT',
    message: expect.stringContaining(at('none')),
  });
  mkdirSync(at('others'));
  writeFileSync(at('others/notes.txt'), 'notes');
  await expect(Index.open(at('others'))).rejects.toMatchObject({
    message: expect.stringContaining('notes.txt'),
  });
  expect(readdirSync(at('others'))).toEqual(['notes.txt']);
  const index = new Index();
  index.add('一条消息');
  await index.save(at('saved'));
  expect((await Index.open(at('saved'))).size).toBe(1);
  await expect(Index.open(at('saved'), { durability: 'commit' })).rejects.toMatchObject({
    code: 'ERR_INVALID_ARG_VALUE',
    message: expect.stringContaining('durability is for the folder of an index'),
  });
});

test("what is not given is the index's own, in a folder and in a file", async () => {
  const text =
    '今天的天气非常好，我们一起去公园散步，孩子们都很开心。下午回家的时候下起了雨，没有人带伞。';
  const other =
    '昨天股市大涨，成交量创下今年以来的新高。专家提醒投资者注意风险，不要盲目追高买入。';
  const chars = { features: 'chars', ngram: 3, normalize: { case: false } } as const;
  for (const [name, made] of Object.entries({
    minhash: { ...chars, method: 'minhash', seed: 7, scheme: 'permutations', signatures: true },
    simhash: { ...chars, method: 'simhash', maxDistance: 5 },
    sentences: { ...chars, method: 'sentences', minLength: 6, hash: 'md5', sentences: 3 },
    exact: { ...chars, method: 'exact' },
    groups: { ...chars, groups: true, minLength: 6 },
  } as Record<string, object>)) {
    const kept = at(`own ${name}`);
    const written = await Index.open(kept, made);
    const twin = new Index(made);
    const saved = at(`own ${name}.saved`);
    for (const index of [written, twin]) index.addMany([text, other]);
    await twin.save(saved);
    await written.close();
    for (const opened of [await Index.open(kept), await Index.open(saved), Index.openSync(saved)]) {
      const index = opened as Index<'sentences'>;
      expect(index.method).toBe(twin.method);
      expect(index.search(text)).toEqual(twin.search(text));
      if (name === 'groups') expect(index.similarId(text)).toBe(0);
      await index.close();
    }
    // What is given and the same is taken too.
    await (await Index.open(kept, made)).close();
  }
});

test('words that an index was made with are given again', async () => {
  const path = at('words');
  const dictionary = new Dictionary();
  dictionary.add('天气预报员');
  const made = { features: 'jieba', dictionary } as const;
  await (await Index.open(path, made)).close();
  await expect(Index.open(path)).rejects.toMatchObject({
    code: 'ERR_SIMHASH_INDEX_MISMATCH',
    message: expect.stringMatching(
      /saved with dictionary \(.+\) and is opened with \(none\); give the dictionary that it was made with/,
    ),
  });
  const opened = await Index.open(path, { dictionary });
  opened.add('天气预报员说明天有雨');
  await opened.close();
});

test('options of a folder are for opening, and go together', async () => {
  for (const [options, says] of [
    [{ durability: 'system' }, 'durability'],
    [{ durability: 'commit', flushInterval: 5 }, 'flushInterval must be left out'],
    [{ flushInterval: 0 }, 'flushInterval'],
    [{ readOnly: true, durability: 'none' }, 'readOnly'],
  ] as const)
    await expect(Index.open(at('refused'), options as object)).rejects.toThrow(says);
  // Only what simhash looks up can stay in its file; nobody is let believe that something else did.
  for (const method of ['minhash', 'sentences', 'exact'] as const)
    await expect(Index.open(at('refused'), { method, mmap: true })).rejects.toMatchObject({
      code: 'ERR_INVALID_ARG_VALUE',
      message: expect.stringContaining('mmap must be left out of an index of another method'),
    });
  for (const options of [{ durability: 'none' }, { create: false }, { readOnly: true }])
    expect(() => new Index(options as object)).toThrow('Index.open');
  expect(readdirSync(folder)).not.toContain('refused');
});

posixTest('files are for their owner only', async () => {
  const path = at('private');
  const index = await Index.open(path);
  index.add('一条消息');
  await index.compact();
  await index.close();
  expect(statSync(path).mode & 0o777).toBe(0o700);
  for (const name of readdirSync(path)) expect(statSync(join(path, name)).mode & 0o777).toBe(0o600);
});
