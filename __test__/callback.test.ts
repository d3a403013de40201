/** Callbacks: what they throw comes out as it is, and no depth of them ends the process. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { dedup, dedupFiles, Index, tune } from '..';

const ARTICLE =
  '青禾市图书馆新馆昨日起试运行，新馆位于云浦大道东侧，地上五层，设有阅览座位，周一闭馆。';
const REPOST = `${ARTICLE}转`;

class Own extends Error {
  readonly code = 'ERR_OUT_OF_RANGE';
}

/** Whatever can be thrown. */
const things: Record<string, unknown> = {
  null: null,
  undefined: undefined,
  'a number': 5,
  NaN: Number.NaN,
  'a string': 'no',
  'a bigint': 7n,
  'a boolean': false,
  'a symbol': Symbol('mine'),
  'an object': { a: 1 },
  'a function': () => 1,
  'an error': new Error('mine'),
  'a frozen error': Object.freeze(new Error('mine')),
  'an error with a code of Node': Object.assign(new Error('mine'), { code: 'ERR_OUT_OF_RANGE' }),
  'an error with a code of ours': Object.assign(new Error('mine'), {
    code: 'ERR_SIMHASH_INTERNAL',
  }),
  'an error with a code of the addon': Object.assign(new Error('mine'), { code: 'InvalidArg' }),
  'an error of a class': new Own('mine'),
  'an error whose text throws': Object.assign(new Error('mine'), {
    toString() {
      throw new Error('not this one');
    },
  }),
  'an error that is its own cause': (() => {
    const error: Error & { cause?: unknown } = new Error('mine');
    error.cause = error;
    return error;
  })(),
  'a Proxy that answers nothing': new Proxy(
    {},
    {
      get() {
        throw new Error('not this one');
      },
      getPrototypeOf() {
        throw new Error('not this one');
      },
    },
  ),
  'a Proxy that was revoked': (() => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  })(),
};

/** What is thrown, in a box: a Proxy cannot be shown by a failing expectation. */
function thrownBy(call: () => unknown): { readonly thrown: unknown } | undefined {
  try {
    call();
  } catch (thrown) {
    return { thrown };
  }
  return undefined;
}

const rejectionOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (thrown: unknown) => ({ thrown }),
  );

function expectSame(caught: { readonly thrown: unknown } | undefined, thing: unknown): void {
  expect(caught !== undefined && Object.is(caught.thrown, thing)).toBe(true);
}

describe.each(Object.entries(things))('%s', (_name, thing) => {
  const throwing = () => {
    throw thing;
  };

  test('thrown by textOf ends the check, and nothing was added', () => {
    const index = new Index({ maxDistance: 16, texts: false, verify: 'jaccard' });
    index.add(ARTICLE);
    const check = () => index.checkAndAdd(REPOST, { textOf: throwing });
    expectSame(thrownBy(check), thing);
    // Through two checks, one inside the other, too.
    const outer = () => index.checkAndAdd(REPOST, { textOf: check as never });
    expectSame(thrownBy(outer), thing);
    expect(index.size).toBe(1);
    // The next check knows nothing of it.
    const next = index.checkAndAdd(REPOST, { textOf: () => ARTICLE });
    expect(next.duplicateOf).toBe(0);
  });

  test('thrown by onProgress ends clusters', async () => {
    const index = crowd();
    expectSame(await rejectionOf(index.clusters({ onProgress: throwing })), thing);
    expect(index.size).toBe(CROWD);
  });

  test('thrown by keep, by a source or by its next() ends dedup', async () => {
    const all = async (docs: Iterable<string> | AsyncIterable<string>, options = {}) => {
      for await (const _ of dedup(docs, options));
    };
    const copies = [ARTICLE, ARTICLE];
    expectSame(await rejectionOf(all(copies, { keep: throwing })), thing);
    const generated = async function* () {
      yield ARTICLE;
      throw thing;
    };
    expectSame(await rejectionOf(all(generated())), thing);
    const iterator = { next: throwing, return: () => expect.fail('it is at its end') };
    expectSame(await rejectionOf(all({ [Symbol.iterator]: () => iterator })), thing);
    expectSame(await rejectionOf(all({ [Symbol.asyncIterator]: () => iterator } as never)), thing);
    const rejecting = { ...iterator, next: () => Promise.reject(thing) };
    expectSame(await rejectionOf(all({ [Symbol.asyncIterator]: () => rejecting })), thing);
  });

  test('thrown by onTrial, or by the function that begins the corpus, ends tune', async () => {
    const options = { trials: [{}], onTrial: throwing };
    expectSame(await rejectionOf(tune([{ id: 'a', text: ARTICLE }], options)), thing);
    expectSame(await rejectionOf(tune(throwing)), thing);
  });

  test('thrown by onProgress ends dedupFiles', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'simhash-callback-'));
    try {
      const input = join(folder, 'in.jsonl');
      writeFileSync(input, `${JSON.stringify({ text: ARTICLE })}\n`.repeat(3000));
      const run = dedupFiles(input, undefined, { dryRun: true, onProgress: throwing });
      expectSame(await rejectionOf(run), thing);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

const CROWD = 30_000;

function crowd(): Index<'simhash', false> {
  const index = new Index({ maxDistance: 8, texts: false });
  index.addMany(BigUint64Array.from({ length: CROWD }, (_, row) => BigInt(row) * 0x9e3779b97f4an));
  return index;
}

test('onProgress is not called again once it has thrown, nor after the job', async () => {
  const index = crowd();
  let calls = 0;
  const throwing = () => {
    calls++;
    throw new Error('mine');
  };
  await expect(index.clusters({ onProgress: throwing })).rejects.toThrow('mine');
  let ended = false;
  const told: number[] = [];
  await index.clusters({
    onProgress: (done) => {
      expect(ended).toBe(false);
      told.push(done);
    },
  });
  ended = true;
  await new Promise((turn) => setTimeout(turn, 20));
  expect(calls).toBe(1);
  expect(told.length).toBeGreaterThan(0);
});

describe('depth', () => {
  /** Checks inside each other, as deep as `deep`; the result is how many were begun, and what came out. */
  function nested(deep: number): { begun: number; outcome: unknown } {
    const index = new Index({ maxDistance: 16, texts: false, verify: 'jaccard' });
    index.add(ARTICLE);
    let begun = 0;
    const check = (): unknown => {
      begun++;
      const textOf = () => {
        if (begun < deep) check();
        return ARTICLE;
      };
      return index.checkAndAdd(REPOST, { textOf });
    };
    const outcome = thrownBy(check) ?? 'done';
    expect(index.size).toBe(1);
    return { begun, outcome };
  }

  test('sixteen checks fit inside each other, the seventeenth is refused with a RangeError', () => {
    expect(nested(16)).toEqual({ begun: 16, outcome: 'done' });
    const error = expect.objectContaining({ name: 'RangeError', code: 'ERR_OUT_OF_RANGE' });
    expect(nested(17)).toEqual({ begun: 17, outcome: { thrown: error } });
    expect(nested(100_000)).toEqual({ begun: 17, outcome: { thrown: error } });
    expect(nested(16)).toEqual({ begun: 16, outcome: 'done' });
  });

  /** A program of its own: on 0.1.0 it ends by a signal. */
  function program(body: string): { status: number | null; stdout: string } {
    const source = `
      const { Index, Fingerprinter } = require(${JSON.stringify(join(__dirname, '..'))});
      const ARTICLE = ${JSON.stringify(ARTICLE)};
      const index = new Index({ maxDistance: 16, texts: false, verify: 'jaccard' });
      index.add(ARTICLE);
      ${body}`;
    const { status, stdout } = spawnSync(process.execPath, ['-e', source], { encoding: 'utf8' });
    return { status, stdout };
  }

  test('a callback that checks again without end, uncaught, is an exception', () => {
    const { status, stdout } = program(`
      const check = () => index.checkAndAdd(ARTICLE + '转', { textOf: check });
      try { check(); } catch (error) { console.log(error.name, error.code, index.size); }`);
    expect([status, stdout]).toEqual([0, 'RangeError ERR_OUT_OF_RANGE 1\n']);
  });

  test('a check at any depth of the stack, its end too, throws or answers', () => {
    const { status, stdout } = program(`
      const answers = new Set();
      let left = 3000;
      const calls = [
        () => index.checkAndAdd(ARTICLE + '转', { textOf: () => ARTICLE }).duplicateOf,
        () => index.checkAndAdd(ARTICLE + '转', { textOf() { throw null; } }),
        () => index.search(ARTICLE).length,
        () => new Fingerprinter({ ngram: 0 }),
      ];
      const dive = () => {
        try { dive(); } catch {}
        if (left-- <= 0) return;
        try { answers.add(calls[left % 4]()); } catch (error) { answers.add(error?.name ?? error); }
      };
      dive();
      console.log([...answers].map(String).sort().join(' '));`);
    expect([status, stdout]).toEqual([0, '0 1 RangeError null\n']);
  });
});
