/** The state of a stream: it stops anywhere and goes on as if it never had. */
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { type Decision, DedupState, dedup, Index, openState, type StateOptions } from '..';
import { METHODS } from './indexes';

const scratch = mkdtempSync(join(tmpdir(), 'simhash-state-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
let folders = 0;
const folder = () => join(scratch, `${folders++}`);

let seed = 5;
const random = (bound: number) => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return (seed >>> 8) % bound;
};
const sentence = () =>
  `${Array.from({ length: 12 + random(9) }, () => String.fromCodePoint(0x4e00 + random(800))).join('')}。`;

interface Row {
  text?: string;
  id?: string | number;
}

/** Copies, near-duplicates, excerpts, texts of several lines, short, empty and missing ones; ids of both kinds. */
function corpus(count: number): Row[] {
  const texts: string[] = [];
  return Array.from({ length: count }, (_, row) => {
    const earlier = texts[random(row + 1)] ?? '';
    const kind = random(10);
    const id = [{ id: `文档 ${row}` }, { id: row * 1.5 }, {}][random(3)];
    if (kind === 9) return { ...id };
    let text = Array.from({ length: 2 + random(4) }, sentence).join('\n');
    if (kind === 0) text = ['好', '', '第3集', 'EP100'][random(4)] ?? '';
    else if (kind < 3) text = earlier;
    else if (kind < 5) text = `${earlier.slice(0, -2)}改。`;
    else if (kind === 5) text = `${earlier}\n${sentence()}`;
    texts.push(text);
    return { text, ...id };
  });
}

const rows = corpus(420);
const HOW = { text: 'text', key: 'id', onMissing: 'reject' } as const;

async function all<T>(source: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const one of source) found.push(one);
  return found;
}

const uninterrupted = (options: StateOptions) => all(dedup<Row>(rows, { ...HOW, ...options }));

/** One session: opens the state, goes on, stops after some decisions; what was given out. */
async function session(
  path: string,
  options: StateOptions,
  most: number,
): Promise<Decision<Row>[]> {
  await using state = await openState(path, options);
  const from = state.position;
  const found: Decision<Row>[] = [];
  const batch = 1 + random(60);
  const abort = new AbortController();
  const way = random(3);
  const loop = dedup<Row>(rows.slice(from), { ...HOW, state, batch, signal: abort.signal });
  const run = async () => {
    for await (const decision of loop) {
      found.push(decision);
      if (found.length < most) continue;
      if (way === 0) break;
      if (way === 1) throw new Error('the body of the loop');
      abort.abort();
    }
  };
  const end = await run().catch((error: Error) => error);
  if (found.length < most || way === 0) expect(end).toBeUndefined();
  else if (end !== undefined) expect(end.message).toMatch(/the body of the loop|aborted/);
  // An abort is seen when the next batch is due.
  expect(state.position).toBe(from + found.length);
  return found;
}

describe.each([
  ...METHODS.map((method) => ({ method })),
  { method: 'simhash', verify: false },
  { method: 'minhash', minSimilarity: 0 },
  { method: 'sentences', verify: false },
  { method: 'minhash', verify: 'containment', minSimilarity: 0.7 },
  { ngram: 3, normalize: 'web', maxVerifications: 5 },
] as StateOptions[])('%o', (options) => {
  test('a stream that stops anywhere decides as one that does not', async () => {
    const expected = await uninterrupted(options);
    expect(expected.filter(({ status }) => status === 'duplicate').length).toBeGreaterThan(20);
    expect(expected.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(10);
    for (let round = 0; round < 2; round++) {
      const path = folder();
      const found: Decision<Row>[] = [];
      for (let stop = 0; found.length < rows.length; stop++) {
        expect(stop).toBeLessThan(100);
        const some = await session(path, options, 1 + random(150));
        expect(some.map(({ index }) => index)).toEqual(some.map((_, row) => found.length + row));
        found.push(...some);
      }
      expect(found).toEqual(expected);
    }
  });
});

const summed = (decisions: readonly Decision<Row>[]) => {
  const count = (status: string) =>
    decisions.filter((decision) => decision.status === status).length;
  return { kept: count('kept'), duplicates: count('duplicate'), rejected: count('rejected') };
};

test('the summary is of the loop, and a loop on the same object goes on', async () => {
  const expected = await uninterrupted({});
  await using state = await openState(folder());
  const first = dedup<Row>(rows.slice(0, 200), { ...HOW, state });
  expect(await all(first)).toEqual(expected.slice(0, 200));
  expect(await first.summary).toMatchObject({ read: 200, ...summed(expected.slice(0, 200)) });
  const second = dedup<Row>(rows.slice(200), { ...HOW, state });
  expect(await all(second)).toEqual(expected.slice(200));
  expect(await second.summary).toMatchObject({ read: 220, ...summed(expected.slice(200)) });
  expect(state.position).toBe(420);
});

test('saveState writes what openState opens, and both go on', async () => {
  const expected = await uninterrupted({});
  const [path, copy] = [folder(), folder()];
  await using state = await openState(path, { durability: 'commit' });
  await all(dedup<Row>(rows.slice(0, 150), { ...HOW, state }));
  await state.saveState(copy);
  await using other = await openState(copy);
  expect(other.position).toBe(150);
  for (const one of [state, other]) {
    expect(await all(dedup<Row>(rows.slice(150), { ...HOW, state: one }))).toEqual(
      expected.slice(150),
    );
  }
  await expect(state.saveState(copy)).rejects.toThrow('it holds an index already');
});

test('bytes count as they were when they were read', async () => {
  const [path, size] = [folder(), 60];
  const texts = rows.slice(0, 60).map(({ text = '' }, row) => `${row}、${text}`.slice(0, 20));
  const buffer = Buffer.alloc(size);
  async function* source() {
    for (const text of texts) {
      // The owner fills the same bytes again and again.
      buffer.fill(' ').write(text);
      yield { text: buffer };
      await turn();
    }
  }
  {
    await using state = await openState(path, { method: 'exact' });
    for await (const { index } of dedup(source(), { state, batch: 1 })) {
      // So slow a reader that the source has gone on.
      if (index % 2 === 0) await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }
  const index = await Index.open(path, { readOnly: true });
  for (const [id, text] of texts.entries()) {
    expect(index.search(text).map((match) => match.id)).toContain(id);
  }
  await index.close();
});

describe('refused', () => {
  const mismatch = { name: 'SimHashError', code: 'ERR_SIMHASH_INDEX_MISMATCH' };
  const misuse = { code: 'ERR_INVALID_ARG_VALUE' };

  test('rules that decide at the end, and a method without an index, with the reason', async () => {
    for (const [options, reason] of [
      [{ keep: 'last' }, /keep must be left out: .*when the stream has ended/],
      [{ cluster: 'components' }, /cluster must be left out: .*as documents do/],
      [{ method: 'brute-force' }, /method must be another than 'brute-force': .*no index/],
    ] as const) {
      const path = folder();
      const refused = expect(openState(path, options as object)).rejects;
      await refused.toMatchObject({ ...misuse, message: expect.stringMatching(reason) });
      expect(existsSync(path)).toBe(false);
    }
  });

  test('options beside a state, and two loops at a time', async () => {
    await using state = await openState(folder());
    for (const given of [{ known: [] }, { method: 'minhash' }, { keep: 'first' }, { ngram: 3 }]) {
      const loop = dedup([], { state, ...given } as object);
      await expect(loop.next()).rejects.toMatchObject(misuse);
    }
    // @ts-expect-error: no state
    await expect(dedup([], { state: {} }).next()).rejects.toMatchObject({
      code: 'ERR_INVALID_ARG_TYPE',
      message: expect.stringContaining('openState'),
    });
    const loop = dedup(['甲乙丙丁', '戊己庚辛'], { state });
    await loop.next();
    await expect(dedup([], { state }).next()).rejects.toMatchObject(misuse);
    await loop.return(undefined as never);
    expect(state.position).toBe(1);
    expect(await all(dedup(['甲乙丙丁'], { state }))).toMatchObject([{ status: 'duplicate' }]);
    expect(() => new (DedupState as unknown as new () => DedupState)().position).toThrow();
  });

  test('other options than the state was made with, whichever they are', async () => {
    const path = folder();
    await (await openState(path, { minSimilarity: 0.7, bands: 20, rows: 4 })).close();
    const made = { minSimilarity: 0.7, bands: 20, rows: 4 };
    for (const options of [
      {},
      { ...made, minSimilarity: 0.8 },
      { ...made, bands: 10 },
      { ...made, ngram: 2 },
      { method: 'exact' },
    ]) {
      await expect(openState(path, options as object)).rejects.toMatchObject(mismatch);
    }
    // The default bands of this similarity are others: that is seen when the loop begins.
    await using state = await openState(path, { minSimilarity: 0.7 });
    await expect(dedup([], { state }).next()).rejects.toMatchObject({
      ...mismatch,
      message: expect.stringMatching(/^the state was made with other options: its (bands|rows) is/),
    });
  });

  test('an index of other documents, a folder in use, a closed state', async () => {
    const path = folder();
    const index = await Index.open(path, { keys: true, texts: { maxLength: 2 ** 24 } });
    index.add('不是一个流的状态');
    await index.close();
    await expect(openState(path)).rejects.toMatchObject({
      ...mismatch,
      message: expect.stringContaining('as the state of a stream'),
    });
    const own = folder();
    const state = await openState(own);
    await expect(openState(own)).rejects.toMatchObject({ code: 'ERR_SIMHASH_INDEX_LOCKED' });
    await state.close();
    await state.close();
    await expect(dedup([], { state }).next()).rejects.toMatchObject({ code: 'ERR_SIMHASH_CLOSED' });
    const open = await openState(own);
    const loop = dedup(['甲乙丙丁', '戊己庚辛'], { state: open, batch: 1 });
    await loop.next();
    await open.close();
    await expect(loop.next()).rejects.toMatchObject({ code: 'ERR_SIMHASH_CLOSED' });
    await expect(loop.summary).rejects.toMatchObject({ code: 'ERR_SIMHASH_CLOSED' });
    await expect(openState(folder(), { create: false })).rejects.toMatchObject({
      code: 'ERR_SIMHASH_INPUT',
    });
  });

  test('a text that cannot be stored', async () => {
    await using state = await openState(folder());
    await expect(all(dedup(['短', '长'.repeat(6_000_000)], { state, batch: 1 }))).rejects.toThrow(
      /docs\[1\] must have a text of at most 16777216 bytes/,
    );
    expect(state.position).toBe(1);
  });
});

test('the folder is an index of the documents', async () => {
  const path = folder();
  {
    await using state = await openState(path);
    await all(dedup<Row>(rows.slice(0, 50), { ...HOW, state }));
  }
  const index = await Index.open(path, { readOnly: true });
  const at = rows.findIndex(({ text }) => (text?.length ?? 0) > 30);
  expect(index.search(rows[at]?.text ?? '')[0]).toMatchObject({ id: at, similarity: 1 });
  await index.close();
});

/** Goes on with a state, telling each decision, until it is killed. */
const PROGRAM = `
const { dedup, openState } = require(process.argv[1]);
const rows = JSON.parse(process.argv[3]);
(async () => {
  const state = await openState(process.argv[2], { durability: 'none' });
  const how = { text: 'text', key: 'id', onMissing: 'reject', batch: 7 };
  for await (const { doc, ...decision } of dedup(rows.slice(state.position), { ...how, state })) {
    require('node:fs').writeSync(1, JSON.stringify(decision) + '\\n');
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
})();
`;

test('after kill -9 the state is a prefix that was given out', async () => {
  const expected = (await uninterrupted({})).map(({ doc: _, ...decision }) => decision);
  const path = folder();
  const found: unknown[] = [];
  let kills = 0;
  for (let round = 0; round < 40 && found.length < rows.length; round++) {
    const main = join(__dirname, '..', 'dist', 'index.js');
    const child = spawn(process.execPath, ['-e', PROGRAM, main, path, JSON.stringify(rows)]);
    let out = '';
    const most = 1 + random(120);
    const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
    child.stdout.on('data', (bytes: Buffer) => {
      out += bytes;
      if (out.split('\n').length > most) child.kill('SIGKILL');
    });
    await ended;
    kills += Number(child.signalCode === 'SIGKILL');
    const from = found.length;
    const told = out
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
    // A copy: looking must not change it.
    const copy = folder();
    cpSync(path, copy, { recursive: true });
    const state = await openState(copy);
    const { position } = state;
    await state.close();
    expect(position).toBeGreaterThanOrEqual(from);
    // What was told and is not in it comes again.
    expect(position).toBeLessThanOrEqual(from + told.length);
    expect(told).toEqual(JSON.parse(JSON.stringify(expected.slice(from, from + told.length))));
    found.push(...told.slice(0, position - from));
  }
  expect(found).toHaveLength(rows.length);
  expect(kills).toBeGreaterThan(2);
}, 120_000);
