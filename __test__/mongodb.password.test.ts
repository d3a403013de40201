/** A user and a password in addresses stand in nothing that a run prints, writes or stores. */
import { readFileSync } from 'node:fs';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Folder } from './cli-run';
import { filled } from './mongo-runs';
import { MongoServer, missing } from './mongo-server';

const folder = new Folder();

describe.skipIf(missing !== undefined)(missing ?? 'MongoDB', () => {
  let server: MongoServer;
  let client: MongoClient;
  /** The server of the tests believes everybody who gives a name in this way. */
  const at = (name: string) =>
    `${server.at(name).replace('//', '//me-myself:secret@')}&authMechanism=PLAIN`;

  beforeAll(async () => {
    server = await MongoServer.open();
    client = new MongoClient(server.uri);
    await filled(client.db('news').collection('a'), 100);
  }, 1_200_000);
  afterAll(async () => {
    await client?.close();
    await server?.close();
  });

  test.each([
    [['dedup', 'a', '-o', 'b', '--report', 'page.html'], 1],
    [['dedup', 'a', '-o', 'b', '--json'], 1],
    [['dedup', 'a', '-o', 'b', '--report', 'page.html'], 3],
    [['dedup', 'a', '-o', 'b', '--min-similarity', '0.9'], 3],
    [['dedup', 'a', '-o', 'a'], 2],
    [['dedup', 'a', '-o', 'c', '--no-texts', '--json'], 1],
    [['dedup', 'a', '-o', 'd', '--known', 'b'], 1],
    [['dedup', 'b.runs', '-o', 'b', '--append'], 2],
    [['plan', 'a', '--json'], 0],
    [['dedup', 'a', '--mark'], 1],
    [['unmark', 'a'], 0],
  ] as const)('%j', async (words, status) => {
    const args = words.map((word) => (/^[abcd](\.runs)?$/.test(word) ? at(`news.${word}`) : word));
    const end = await folder.run(args);
    expect(end).toMatchObject({ status });
    const db = client.db('news');
    const stored = (await db.listCollections().toArray()).map(({ name }) =>
      db.collection(name).find().toArray(),
    );
    const files = folder.names().map((name) => readFileSync(folder.join(name), 'utf8'));
    const all = JSON.stringify([end, await Promise.all(stored), files]);
    expect(all).toContain('127.0.0.1');
    expect(all).not.toMatch(/secret|me-myself/);
  });
});
