/** Who may work on a run: a lease that is held elsewhere, by a process of the same number, and one that is lost while it writes. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BSON, type Collection, type Db, MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { dedupCollection } from '../dist/connect/mongodb.js';
import { here, mayBeAlive } from '../ts/connect/mongodb/lease';
import { Run, type RunDocument } from '../ts/connect/mongodb/run';
import { Collections, Marks } from '../ts/connect/mongodb/sink';
import { filled, started } from './mongo-runs';
import { MongoServer, missing } from './mongo-server';

const folder = mkdtempSync(join(tmpdir(), 'simhash-mongodb-lease-'));
afterAll(() => rmSync(folder, { recursive: true }));

const { EJSON } = BSON;
/** No process has so large a number. */
const NOBODY = 2 ** 31 - 1;

describe('a process that holds a lease', () => {
  const linux = process.platform === 'linux';

  test.runIf(linux)('is gone where its number means something here, and nobody has it', () => {
    expect(here()).toMatchObject({ host: hostname(), pid: process.pid, place: expect.any(String) });
    expect(mayBeAlive(here())).toBe(true);
    expect(mayBeAlive({ ...here(), pid: NOBODY })).toBe(false);
    // Of another user.
    expect(mayBeAlive({ ...here(), pid: 1 })).toBe(true);
  });

  test.each([
    ['of another start of the machine', { place: '00000000-0000-0000-0000-000000000000 pid:[1]' }],
    ['of another namespace', { place: `${here().place} pid:[1]` }],
    ['of which nobody knows where it is', { place: undefined as never }],
  ])('%s may be at work, whatever its number', (_, elsewhere) => {
    for (const pid of [NOBODY, process.pid, 1]) {
      expect(mayBeAlive({ ...here(), ...elsewhere, pid })).toBe(true);
    }
  });
});

test('nothing is sent when the lease was lost while fingerprints were made', async () => {
  const sent: string[] = [];
  const stub = {
    insertMany: async () => sent.push('insert'),
    bulkWrite: async () => sent.push('bulk'),
  };
  const lost = async () => {
    throw new Error('lost');
  };
  const both = [stub, stub] as unknown as [Collection, Collection];
  const decided = [
    { id: 1, text: 'a' },
    { id: 2, text: 'b', duplicate: { of: 1, known: false } },
  ];
  await expect(new Collections(both, 'run', lost, EJSON).write(decided)).rejects.toThrow('lost');
  await expect(new Marks(both[0], 'dedup', 'run', lost, EJSON).write(decided)).rejects.toThrow(
    'lost',
  );
  expect(sent).toEqual([]);
});

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

  test('a lease of a container that is gone is waited for, and one of here is not', async () => {
    const [source, target] = [db.collection('a'), db.collection('b')];
    const options = { tmp: folder, batch: 100, lease: 600_000 };
    const killed = started(server.at('news.a'), server.at('news.b'), options);
    const ended = once(killed.child, 'exit');
    expect(await killed.reached('write', 100)).toBe(true);
    killed.child.kill('SIGKILL');
    await ended;
    const runs = db.collection('b.runs');
    const [run] = await runs.find().toArray();
    expect(run?.lease).toMatchObject({ pid: killed.child.pid, host: hostname() });
    // The same host, the same numbers, and another namespace of processes.
    const elsewhere = `${run?.lease.place} elsewhere`;
    for (const pid of [NOBODY, process.pid]) {
      await runs.updateOne({}, { $set: { 'lease.place': elsewhere, 'lease.pid': pid } });
      const refused = dedupCollection(source, target, options);
      await expect(refused).rejects.toMatchObject({ code: 'ERR_SIMHASH_RUN_LOCKED' });
      await expect(refused).rejects.toThrow(`in process ${pid} on ${hostname()}`);
    }
    // When it has ended it is anybody's.
    await runs.updateOne({}, { $set: { 'lease.until': new Date(Date.now() - 1) } });
    expect(await dedupCollection(source, target, options)).toMatchObject({ read: 3000 });
  });

  test('what is noted at the same time is all noted', async () => {
    const runs = db.collection<RunDocument>('noted.runs');
    // As a server does that reads a document, changes it and writes it, while others do the same.
    const updateOne = async (filter: object, { $set }: { $set: Partial<RunDocument> }) => {
      const found = await runs.findOne(filter);
      if (found === null) return { matchedCount: 0 };
      await sleep(5);
      const { 'lease.until': until, ...set } = $set as Partial<RunDocument> & {
        'lease.until'?: Date;
      };
      const lease = until === undefined ? {} : { lease: { ...found.lease, until } };
      await runs.replaceOne({ _id: found._id }, { ...found, ...lease, ...set } as RunDocument);
      return { matchedCount: 1 };
    };
    const slow = new Proxy(runs, {
      get: (_, name) => {
        if (name === 'updateOne') return updateOne;
        const value = Reflect.get(runs, name);
        return typeof value === 'function' ? value.bind(runs) : value;
      },
    });
    // It is renewed meanwhile, too.
    const run = await Run.take(slow, 'name', 'recipe', 60);
    const changes = { position: 1, offset: 2, countAtEnd: 3, unmarked: 4, seconds: 5, lastId: 'x' };
    const each = Object.entries(changes).map(([name, value]) => run.note({ [name]: value }));
    await Promise.all(each);
    await run.note({ phase: 'done' });
    await run.release();
    const found = await runs.findOne({ _id: 'name' });
    expect(found).toMatchObject({ ...changes, phase: 'done', lease: { until: null } });
  });

  test('leases are by the clock of the server, not of who asks', async () => {
    const runs = db.collection('c.runs') as unknown as Collection<RunDocument>;
    const first = await Run.take(runs, 'name', 'recipe', 30_000);
    const now = Date.now;
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + 3_600_000);
    try {
      const second = Run.take(runs, 'name', 'recipe', 30_000);
      await expect(second).rejects.toMatchObject({ code: 'ERR_SIMHASH_RUN_LOCKED' });
    } finally {
      clock.mockRestore();
      await first.release();
    }
    const late = vi.spyOn(Date, 'now').mockImplementation(() => now() - 3_600_000);
    try {
      const third = await Run.take(runs, 'name', 'recipe', 30_000);
      const found = await runs.findOne({ _id: 'name' });
      expect(found?.lease.until?.getTime()).toBeGreaterThan(now() + 20_000);
      await third.release();
    } finally {
      late.mockRestore();
    }
  });

  test.each([
    ['documents', { tmp: folder }],
    ['fingerprints', { texts: false }],
    ['marks', { tmp: folder, mark: true }],
  ] as const)('a writer that lost its lease writes no more: %s', async (name, options) => {
    const isMark = 'mark' in options;
    const source = isMark ? await filled(db.collection('marked'), 1200) : db.collection('a');
    const place = isMark ? 'marked' : `lost.${name}`;
    const runs = client.db('news').collection(`${place}.runs`);
    const events: string[] = [];
    const sent = new Map<number, string>();
    const begun = (event: { commandName: string; requestId: number; command: object }) => {
      const { [event.commandName]: collection } = event.command as Record<string, unknown>;
      const isOurs = ['insert', 'update'].includes(event.commandName);
      if (!isOurs || !String(collection).startsWith(place)) return;
      const isRun = collection === `${place}.runs`;
      if (!isRun) events.push('write');
      else if (event.commandName === 'update') sent.set(event.requestId, 'run');
    };
    const answered = ({ requestId, reply }: { requestId: number; reply: unknown }) => {
      if (!sent.delete(requestId)) return;
      events.push((reply as { n: number }).n === 0 ? 'lost' : 'held');
    };
    client.on('commandStarted', begun).on('commandSucceeded', answered);
    // Another process, over another connection. Again and again: this server does not change a document in one step, as MongoDB does.
    const other = new MongoClient(server.uri);
    const elsewhere = other.db('news').collection(`${place}.runs`);
    let [taken, isOver]: [Promise<unknown> | undefined, boolean] = [undefined, false];
    const take = async () => {
      while (!isOver) await elsewhere.updateOne({}, { $inc: { 'lease.epoch': 1 } });
    };
    const run = dedupCollection(source, isMark ? undefined : db.collection(place), {
      ...{ ...options, batch: 30 },
      onProgress: ({ stage }) => {
        if (stage !== 'write') return;
        taken ??= take();
      },
    });
    await expect(run).rejects.toMatchObject({ code: 'ERR_SIMHASH_RUN_LOCKED' });
    await expect(run).rejects.toThrow('taken over by another process');
    isOver = true;
    await taken;
    client.off('commandStarted', begun).off('commandSucceeded', answered);
    await other.close();
    // It had begun to write, was told, and sent nothing from then on.
    const told = events.indexOf('lost');
    expect(events.indexOf('write')).toBeGreaterThanOrEqual(0);
    expect(told).toBeGreaterThan(events.indexOf('write'));
    expect(events.slice(told)).toEqual(['lost']);
    // What it had sent before is not in the checkpoint, and so the next one takes it back.
    const { position = 0, counts } = (await runs.findOne()) ?? {};
    expect(counts?.read ?? position).toBeLessThan(1200);
  });
});
