import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { Index, type SentencesIndexOptions } from '..';
import { passage, passages } from './passages';

const folder = mkdtempSync(join(tmpdir(), 'simhash-sentences-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string) => join(folder, name);
const texts = passages(600);

type Options = Omit<SentencesIndexOptions<false>, 'texts'>;
/** What opens the file of an index that answers with groups. */
const log = (options: Options = {}) =>
  ({ durability: 'commit', groups: true, ...options, texts: false }) as const;
const open = (path: string, options?: Options) => Index.open(path, log(options));
const openSync = (path: string, options?: Options) => Index.openSync(path, log(options));
const inMemory = (options: Options = {}) => new Index({ ...options, groups: true });

/** What opening rejects with; both ways to open must agree. */
async function refusal(path: string, options?: Options) {
  const rejected = await open(path, options).catch((error: unknown) => error);
  let thrown: unknown;
  try {
    openSync(path, options).close();
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toMatchObject({ ...(rejected as object), message: (rejected as Error).message });
  return rejected as Error;
}

test('an index opened again goes on as if it had stayed open', async () => {
  const stayed = inMemory({ window: { maxCount: 400 } });
  const options: Options = { window: { maxCount: 400 } };
  for (let part = 0; part < 4; part++) {
    const index = await open(at('again'), { ...options, durability: 'system' });
    const some = texts.slice(part * 150, part * 150 + 100);
    const times = { at: some.map((_, row) => part * 150 + row) };
    expect(index.similarIdMany(some, times)).toEqual(stayed.similarIdMany(some, times));
    expect([...(await index.checkAndAddManyAsync(texts, { at: part * 150 + 120 }))]).toEqual([
      ...stayed.checkAndAddMany(texts, { at: part * 150 + 120 }),
    ]);
    const newest = index.add(passage(part)) - 1;
    expect(stayed.add(passage(part)) - 1).toBe(newest);
    expect([index.delete(newest), stayed.delete(newest)]).toEqual([true, true]);
    if (part === 2) await index.compact();
    expect(index.stats().fileBytes).toBeGreaterThan(4096);
    index.close();
  }
  const index = openSync(at('again'), options);
  expect([...index.searchMany(texts)]).toEqual([...stayed.searchMany(texts)]);
  const { fileBytes, ...counts } = index.stats();
  expect(stayed.stats()).toMatchObject({ live: counts.live, groups: counts.groups });
  expect(statSync(at('again')).size).toBe(fileBytes);
  index.close();
});

test('a saved index opens with the same answers, replaces a file as a whole and leaves nothing beside it', async () => {
  const index = openSync(at('source'), { sentences: 3, durability: 'system' });
  index.addMany(texts);
  writeFileSync(at('saved'), 'something else');
  await index.save(at('saved'));
  const opened = await open(at('saved'), { sentences: 3 });
  expect([...opened.searchMany(texts)]).toEqual([...index.searchMany(texts)]);
  expect(opened.similarId(passage(1))).toBe(index.similarId(passage(1)));
  await expect(index.save(at('saved'))).rejects.toMatchObject({ code: 'ERR_SIMHASH_INDEX_LOCKED' });
  await opened.save(at('saved'));
  await opened.save(at('copy'));
  opened.close();
  expect(readFileSync(at('copy'))).toEqual(readFileSync(at('saved')));
  expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  const aborted = index.save(at('never'), { signal: AbortSignal.abort(new Error('enough')) });
  await expect(aborted).rejects.toThrowError('enough');
  await expect(index.save(at('no/such/folder'))).rejects.toMatchObject({
    code: 'ERR_SIMHASH_OUTPUT',
    message: `cannot write ${at('no/such/folder')}: there is no folder ${at('no/such')}; make it first`,
  });
  index.close();
});

test('truncated, flipped and foreign files are refused with file and offset', async () => {
  const index = openSync(at('sound'), { durability: 'system' });
  for (const text of texts.slice(0, 20)) index.add(text);
  index.close();
  const sound = readFileSync(at('sound'));
  const path = at('damaged');
  const refused = async (bytes: Uint8Array | string) => {
    writeFileSync(path, bytes);
    const error = await refusal(path);
    expect(error).toMatchObject({ name: 'SimHashError', code: 'ERR_SIMHASH_INDEX_DAMAGED' });
    expect(error.message).toContain(path);
    return Number(/damaged at byte (\d+)/.exec(error.message)?.[1]);
  };
  for (const foreign of ['', 'text', 'SIMHASH', '{"id": 1}\n'.repeat(999)]) {
    expect(await refused(foreign)).toBe(0);
    const { message } = await refusal(path);
    const what = 'not a saved index; name one, or a file that does not exist yet';
    expect(message).toContain(what);
  }
  expect(await refused(sound.subarray(0, 2000))).toBe(32);
  for (let step = 0; step < 60; step++) {
    const end = Math.floor((sound.length * step) / 60);
    expect(await refused(sound.subarray(0, end))).toBeLessThanOrEqual(end);
    const flipped = Buffer.from(sound);
    flipped[end] = (flipped[end] ?? 0) ^ (1 << (step & 7));
    expect(await refused(flipped)).toBeLessThanOrEqual(end + 8);
  }
  openSync(at('sound')).close();
});

test('other options, another index and a missing folder are refused by name', async () => {
  const made: Options = {
    sentences: 4,
    minLength: 12,
    hash: 'md5',
    common: { count: 7 },
    window: { maxAge: 9 },
  };
  const index = await open(at('made'), made);
  expect(await refusal(at('made'), made)).toMatchObject({ code: 'ERR_SIMHASH_INDEX_LOCKED' });
  index.close();
  const rest = { minLength: 12, hash: 'md5' } as const;
  const refused = async (options: Options, saved: string, given: string) => {
    const error = await refusal(at('made'), options);
    expect(error).toMatchObject({ code: 'ERR_SIMHASH_INDEX_MISMATCH' });
    for (const part of [at('made'), saved, given]) expect(error.message).toContain(part);
  };
  await refused({}, 'hash md5', 'hash xxh3');
  await refused({ ...rest, minLength: 10 }, 'minLength 12', 'minLength 10');
  await refused({ ...rest, normalize: false }, 'nfkc', 'nothing');
  await refused({ ...rest, sentences: 5 }, '4', '5');
  await refused({ ...rest, common: { count: 5 } }, '7', '5');
  await refused({ ...rest, common: false }, '0.001', '1');
  await refused({ ...rest, window: {} }, 'maxAge 9', 'maxAge any');
  openSync(at('made'), rest).close();
  expect(await refusal(at('no/such/folder'))).toMatchObject({
    code: 'ERR_SIMHASH_OUTPUT',
    message: expect.stringContaining(`there is no folder ${at('no/such')}; make it first`),
  });
  expect(await refusal(folder)).toMatchObject({ code: 'ERR_SIMHASH_INPUT' });
  const type = { name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' };
  await expect(open(5 as never)).rejects.toMatchObject(type);
});

/** A process that adds numbered texts and prints each number when its addition was acknowledged. */
function adding(path: string, first: number, durability: string): ChildProcess {
  const code = `
    const { Index } = require(${JSON.stringify(join(__dirname, '..'))});
    const index = Index.openSync(${JSON.stringify(path)}, { groups: true, texts: false, durability: '${durability}', window: {} });
    for (let number = ${first}; ; number++) {
      const text = '第' + number + '号文本里有这样一句足够长的话。';
      if (number % 3 === 0) index.addMany([text, text]); else index.similarId(text);
      require('node:fs').writeSync(1, number + '\\n');
    }`;
  return spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
}

test.each(['commit', 'system'])(
  "what was acknowledged with durability '%s' survives kill -9",
  async (durability) => {
    const path = at(`killed-${durability}`);
    let acknowledged = -1;
    for (let round = 0; round < 6; round++) {
      const child = adding(path, acknowledged + 1, durability);
      let printed = '';
      child.stdout?.setEncoding('utf8').on('data', (part: string) => {
        printed += part;
        // At a different moment each time, in the middle of whatever it is doing.
        if (printed.split('\n').length > 5 + round * 7) child.kill('SIGKILL');
      });
      await once(child, 'close');
      const numbers = printed.split('\n').slice(0, -1).map(Number);
      expect(numbers.length).toBeGreaterThan(0);
      expect(numbers[0]).toBe(acknowledged + 1);
      const index = openSync(path);
      const last = numbers.at(-1) ?? 0;
      let found = last;
      for (let number = 0; number <= last + 1; number++) {
        const text = `第${number}号文本里有这样一句足够长的话。`;
        const copies = index.search(text).length;
        if (number <= last) expect(copies, `text ${number}`).toBe(number % 3 === 0 ? 2 : 1);
        // The one under way is there as a whole or not at all.
        else if (copies > 0) {
          expect(copies).toBe(number % 3 === 0 ? 2 : 1);
          found = number;
        }
      }
      acknowledged = found;
      index.close();
    }
  },
);

test('without durability a file is read once, and such a file is not one of changes', async () => {
  const index = new Index({ groups: true });
  index.similarIdMany([passage(1, 2), passage(2, 3)]);
  await index.save(at('plain'));
  const opened = await Index.open(at('plain'), { groups: true });
  expect([opened.group(1), opened.similarId(passage(3))]).toEqual([0, 0]);
  expect(Index.openSync(at('plain'), { groups: true }).size).toBe(2);
  expect(await refusal(at('plain'))).toMatchObject({ code: 'ERR_SIMHASH_INDEX_MISMATCH' });
});

test('durability is for sentences without texts, keys and verification', async () => {
  for (const [options, code] of [
    [{ keys: true }, 'ERR_INVALID_ARG_VALUE'],
    [{ texts: true }, 'ERR_INVALID_ARG_VALUE'],
    [{ verify: 'auto' }, 'ERR_INVALID_ARG_VALUE'],
    [{ method: 'minhash' }, 'ERR_INVALID_ARG_VALUE'],
    [{ durability: 'never' }, 'ERR_INVALID_ARG_VALUE'],
  ] as const) {
    const given = { durability: 'commit', ...options } as unknown as SentencesIndexOptions;
    await expect(Index.open(at('refused'), given), code).rejects.toMatchObject({ code });
  }
});

test('an index in memory has no durability', () => {
  const given = { groups: true, texts: false, durability: 'commit' } as unknown as { groups: true };
  const refused = { code: 'ERR_INVALID_ARG_VALUE', message: expect.stringContaining('Index.open') };
  expect(() => new Index(given)).toThrow(expect.objectContaining(refused));
});
