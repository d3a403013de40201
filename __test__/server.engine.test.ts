/** What is behind the routes, with an index that fails as it is told to. */
import { execFileSync, spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { type Checked, Index, SimHashError, type SimHashErrorCode } from '..';
import { Batcher } from '../ts/batcher';
import { timerOf } from '../ts/cli/duration';
import { sharedStateLine } from '../ts/cli/shared-state';
import { SimHashError as Inner } from '../ts/errors';
import { LocalEngine, type ServedIndex } from '../ts/server/local';
import { Problem, problemOf } from '../ts/server/problem';
import { ROUTES } from '../ts/server/routes';
import { conform } from '../ts/server/schema';
import { SharedEngine } from '../ts/server/shared';
import { comparing } from '../ts/server/token';
import { Folder } from './cli-run';

const HOW = { most: 100, underWay: 2, room: 1000, weight: 1e6 };

/** An index that answers with its texts' lengths as ids, or fails. */
class Failing implements ServedIndex {
  readonly batches: number[] = [];
  size = 0;
  fail: (texts: readonly string[]) => unknown = () => undefined;
  checkpointError: string | undefined;
  mergeFailed = false;

  async checkAndAddManyAsync(texts: readonly string[]): Promise<Checked[]> {
    this.batches.push(texts.length);
    const error = this.fail(texts);
    if (error !== undefined) throw error;
    return texts.map(({ length }) => ({ id: length }));
  }
  search() {
    return [];
  }
  async searchManyAsync() {
    return { get: () => [] };
  }
  idOf() {
    return undefined;
  }
  async deleteAsync() {
    return false;
  }
  stats() {
    const { checkpointError, mergeFailed } = this;
    const durable = { path: '/', logBytes: 0, ...(checkpointError && { checkpointError }) };
    return { live: 0, bytes: 0, mergeFailed, durable };
  }
  toJSON() {
    return { keys: true };
  }
  async close() {}
}

const failure = (code: SimHashErrorCode, done?: Checked[]) =>
  new Inner(code, 'no', (done && { done }) as never);

test('checks of one turn are one batch, and the next wait for it', async () => {
  const index = new Failing();
  const engine = new LocalEngine(index, { ...HOW, underWay: 1 });
  const all = Array.from({ length: 50 }, (_, n) => engine.check([{ text: 'x'.repeat(n) }]));
  const decided = await Promise.all(all);
  expect(index.batches).toEqual([50]);
  expect(decided.map(([one]) => (one as Checked).id)).toEqual(all.map((_, n) => n));
});

test('one of a batch that is refused is refused alone', async () => {
  const index = new Failing();
  const engine = new LocalEngine(index, HOW);
  index.fail = (texts) =>
    texts.includes('bad')
      ? Object.assign(new RangeError('at'), { code: 'ERR_OUT_OF_RANGE' })
      : undefined;
  const [a, b, c] = await Promise.all(['aa', 'bad', 'c'].map((text) => engine.check([{ text }])));
  expect([a, c]).toEqual([[{ id: 2 }], [{ id: 1 }]]);
  expect(problemOf(b?.[0])).toMatchObject({ status: 400 });
  // A key that is taken: those before it are decided, those behind it are asked again.
  index.fail = (texts) =>
    texts.includes('bad')
      ? failure(
          'ERR_SIMHASH_SAME_KEY',
          texts.slice(0, texts.indexOf('bad')).map(() => ({ id: 7 })),
        )
      : undefined;
  const decided = await engine.check(['a', 'bad', 'ccc'].map((text) => ({ text })));
  expect([decided[0], decided[2]]).toEqual([{ id: 7 }, { id: 3 }]);
  expect(problemOf(decided[1])).toMatchObject({ status: 409 });
});

test.each([
  ['ERR_SIMHASH_DISK_FULL', 507, ['disk-full']],
  ['ERR_SIMHASH_MEMORY', 507, []],
  ['ERR_SIMHASH_OUTPUT', 503, ['cannot-write']],
  ['ERR_SIMHASH_MERGE', 500, ['merge-failed']],
] as const)('%s is status %i, and readiness says %j', async (code, status, reasons) => {
  const index = new Failing();
  const engine = new LocalEngine(index, HOW);
  index.fail = () => failure(code);
  const decided = await engine.check([{ text: 'a' }, { text: 'b' }]);
  expect(decided.map((one) => problemOf(one).status)).toEqual([status, status]);
  expect(await engine.reasons()).toEqual(reasons);
  expect(await engine.search('x', { limit: 1 })).toEqual([]);
  if (code !== 'ERR_SIMHASH_DISK_FULL') return;
  index.fail = () => undefined;
  await engine.check([{ text: 'a' }]);
  expect(await engine.reasons()).toEqual([]);
});

test('a checkpoint that failed makes it unready', async () => {
  const index = new Failing();
  const engine = new LocalEngine(index, HOW);
  index.checkpointError = 'merging failed';
  expect(await engine.reasons()).toEqual(['checkpoint-failed']);
  // The reason may name files.
  expect(JSON.stringify(engine.stats())).not.toContain('merging failed');
});

test('a merge that failed makes it unready, though additions go on', async () => {
  const index = new Failing();
  const engine = new LocalEngine(index, HOW);
  expect(await engine.reasons()).toEqual([]);
  index.mergeFailed = true;
  expect(await engine.check([{ text: 'a' }])).toEqual([{ id: 1 }]);
  expect(await engine.reasons()).toEqual(['merge-failed']);
  // Who asked for a segment was told too; that is one reason.
  index.fail = () => failure('ERR_SIMHASH_MERGE');
  await engine.check([{ text: 'a' }]);
  expect(await engine.reasons()).toEqual(['merge-failed']);
});

test('batches hold no more than they may, and a group that does not fit is refused whole', async () => {
  const sizes: number[] = [];
  const decide = async (items: readonly number[]) => {
    sizes.push(items.length);
    return items.map((n) => -n);
  };
  const batcher = new Batcher<number, number>(decide, {
    most: 10,
    underWay: 1,
    room: 30,
    weight: 100,
  });
  const groups = [4, 4, 4, 12, 1].map((length) => Array.from({ length }, (_, n) => n + 1));
  const all = groups.map((group) => batcher.add(group, 1));
  await expect(batcher.add([1, 2, 3, 4, 5, 6], 1)).rejects.toMatchObject({
    code: 'ERR_SIMHASH_BUSY',
  });
  await expect(batcher.add([1], 97)).rejects.toMatchObject({ code: 'ERR_SIMHASH_BUSY' });
  expect(await Promise.all(all)).toEqual(groups.map((group) => group.map((n) => -n)));
  expect(sizes).toEqual([8, 4, 12, 1]);
  await batcher.idle();
  expect(batcher.items).toBe(0);
});

test('deletions take the room of documents, and are waited for', async () => {
  const index = new Failing();
  let end: (deleted: boolean) => void = () => {};
  const held = new Promise<boolean>((done) => {
    end = done;
  });
  index.deleteAsync = () => held;
  const engine = new LocalEngine(index, { ...HOW, room: 5 });
  const all = Array.from({ length: 5 }, (_, id) => engine.delete({ id }));
  await expect(engine.delete({ id: 9 })).rejects.toMatchObject({ code: 'ERR_SIMHASH_BUSY' });
  await expect(engine.check([{ text: 'x' }])).rejects.toMatchObject({ code: 'ERR_SIMHASH_BUSY' });
  let isClosed = false;
  const closed = engine.close().then(() => {
    isClosed = true;
  });
  await new Promise((done) => setImmediate(done));
  expect(isClosed).toBe(false);
  end(true);
  expect(await Promise.all(all)).toEqual([true, true, true, true, true]);
  await closed;
});

test('a token is compared whole', () => {
  const hasToken = comparing({ value: 'x'.repeat(20), isGenerated: false });
  expect(hasToken(`Bearer ${'x'.repeat(20)}`)).toBe(true);
  expect(hasToken(`bearer  ${'x'.repeat(20)} `)).toBe(true);
  for (const wrong of [undefined, '', 'Bearer', `Bearer ${'x'.repeat(19)}`, 'x'.repeat(20)]) {
    expect(hasToken(wrong)).toBe(false);
  }
});

test('what only concerns the server is not told to clients', () => {
  const inner = problemOf(new Error('/var/lib/secret'));
  expect(JSON.stringify(inner)).not.toContain('secret');
  expect(inner).toBeInstanceOf(Problem);
  const full = problemOf(failure('ERR_SIMHASH_DISK_FULL'));
  expect(full.message).toBe('the server has no room for another document; searches go on');
});

/** Whether a small file system can be mounted here. */
const mounts =
  process.platform === 'linux' &&
  spawnSync('unshare', ['--user', '--map-root-user', '--mount', 'true']).status === 0;
if (!mounts) console.warn('the test of a full disk is skipped: no file system can be mounted here');

test.skipIf(!mounts)(
  'a full disk refuses documents and answers searches, until there is room',
  () => {
    const folder = new Folder();
    const script = `
    const { Index } = require(process.argv[1]);
    const { LocalEngine } = require(process.argv[1] + '/dist/server/local.js');
    const fs = require('node:fs');
    const text = (n) => String.fromCodePoint(...Array.from({ length: 40 }, (_, at) => 0x4e00 + (n * 7919 + at * at * 31) % 20000));
    (async () => {
      const index = await Index.open('d/i', { keys: true, onSameKey: 'repeat' });
      const engine = new LocalEngine(index, { most: 100, underWay: 2, room: 1e6, weight: 1e9 });
      await engine.check([{ text: text(1), key: 'first' }]);
      // All the room that is left, but for what the log has reserved already.
      const { bavail, bsize } = fs.statfsSync('d');
      fs.writeFileSync('d/filler', Buffer.alloc(bavail * bsize));
      let failed;
      for (let n = 2; failed === undefined && n < 20000; n += 100) {
        const items = Array.from({ length: 100 }, (_, at) => ({ text: text(n + at), key: 'k' + (n + at) }));
        failed = (await engine.check(items)).find((one) => one instanceof Error);
      }
      const full = await engine.reasons();
      const found = (await engine.search(text(1), { limit: 5 })).length;
      fs.rmSync('d/filler');
      const room = await engine.reasons();
      const [again] = await engine.check([{ text: '另一段完全不同的文字，有房间了', key: 'later' }]);
      console.log(JSON.stringify({ code: failed && failed.code, full, found, room, again: again.id !== undefined }));
      await engine.close();
    })();`;
    const mount = `mkdir d && mount -t tmpfs -o size=4M none d && exec '${process.execPath}' -e "$0" "$1"`;
    const args = ['--user', '--map-root-user', '--mount', 'sh', '-c', mount, script];
    const root = `${__dirname}/..`;
    const said = execFileSync('unshare', [...args, root], { cwd: folder.path, encoding: 'utf8' });
    expect(JSON.parse(said)).toEqual({
      code: 'ERR_SIMHASH_DISK_FULL',
      full: ['disk-full'],
      found: 1,
      room: [],
      again: true,
    });
  },
);

test('the engine of a real index gives its numbers', async () => {
  const folder = new Folder();
  const index = await Index.open(folder.join('i'), { keys: true });
  const engine = new LocalEngine(index as unknown as ServedIndex, HOW);
  await engine.check([{ text: '甲', key: 'a' }]);
  expect(engine.gauges()).toMatchObject({ simhash_documents: 1, simhash_waiting_documents: 0 });
  expect(engine.stats()).not.toHaveProperty('durable.path');
  await engine.close();
  expect(() => index.size).toThrow(SimHashError);
});

test('a batch that is refused is halved until the item is found that is to blame', async () => {
  const index = new Failing();
  index.fail = (texts) =>
    texts.includes('bad')
      ? Object.assign(new RangeError('text must be good'), { code: 'ERR_OUT_OF_RANGE' })
      : undefined;
  const items = Array.from({ length: 64 }, (_, n) => ({ text: n === 37 ? 'bad' : 'x'.repeat(n) }));
  const decided = await new LocalEngine(index, HOW).check(items);
  expect(
    decided.map((one, n) => (one instanceof Error ? `${n} ${one.message}` : '')).join(''),
  ).toBe('37 text must be good');
  // 64 and twice for each halving.
  expect(index.batches).toHaveLength(13);

  const asked: number[] = [];
  const shared = {
    checkMany: async (texts: readonly string[]) => {
      asked.push(texts.length);
      const error = index.fail(texts);
      if (error !== undefined) throw error;
      return texts.map(({ length }) => ({ id: length }));
    },
  };
  const engine = new SharedEngine(shared as never, undefined, () => {});
  expect(await engine.check(items)).toEqual(decided);
  expect(asked).toHaveLength(13);
});

test('of a request of which no line was decided the status is that of what goes away by itself, if there is any', async () => {
  const route = ROUTES.find(({ path }) => path === '/v1/check-many');
  const asked = async (lines: readonly unknown[], answer: (text: string) => unknown) => {
    const check = async (items: readonly { text: string }[]) =>
      items.map(({ text }) => answer(text));
    const call = { engine: { takes: { keys: true, times: false }, check }, counted: () => {} };
    const { body } = (await route?.run(call as never, lines)) ?? { body: '' };
    return body
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  };
  const bad = new Problem(400, 'invalid', 'a line');
  const late = { text: 'x', at: 1 };
  for (const [code, status] of [
    ['ERR_SIMHASH_LOG_LOST', 503],
    ['ERR_SIMHASH_LOG_TIMEOUT', 504],
    ['ERR_SIMHASH_DISK_FULL', 507],
    ['ERR_SIMHASH_BUSY', 429],
  ] as const) {
    const answer = () => failure(code);
    const refused = await asked([bad, late, { text: 'a' }, { text: 'b' }], answer).catch(problemOf);
    expect(refused).toMatchObject({ status });
    // Where one is decided each has its own.
    const some = await asked([bad, { text: 'a' }, { text: 'b' }], (text) =>
      text === 'a' ? { id: 1 } : failure(code),
    );
    expect(some.map(({ id, error }) => id ?? error.code)).toEqual([
      'invalid',
      1,
      code === 'ERR_SIMHASH_BUSY' ? 'too-many' : code,
    ]);
  }
  const both = await asked([bad, late], () => ({ id: 1 })).catch(problemOf);
  expect(both).toMatchObject({ status: 400, message: 'a line' });
  const taken = () => failure('ERR_SIMHASH_SAME_KEY');
  const first = await asked([{ text: 'a' }, bad], taken).catch(problemOf);
  expect(first).toMatchObject({ status: 409 });
});

test('long texts are looked for beside the event loop, in a shared index, too', async () => {
  const asked: string[] = [];
  const index = {
    search: (text: string) => {
      asked.push(`here ${text.length}`);
      return [{ id: 1 }];
    },
    searchManyAsync: async ([text]: readonly string[]) => {
      asked.push(`beside ${text?.length}`);
      return { get: () => [{ id: 1 }] };
    },
    toJSON: () => ({ keys: true }),
  };
  const engines = [
    new LocalEngine(index as never, HOW),
    new SharedEngine(index as never, undefined, () => {}),
  ];
  for (const engine of engines) {
    for (const length of [10, 4096, 4097]) {
      expect(await engine.search('x'.repeat(length), { limit: 1 })).toEqual([{ id: 1 }]);
    }
  }
  const each = ['here 10', 'here 4096', 'beside 4097'];
  expect(asked).toEqual([...each, ...each]);
});

test('while an index takes the place of another its counts are left out', async () => {
  const shared = {
    ...{ state: 'catching-up', position: 7, behind: 3, waiting: 2 },
    stats: () => {
      throw new Inner('ERR_SIMHASH_CLOSED', 'no');
    },
  };
  const engine = new SharedEngine(shared as never, undefined, () => {});
  expect(engine.stats()).toEqual({ shared: { state: 'catching-up', position: 7, behind: 3 } });
  expect(engine.gauges()).toEqual({
    simhash_waiting_documents: 2,
    simhash_shared_position: 7,
    simhash_shared_behind: 3,
  });
});

test.each([
  ['full', undefined, undefined, ['disk-full']],
  ['broken', 'ERR_SIMHASH_LOG_GAP', undefined, ['log-broken']],
  ['broken', 'ERR_SIMHASH_OUTPUT', undefined, ['cannot-write']],
  ['broken', 'ERR_SIMHASH_MERGE', undefined, ['merge-failed']],
  ['ready', undefined, 'merging failed', ['checkpoint-failed']],
  ['ready', undefined, undefined, []],
])('a shared index that is %s (%s, %s) says %j', async (state, code, checkpointError, reasons) => {
  const error = code && failure(code as SimHashErrorCode);
  const durable = { path: '/', ...(checkpointError && { checkpointError }) };
  let mergeFailed = false;
  const shared = { state, error, stats: () => ({ live: 0, bytes: 0, mergeFailed, durable }) };
  const engine = new SharedEngine(shared as never, undefined, () => {});
  expect(await engine.reasons()).toEqual(reasons);
  mergeFailed = true;
  expect([...(await engine.reasons())].sort()).toEqual(
    [...new Set([...reasons, 'merge-failed'])].sort(),
  );
});

test.each([
  ['ready', undefined, /^shared window: ready: all entries/],
  ['catching-up', undefined, /^shared window: catching up with the log; checks are answered late$/],
  [
    'catching-up',
    new Inner('ERR_SIMHASH_LOG_GAP', 'entries 2 to 3 are missing'),
    /starting over from a snapshot .*\(ERR_SIMHASH_LOG_GAP: entries 2 to 3 are missing\)$/,
  ],
  [
    'lost',
    new Inner('ERR_SIMHASH_LOG_LOST', 'no redis://me:secret@h:1'),
    /lost the log; .*\(ERR_SIMHASH_LOG_LOST: no redis:\/\/h:1\)$/,
  ],
  ['full', new Inner('ERR_SIMHASH_DISK_FULL', 'no'), /the disk is full; checks are refused/],
  // What another error says may be a text.
  [
    'broken',
    new Error('一条消息'),
    /^shared window: stopped; checks are refused until this is [ a-z]*$/,
  ],
  ['closed', undefined, undefined],
] as const)('a shared window that is %s (%s) is told in a sentence', (state, error, line) => {
  const said = sharedStateLine(state, error);
  if (line === undefined) expect(said).toBe(undefined);
  else expect(said).toMatch(line);
});

test('one snapshot is not begun beside another', async () => {
  let [begun, end] = [0, () => {}];
  const shared = {
    state: 'ready',
    snapshot: () => {
      begun += 1;
      return new Promise<void>((done) => {
        end = done;
      });
    },
    close: async () => {},
  };
  const engine = new SharedEngine(shared as never, 1, () => {});
  const passed = async (times: number) => {
    for (let n = 0; n < times; n++) await new Promise((done) => setTimeout(done, 2));
  };
  await passed(20);
  expect(begun).toBe(1);
  end();
  while (begun < 2) await passed(1);
  await engine.close();
});

test('a key that is too long, or half of a pair, is refused without its value', () => {
  const { takes } = ROUTES.find(({ path }) => path === '/v1/check') ?? {};
  const body = (key: string) => () =>
    conform({ text: 'x', key }, takes?.schema as never, 'the body');
  body('文'.repeat(21_845))();
  expect(body('文'.repeat(21_846))).toThrow(/^key must be of at most 65536 bytes of UTF-8$/);
  expect(body('secret\ud800')).toThrow(/^key must be well-formed Unicode$/);
});

test('a length of time that becomes a timer is refused where no timer is so long', () => {
  expect(timerOf('24d', '--drain-time')).toBe(24 * 86_400_000);
  expect(() => timerOf('25d', '--drain-time')).toThrow(
    '--drain-time must be at most 2147483647 ms',
  );
});
