/** Long texts of an index without texts travel as sketches, and are decided as an index alone decides on the texts. */
import { describe, expect, test } from 'vitest';
import { type Checked, Index } from '..';
import { MemoryLog } from '../dist/connect/log.js';
import { Folder } from './cli-run';
import { textOf } from './served';
import { services } from './services';

const folder = new Folder();
const named = services(folder);

let made = 0;
const service = (log: MemoryLog, options: object) => named(log, `s${++made}`, options);

/** A text of so many times 40 signs, of which some are others where there is a second number. */
function long(seed: number, times: number, other = 0): string {
  const parts = Array.from({ length: times }, (_, n) => textOf(seed * 1000 + n));
  for (let n = 0; n < other; n++) parts[(n * 7) % times] = textOf(900_000 + seed * 100 + n);
  return parts.join('');
}

/** Short and long ones, copies, near ones and far ones; long ones of one sign alone, which have no features to speak of. */
function texts(): string[] {
  const all: string[] = [];
  for (let seed = 1; seed <= 12; seed++) {
    const times = seed % 3 === 0 ? 2 : 60;
    all.push(long(seed, times), long(seed, times, 1), long(seed, times, times >> 1));
    if (seed % 4 === 0) all.push(long(seed - 1, 60), `${long(seed, times)}。`);
  }
  return [...all, '哈'.repeat(5000), '嘿'.repeat(5000), '哈'.repeat(5000), '', ' '.repeat(6000)];
}

/** The items of all entries. */
const itemsOf = (log: MemoryLog) =>
  log.entries.flatMap(({ entry }) => (JSON.parse(entry).items ?? []) as [unknown][]);

const BARE = [
  { method: 'simhash', texts: false, maxDistance: 3 },
  { method: 'simhash', verify: false },
  { method: 'minhash', texts: false },
  { minSimilarity: 0, bands: 10, rows: 5 },
  { verify: false, bands: 20, rows: 8, hashes: 160 },
  { texts: false, recall: 0.99, seed: 7, hashes: 200, features: 'words' },
];

describe.each(BARE)('an index of %j', (options) => {
  test('decides on sketches as one alone on texts, and so do the others', async () => {
    const log = new MemoryLog();
    const [a, b] = [await service(log, options), await service(log, options)];
    const alone = new Index({ ...options, keys: true, onSameKey: 'repeat' } as never);
    const all = texts();
    const keys = all.map((_, n) => `k${n}`);
    const expected = [...alone.checkAndAddMany(all, { keys } as never)];
    const got = await a.checkMany(all, { keys });
    expect(got).toEqual(expected);
    const again = (await b.checkMany(all, { keys })) as Checked[];
    expect(again.map(({ id, duplicateOf }) => [id, duplicateOf])).toEqual(
      (expected as Checked[]).map(({ id, duplicateOf }) => [id, duplicateOf]),
    );
    const items = itemsOf(log);
    const sketches = items.filter(([text]) => typeof text === 'object');
    expect(sketches.length).toBeGreaterThan(2 * 16);
    // No text of more than the stated length but those that have no sketch.
    const texted = items.filter(([text]) => Buffer.byteLength(JSON.stringify(text)) > 4200);
    expect(new Set(texted.map(([text]) => String(text).slice(0, 1)))).toEqual(
      new Set(['哈', '嘿', ' ']),
    );
    // Searches are of texts as ever.
    expect(b.search(all[1] ?? '')).not.toHaveLength(0);
    alone.close();
  });
});

test('a text of megabytes is taken where it can be sketched, and refused by name where it cannot', async () => {
  const log = new MemoryLog();
  const bare = await service(log, { method: 'simhash', texts: false });
  const text = long(3, 60_000);
  expect(Buffer.byteLength(text)).toBeGreaterThan(4 << 20);
  const first = (await bare.check(text, { key: '1' })) as Checked;
  expect(first.duplicateOf).toBe(undefined);
  expect(await bare.check(`${text}。`, { key: '2' })).toMatchObject({ duplicateOf: first.id });
  for (const { entry } of log.entries) expect(entry.length).toBeLessThan(1000);
  const verified = await service(new MemoryLog(), {});
  const reason = 'texts[0] must be of at most 785920 bytes as JSON with its key';
  await expect(verified.check(text)).rejects.toThrow(reason);
  await expect(bare.check('哈'.repeat(400_000))).rejects.toThrow(reason);
});

test.each([
  {},
  { texts: false, signatures: false },
  { method: 'exact' },
  { method: 'sentences', texts: false },
])('an index of %j has its texts in the log', async (options) => {
  const log = new MemoryLog();
  const a = await service(log, options);
  await a.check(long(1, 200), { key: 'k' });
  expect(itemsOf(log)).toEqual([[long(1, 200), 'k']]);
});

test.each([
  [{ print: '12' }],
  [{ print: 'Z'.repeat(16) }],
  [{ signature: 'AAA' }],
  [{ signature: '' }],
  [{}],
  [null],
  [7],
])('what is no sketch is no entry: %j', async (text) => {
  const log = new MemoryLog();
  const a = await service(log, { method: 'simhash', texts: false });
  await a.check('x');
  const last = JSON.parse(log.entries.at(-1)?.entry ?? '');
  await log.append(JSON.stringify({ ...last, id: 'y', items: [[text]] }));
  while (a.state !== 'broken') await new Promise((done) => setTimeout(done, 5));
  expect(a.error).toMatchObject({ code: 'ERR_SIMHASH_LOG_ENTRY' });
});

test('texts that are sketched wait too: what finds no room is refused before it is sketched', async () => {
  const shared = await service(new MemoryLog(), { texts: false, maxWaiting: 2 });
  await shared.ready();
  const answers = [1, 2].map((seed) => shared.check(long(seed, 60)));
  let refused: unknown;
  shared.check(long(3, 60)).catch((error) => {
    refused = error.code;
  });
  // No thread can have made a sketch as long as nothing but promises goes on.
  for (let turn = 0; turn < 20; turn++) await null;
  expect(refused).toBe('ERR_SIMHASH_BUSY');
  await Promise.all(answers);
  expect((await shared.check(long(3, 60))).duplicateOf).toBe(undefined);
});
