/** What a server may do while it is read: forget the cursor, or hold texts that are not UTF-8; and clients that are told of documents in another way. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BSON, type CommandSucceededEvent, type Db, MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dedupCollection, planCollection } from '../dist/connect/mongodb.js';
import { isIdExact, isUndecodable, reader } from '../ts/connect/mongodb/decoded';
import { Folder } from './cli-run';
import { content, filled } from './mongo-runs';
import { MongoServer, missing } from './mongo-server';
import { passage } from './passages';

const folder = mkdtempSync(join(tmpdir(), 'simhash-mongodb-read-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Stands in a text for bytes that are not UTF-8: FerretDB takes none. */
const [MARKER, REPLACED] = ['QQQQ', '\u{fffd}'];

describe('documents of bytes', () => {
  const read = reader(BSON);
  const bytesOf = (document: BSON.Document) => {
    const bytes = Buffer.from(BSON.serialize(document));
    for (let at = bytes.indexOf(MARKER); at >= 0; at = bytes.indexOf(MARKER)) {
      bytes.fill(0xff, at, at + MARKER.length);
    }
    return bytes;
  };

  test('that are not UTF-8 are told from those that have U+FFFD', () => {
    const genuine = read(bytesOf({ _id: `a ${REPLACED}`, text: `${REPLACED} b` }));
    expect([isUndecodable(genuine), isIdExact(genuine)]).toEqual([false, true]);
    const text = read(bytesOf({ _id: `a ${REPLACED}`, text: `${REPLACED} ${MARKER}` }));
    expect([isUndecodable(text), isIdExact(text)]).toEqual([true, true]);
    const id = read(bytesOf({ _id: { part: `a ${MARKER}` }, text: 'b' }));
    expect([isUndecodable(id), isIdExact(id)]).toEqual([true, false]);
  });

  test('keep their types, and damaged ones are an error', () => {
    const typed = { _id: new BSON.Int32(1), a: BSON.Long.fromNumber(2), b: new BSON.Double(3) };
    expect(read(bytesOf(typed))).toEqual(typed);
    expect(() => read(bytesOf(typed).subarray(0, -1))).toThrow(BSON.BSONError);
  });
});

describe.skipIf(missing !== undefined)(missing ?? 'MongoDB', () => {
  let server: MongoServer;
  let client: MongoClient;
  let db: Db;
  let proxy: Server;
  /** The address of a collection, whose marked texts come with other bytes. */
  const spoilt = (name: string) => {
    const { port } = proxy.address() as AddressInfo;
    return `mongodb://127.0.0.1:${port}/${name}?serverSelectionTimeoutMS=60000`;
  };

  beforeAll(async () => {
    server = await MongoServer.open();
    client = new MongoClient(server.uri, { monitorCommands: true });
    db = client.db('news');
    proxy = createServer((from) => {
      const to = connect(server.port, '127.0.0.1');
      from.pipe(to);
      to.on('data', (bytes) => {
        for (let at = bytes.indexOf(MARKER); at >= 0; at = bytes.indexOf(MARKER)) {
          bytes.fill(0xff, at, at + MARKER.length);
        }
        from.write(bytes);
      });
      for (const [one, other] of [
        [from, to],
        [to, from],
      ] as const) {
        one.on('error', () => {}).on('close', () => other.destroy());
      }
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
  }, 1_200_000);
  afterAll(async () => {
    await client?.close();
    proxy?.close();
    await server?.close();
  });

  test.each([{ tmp: folder }, { texts: false }])(
    'a cursor that the server forgets is opened again, with %j',
    async (options) => {
      const [name] = Object.keys(options);
      const source = await filled(db.collection(`forgotten.${name}`), 1000);
      const whole = db.collection(`whole.${name}`);
      await dedupCollection(source, whole, { ...options, batch: 50 });
      let answers = 0;
      let killed = 0;
      let forgotten: Promise<unknown> | undefined;
      const forget = ({ commandName, reply }: CommandSucceededEvent) => {
        const { ns, id } = (reply as { cursor?: { ns: string; id: unknown } }).cursor ?? {};
        if (ns !== source.namespace || !/^(find|getMore)$/.test(commandName)) return;
        answers += 1;
        if (answers !== 3 && answers !== 9) return;
        killed += 1;
        const collection = source.collectionName;
        forgotten = db.command({
          killCursors: collection,
          cursors: [BSON.Long.fromString(String(id))],
        });
      };
      client.on('commandSucceeded', forget);
      try {
        const target = db.collection(`target.${name}`);
        const summary = await dedupCollection(source, target, { ...options, batch: 50 });
        expect(summary.read).toBe(1000);
        expect(killed).toBe(2);
        await forgotten;
        // Those of one cursor alone are 21: it was opened again.
        expect(answers).toBeGreaterThan(21);
        expect(await content(target)).toEqual(await content(whole));
      } finally {
        client.off('commandSucceeded', forget);
      }
    },
  );

  test('a text that is not UTF-8 is rejected by its _id, and one that has U+FFFD is a text', async () => {
    const source = db.collection('bytes');
    await source.insertMany([
      { _id: 1 as never, text: passage(1) },
      { _id: 2 as never, text: `${passage(2)} ${MARKER}` },
      { _id: 3 as never, text: `${REPLACED} ${passage(3)}` },
      { _id: 4 as never, text: passage(1), other: MARKER },
    ]);
    for (const options of [{ tmp: folder }, { texts: false }]) {
      const target = db.collection(`bytes.${Object.keys(options)[0]}`);
      const summary = await dedupCollection(spoilt('news.bytes'), target, options);
      expect(summary).toMatchObject({ read: 4, kept: 2, duplicates: 1, rejected: 1 });
      const [first] = summary.firstRejected;
      expect(first?.reason).toBe('_id {"$numberInt":"2"}: field text has bytes that are not UTF-8');
      const kept = await target.findOne({ _id: 3 as never });
      expect(kept?.['text']).toBe(`${REPLACED} ${passage(3)}`);
    }
    expect(await planCollection(spoilt('news.bytes'), { tmp: folder })).toMatchObject({
      documents: 4,
    });
    const cli = new Folder();
    const { status, stderr } = await cli.run([
      ...['dedup', spoilt('news.bytes'), '-o', server.at('news.bytes.cli')],
    ]);
    expect(stderr).toContain('field text has bytes that are not UTF-8');
    expect(status).toBe(1);
  });

  test('an _id that is not UTF-8 ends the run: nobody can go on behind it', async () => {
    const source = db.collection('ids');
    await source.insertMany([{ _id: `a ${MARKER}` as never, text: passage(1) }]);
    for (const options of [{ tmp: folder }, { texts: false }]) {
      const target = db.collection(`ids.${Object.keys(options)[0]}`);
      const run = dedupCollection(spoilt('news.ids'), target, options);
      await expect(run).rejects.toMatchObject({ code: 'ERR_SIMHASH_INPUT' });
      await expect(run).rejects.toThrow('which has bytes that are not UTF-8');
    }
  });

  test.each([
    { raw: true },
    { promoteValues: false },
    { useBigInt64: true },
    { promoteLongs: false },
  ])('a client with %j gives the same counts', async (options) => {
    const other = new MongoClient(server.uri, options);
    try {
      const name = `client.${Object.keys(options)[0]}`;
      await filled(db.collection(name), 60);
      const source = other.db('news').collection(name);
      for (const filter of [undefined, { other: 'field' }]) {
        const target = other.db('news').collection(`${name}.${filter === undefined}`);
        const summary = await dedupCollection(source, target, { tmp: folder, filter });
        expect(summary.countAtEnd).toBe(summary.read);
        const pass = other.db('news').collection(`${name}.pass.${filter === undefined}`);
        const again = await dedupCollection(source, pass, { texts: false, filter });
        expect(again.countAtEnd).toBe(again.read);
        const { documents } = await planCollection(source, { filter, tmp: folder });
        expect(documents).toBe(summary.read);
      }
    } finally {
      await other.close();
    }
  });
});
