/** A run by fingerprints alone; what is under way at a time; and aborts, whatever the server does. */
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Collection, type Db, MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dedupCollection } from '../dist/connect/mongodb.js';
import { ahead, Overlap } from '../ts/connect/mongodb/overlap';
import { Folder } from './cli-run';
import { content, filled } from './mongo-runs';
import { MongoServer, missing } from './mongo-server';
import { stoppedAtEachBatch } from './mongo-stopped';
import { passage } from './passages';
import { posix } from './posix';
import { TcpProxy } from './tcp-proxy';

const posixTest = posix('signals that a process can handle');

const folder = mkdtempSync(join(tmpdir(), 'simhash-mongodb-pass-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('batches that overlap', () => {
  test('are so many at a time, and followed on in their order', async () => {
    const overlap = new Overlap(3);
    const [ends, followed]: [(() => void)[], number[]] = [[], []];
    const push = (number: number) =>
      overlap.push(
        () => new Promise<number>((resolve) => ends.push(() => resolve(number))),
        async (done) => {
          followed.push(done);
        },
      );
    for (const number of [0, 1, 2]) await push(number);
    const fourth = push(3);
    await sleep(20);
    expect(ends.length).toBe(3);
    // The last is done first, and waits for those before it.
    for (const end of ends.toReversed()) end();
    await fourth;
    ends.at(-1)?.();
    await overlap.end();
    expect(followed).toEqual([0, 1, 2, 3]);
  });

  test('end with the first failure, behind which nothing follows', async () => {
    const overlap = new Overlap(3);
    const followed: number[] = [];
    const follow = async (number: number) => {
      if (number === 1) throw new Error('the second');
      followed.push(number);
    };
    for (const number of [0, 1, 2]) await overlap.push(async () => number, follow);
    await overlap.settled();
    await expect(overlap.push(async () => 3, follow)).rejects.toThrow('the second');
    await expect(overlap.end()).rejects.toThrow('the second');
    expect(followed).toEqual([0]);
  });

  test('are fetched one ahead, and no more', async () => {
    let fetched = 0;
    const source = async function* () {
      for (; fetched < 10; ) yield ++fetched;
    };
    for await (const value of ahead(source())) {
      await sleep(1);
      expect(fetched).toBe(Math.min(10, value + 1));
      if (value === 5) break;
    }
    expect(fetched).toBe(6);
    const broken = async function* () {
      yield 1;
      throw new Error('broken');
    };
    const all = async () => {
      for await (const value of ahead(broken())) expect(value).toBe(1);
    };
    await expect(all()).rejects.toThrow('broken');
  });
});

describe('by fingerprints alone', () => {
  test.each([
    [{ method: 'minhash' }, 'method must be "simhash" beside texts: false'],
    [{ keep: 'longest' }, 'keep must be "first" beside texts: false'],
    [{ cluster: 'components' }, 'cluster must be "representative" beside texts: false'],
    [{ verify: 'jaccard' }, 'verify must be false beside texts: false'],
    [{ minSimilarity: 0.9 }, 'minSimilarity must be 0 beside texts: false'],
    [{ mark: true }, 'mark must be false beside texts: false'],
    [{ bands: 2, rows: 2 }, 'bands must be left out beside texts: false'],
    [{ tmp: '/tmp' }, 'tmp must be left out beside texts: false'],
  ])('%j is refused', async (options, message) => {
    const run = dedupCollection('mongodb://h/a.b', 'mongodb://h/a.c', {
      ...(options as object),
      texts: false,
    });
    await expect(run).rejects.toThrow(message);
    await expect(run).rejects.toMatchObject({ code: 'ERR_INVALID_ARG_VALUE' });
  });
});

/** What a run that has the texts says of a copy. */
const EQUAL = '"similarity":{"$numberInt":"1"},';

describe.skipIf(missing !== undefined)(missing ?? 'MongoDB', () => {
  let server: MongoServer;
  let client: MongoClient;
  let db: Db;

  beforeAll(async () => {
    server = await MongoServer.open();
    client = new MongoClient(server.uri, { monitorCommands: true });
    db = client.db('news');
    await filled(db.collection('a'), 3000);
  }, 1_200_000);
  afterAll(async () => {
    await client?.close();
    await server?.close();
  });

  test('decides as a run over files that verifies nothing, with known documents too', async () => {
    const source = db.collection('a');
    const known = await filled(db.collection('known'), 400);
    for (const given of [{}, { known, cutAfter: '第' }]) {
      const own = { ...given, maxDistance: 3 } as const;
      const places = Object.keys(given).length === 0 ? ['b', 'c'] : ['d', 'e'];
      const [files, pass] = places.map((name) => db.collection(name)) as [never, never];
      const before = readdirSync(tmpdir());
      const one = await dedupCollection(source, files, {
        ...{ ...own, method: 'simhash', verify: false, tmp: folder },
      });
      const other = await dedupCollection(source, pass, {
        ...{ ...own, texts: false, batch: 173 },
      });
      const of = (summary: typeof one) => {
        const { run, seconds, indexBytes, leftovers, bytes, ...rest } = summary;
        const { encodings, stopped, resumed, ...same } = rest;
        return same;
      };
      expect(of(other)).toEqual(of(one));
      expect(other.duplicates).toBeGreaterThan(100);
      expect(other.bytes).toBeGreaterThan(0);
      expect(readdirSync(tmpdir()).filter((name) => name.includes(other.run))).toEqual([]);
      expect(before.some((name) => name.includes(other.run))).toBe(false);
      for (const ending of ['', '.duplicates']) {
        const [a, b] = places.map((name) => db.collection(`${name}${ending}`)) as [never, never];
        // Whether two texts are equal fingerprints do not say.
        const equal = (await content(a)).map((one) => one.replace(EQUAL, ''));
        expect((await content(b)).map((one) => one.replace(EQUAL, ''))).toEqual(equal);
      }
      const again = await dedupCollection(source, pass, {
        ...{ ...own, texts: false },
      });
      expect(again).toEqual({ ...other, repeated: true });
    }
  });

  test('a batch that is hashed late is decided before those behind it', async () => {
    const source = db.collection('order');
    const huge = passage(3).repeat(20_000);
    const [one, other] = [passage(4), passage(5)];
    const texts = [huge, one, one, other, other];
    await source.insertMany(texts.map((text, at) => ({ _id: at as never, text })));
    const target = db.collection('order.unique');
    await dedupCollection(source, target, { texts: false, batch: 2 });
    const found = await db
      .collection('order.unique.duplicates')
      .find({}, { sort: { _id: 1 } })
      .toArray();
    expect(found.map(({ _id, duplicateOf }) => [_id, duplicateOf])).toEqual([
      [2, 1],
      [4, 3],
    ]);
  });

  test('a limit ends it, and fingerprints can be longs, or left out, when it goes on', async () => {
    const source = db.collection('a');
    for (const fingerprint of ['long', false] as const) {
      const target = db.collection(`limited.${fingerprint}`);
      const options = { texts: false, fingerprint, limit: 900, batch: 64 } as const;
      const whole = await dedupCollection(source, db.collection(`whole.${fingerprint}`), options);
      expect(whole).toMatchObject({ read: 900, countAtEnd: 3000 });
      const stopped = new AbortController();
      const first = dedupCollection(source, target, {
        ...{ ...options, signal: stopped.signal },
        onProgress: ({ documents }) => documents > 300 && stopped.abort(new Error('enough')),
      });
      await expect(first).rejects.toThrow('enough');
      const left = await target.countDocuments();
      expect(left).toBeGreaterThan(0);
      expect(left).toBeLessThan(whole.kept);
      const { run, seconds, indexBytes, ...summary } = await dedupCollection(
        source,
        target,
        options,
      );
      expect(whole).toMatchObject(summary);
      expect(await content(target)).toEqual(await content(db.collection(`whole.${fingerprint}`)));
    }
  });

  /** Until a number has not changed for a while. */
  const still = async (number: () => number) => {
    for (let before = -1; before !== number(); ) {
      before = number();
      await sleep(300);
    }
  };

  test.each([{ texts: false }, { tmp: folder }])(
    'while a target does not answer some batches are read and no more, and an abort does not wait for it: %j',
    async (options) => {
      const proxy = await TcpProxy.open(server.port);
      const slow = new MongoClient(`mongodb://127.0.0.1:${proxy.port}`, { monitorCommands: true });
      let [reads, inserts] = [0, 0];
      const count = ({ commandName }: { commandName: string }) => {
        if (commandName === 'getMore') reads += 1;
      };
      client.on('commandStarted', count);
      // The first answer to what is written is the last.
      slow.on('commandStarted', ({ commandName }) => {
        if (commandName === 'insert') inserts += 1;
        if (inserts === 2) proxy.silenceAll();
      });
      try {
        const stopped = new AbortController();
        const target = slow.db('news').collection(`slow.${Object.keys(options)[0]}`);
        const run = dedupCollection(db.collection('a'), target, {
          ...{ ...options, batch: 50, signal: stopped.signal },
        });
        run.catch(() => {});
        await still(() => inserts);
        await still(() => reads);
        // Two collections, three batches.
        expect(inserts).toBeGreaterThan(0);
        expect(inserts).toBeLessThanOrEqual(6);
        if ('texts' in options) {
          // Three that are written, one that waits for them, one that is fetched, and one on the way.
          expect(reads).toBeGreaterThan(2);
          expect(reads).toBeLessThanOrEqual(8);
        }
        stopped.abort(new Error('enough'));
        await expect(run).rejects.toThrow('enough');
      } finally {
        client.off('commandStarted', count);
        proxy.close();
        await slow.close();
      }
    },
  );

  test.each([{ texts: false }, { tmp: folder }])(
    'an abort does not wait for a source that does not answer: %j',
    async (options) => {
      const proxy = await TcpProxy.open(server.port);
      const address = `mongodb://127.0.0.1:${proxy.port}/news.a`;
      try {
        const stopped = new AbortController();
        let seen = 0;
        const target = db.collection(`silent.${Object.keys(options)[0]}`);
        const run = dedupCollection(address, target, {
          ...{ ...options, batch: 50, signal: stopped.signal },
          onProgress: () => {
            seen += 1;
            proxy.silenceAll();
          },
        });
        run.catch(() => {});
        while (seen === 0) await sleep(1);
        stopped.abort(new Error('enough'));
        await expect(run).rejects.toThrow('enough');
      } finally {
        proxy.close();
      }
    },
  );

  posixTest('Ctrl-C ends the command before a server that does not answer', async () => {
    const proxy = await TcpProxy.open(server.port);
    try {
      const [from, to] = ['news.a', 'news.ctrl'].map(
        (name) => `mongodb://127.0.0.1:${proxy.port}/${name}`,
      ) as [string, string];
      const child = new Folder().start(['dedup', from, '-o', to, '--no-texts']);
      const runs = db.collection('ctrl.runs');
      while ((await runs.countDocuments()) === 0 && child.exitCode === null) await sleep(5);
      proxy.silenceAll();
      const ended = once(child, 'exit');
      child.kill('SIGINT');
      expect((await ended)[0]).toBe(130);
    } finally {
      proxy.close();
    }
  });

  /** A run that was aborted after its first batch; the id that its documents have. */
  async function aborted(source: Collection, target: Collection, options: object) {
    const stopped = new AbortController();
    const run = dedupCollection(source, target, {
      ...{ ...options, texts: false, batch: 100, signal: stopped.signal },
      onProgress: () => stopped.abort(new Error('enough')),
    });
    await expect(run).rejects.toThrow('enough');
    const noted = await db.collection(`${target.collectionName}.runs`).findOne({});
    expect(noted?.['phase']).toBe('pass');
    return String(noted?.['run']);
  }

  test('stopped at any batch it takes back what is behind, of any type', async () => {
    // Ids of each type that there is here, and copies.
    const source = await filled(db.collection('stopped'), 40);
    expect(await stoppedAtEachBatch(client, source, 3)).toBe(10);
  });

  test('what comes late of a killed process is taken back', async () => {
    const [source, whole] = [db.collection('a'), db.collection('late.whole')];
    await dedupCollection(source, whole, { texts: false, batch: 100 });
    const target = db.collection('late');
    const run = await aborted(source, target, {});
    const last = await whole.find({}, { sort: { _id: -1 }, limit: 5 }).toArray();
    let late = 0;
    const slow = new Proxy(db, {
      get: (_, name) => {
        const value = Reflect.get(db, name);
        if (name !== 'collection') return typeof value === 'function' ? value.bind(db) : value;
        return (of: string, how: object) => {
          const collection = db.collection(of, how);
          if (of !== 'late') return collection;
          const deleteMany = collection.deleteMany.bind(collection);
          collection.deleteMany = async (...args) => {
            const done = await deleteMany(...args);
            // As a server does that was at work yet.
            if (++late === 3) await target.insertMany(last.map((one) => ({ ...one, run })));
            return done;
          };
          return collection;
        };
      },
    });
    const to = new Proxy(target, {
      get: (_, name) => {
        if (name === 'db') return slow;
        const value = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    await dedupCollection(source, to, { texts: false, batch: 100 });
    // It has looked twice.
    expect(late).toBe(6);
    expect(await content(target)).toEqual(await content(whole));
    const copies = (name: string) => content(db.collection(`${name}.duplicates`));
    expect(await copies('late')).toEqual(await copies('late.whole'));
  });

  test('what is known and written to knows nothing of what the run itself has kept', async () => {
    const source = db.collection('a');
    const summaries = [];
    for (const name of ['daily.whole', 'daily']) {
      const target = db.collection(name);
      await target.insertOne({ _id: 'known' as never, text: passage(5) });
      const options = { known: target, append: true } as const;
      if (name === 'daily') await aborted(source, target, options);
      const summary = await dedupCollection(source, target, {
        ...{ ...options, texts: false, batch: 100 },
      });
      const { run, seconds, indexBytes, ...rest } = summary;
      summaries.push(rest);
    }
    expect(summaries[1]).toEqual(summaries[0]);
    expect(summaries[0]?.known).toBe(1);
    const copies = (name: string) => content(db.collection(`${name}.duplicates`));
    expect(await copies('daily')).toEqual(await copies('daily.whole'));
  });

  test('a run between addresses that was aborted is free soon', async () => {
    const [source, target] = [server.at('news.a'), server.at('news.addressed')];
    const stopped = new AbortController();
    const how = { texts: false, batch: 100, lease: 600_000 } as const;
    const run = dedupCollection(source, target, {
      ...{ ...how, signal: stopped.signal },
      onProgress: () => stopped.abort(new Error('enough')),
    });
    await expect(run).rejects.toThrow('enough');
    // Far sooner than its lease ends, which would be an error.
    expect(await dedupCollection(source, target, how)).toMatchObject({ read: 3000 });
  });

  test('what comes again after an abort finds the run free', async () => {
    const source = db.collection('a');
    const target = db.collection('freed');
    for (let turn = 0; turn < 3; turn++) {
      const stopped = new AbortController();
      const run = dedupCollection(source, target, {
        ...{ texts: false, batch: 100, signal: stopped.signal },
        onProgress: () => stopped.abort(new Error(passage(turn))),
      });
      await expect(run).rejects.toThrow(passage(turn));
    }
    const summary = await dedupCollection(source, target, { texts: false, batch: 100 });
    expect(summary).toMatchObject({ read: 3000, repeated: false });
  });
});
