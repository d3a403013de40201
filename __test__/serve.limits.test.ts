/** What a server does not take: too much, too slow, too many at once. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { Folder } from './cli-run';
import { Served, TOKEN, textOf } from './served';

const folder = new Folder();
let served: Served;
beforeAll(async () => {
  const limits = '--max-body 64K --max-line 4K --max-queue 50 --max-results 3 --request-time 2s';
  served = await Served.open([folder.join('i'), ...limits.split(' '), '--max-connections', '40']);
});

/** A connection of its own, and everything that comes back over it. */
async function connected(): Promise<{ socket: Socket; all: Promise<string> }> {
  const socket = connect(Number(new URL(served.url).port), '127.0.0.1');
  await once(socket, 'connect');
  socket.on('error', () => {});
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  // Not `once`, which fails where the other end resets the connection.
  return { socket, all: new Promise((done) => socket.on('close', () => done(text))) };
}

const HEAD = `Host: localhost\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\n`;

test('a document that is too long is status 413, and what is asked next is answered', async () => {
  const { status, json } = await served.post('/v1/check', { text: 'x'.repeat(5000) });
  expect([status, json.error.code]).toEqual([413, 'too-large']);
  const [long, short] = await served.many([{ text: 'x'.repeat(5000) }, { text: textOf(1) }]);
  expect(long.error).toEqual({ code: 'too-large', message: 'line 1 is longer than 4096 bytes' });
  expect(short.id).toBe(0);
});

test('a body that is too long is refused by what it says, and by what comes', async () => {
  expect((await served.lines('x'.repeat(65_537))).status).toBe(413);
  const { socket, all } = await connected();
  socket.write(`POST /v1/check-many HTTP/1.1\r\n${HEAD}Transfer-Encoding: chunked\r\n\r\n`);
  const send = () => socket.write(`1000\r\n${'x'.repeat(4096)}\r\n`);
  const answered = once(socket, 'data');
  for (let sent = 0; sent < 20; sent++) send();
  await answered;
  // Whoever goes on all the same is cut off.
  for (let sent = 0; sent < 10_000 && !socket.destroyed; sent++) {
    send();
    await sleep(1);
  }
  expect(await all).toMatch(/^HTTP\/1\.1 413 /);
});

test('a head and a body that do not come are ended, and others are answered meanwhile', async () => {
  const slow = [await connected(), await connected(), await connected()];
  slow[0]?.socket.write('GET /health HTTP/1.1\r\nHost: loc');
  slow[1]?.socket.write(`POST /v1/check HTTP/1.1\r\n${HEAD}Content-Length: 20\r\n\r\n{"te`);
  const texts = slow.map(({ all }) => all);
  expect((await served.get('/v1/stats')).status).toBe(200);
  expect(await texts[0]).toMatch(/^HTTP\/1\.1 408 /);
  expect(await texts[1]).toMatch(/^HTTP\/1\.1 (408|400) /);
  slow[2]?.socket.destroy();
});

test('a client that does not take its answer is ended, one that is slow to ask is not', async () => {
  const common = served;
  const own = new Folder();
  const limits = '--request-time 2s --max-queue 100000 --method exact';
  served = await Served.open([own.join('i'), ...limits.split(' ')]);
  const connections = async () => {
    const { text } = await served.get('/metrics');
    return Number(/^simhash_connections (\d+)$/m.exec(text)?.[1]);
  };
  const others = await connections();
  const { socket, all } = await connected();
  socket.pause();
  // Its answer, an error for each line but one, is more than the buffers of both ends hold.
  const body = `${'x\n'.repeat(99_999)}{"text":"x"}`;
  const head = `${HEAD.replace('json', 'x-ndjson')}Content-Length: ${body.length}\r\n`;
  socket.write(`POST /v1/check-many HTTP/1.1\r\n${head}\r\n${body}`);
  while ((await served.get('/v1/stats')).json.live < 1) await sleep(10);
  expect(await connections()).toBe(others + 1);
  const idle = await connected();
  idle.socket.write(`GET /health HTTP/1.1\r\n${HEAD}\r\n`);
  while ((await connections()) > others + 1) await sleep(50);
  socket.resume();
  const text = await all;
  expect(text).toMatch(/^HTTP\/1\.1 200 /);
  const said = Number(/Content-Length: (\d+)/.exec(text)?.[1]);
  expect(text.length).toBeLessThan(said);
  // It has taken its answer, and asks again later than that.
  idle.socket.write(`GET /health HTTP/1.1\r\nConnection: close\r\n${HEAD}\r\n`);
  expect((await idle.all).match(/HTTP\/1\.1 200 /g)).toHaveLength(2);
  await served.stop();
  served = common;
});

test('what is no HTTP is refused, and the server lives', async () => {
  const { socket, all } = await connected();
  socket.write('\u0016\u0003\u0001 hello\r\n\r\n');
  expect(await all).toMatch(/^HTTP\/1\.1 400 /);
  const giant = await connected();
  giant.socket.write(
    `GET /health HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`,
  );
  expect(await giant.all).toMatch(/^HTTP\/1\.1 431 /);
  expect((await served.get('/health')).status).toBe(200);
});

test('more lines than may wait are status 413; more documents than may wait, 429 with Retry-After', async () => {
  const items = (from: number, count: number) =>
    Array.from({ length: count }, (_, n) => JSON.stringify({ text: textOf(from + n) })).join('\n');
  expect((await served.lines(items(0, 51))).status).toBe(413);
  const all = await Promise.all(
    Array.from({ length: 30 }, (_, n) => served.lines(items(1000 + 40 * n, 40))),
  );
  const refused = all.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThan(0);
  expect(all.filter(({ status }) => status === 200).length).toBe(30 - refused.length);
  for (const { headers, json } of refused) {
    expect([headers.get('retry-after'), json.error.code]).toEqual(['1', 'too-many']);
  }
  // What was refused was not added.
  const { live } = (await served.get('/v1/stats')).json;
  expect(live).toBe(1 + 40 * (30 - refused.length));
});

test('no search has more matches than the server allows', async () => {
  const copies = Array.from({ length: 5 }, (_, n) => ({ text: `${textOf(9)}${'。'.repeat(n)}` }));
  const own = new Folder();
  const loose = await Served.open([own.join('i'), '--verify', 'off', '--max-results', '3']);
  await loose.many(copies);
  const { json } = await loose.post('/v1/search', { text: textOf(9), limit: 100 });
  expect(json.matches.length).toBeLessThanOrEqual(3);
  await loose.stop();
});

test('connections beyond the most are ended', async () => {
  // Its own, with time enough for requests: none of those that are held may end by itself.
  const common = served;
  const own = new Folder();
  served = await Served.open([own.join('i'), '--max-connections', '40', '--request-time', '10m']);
  const held = await Promise.all(Array.from({ length: 40 }, () => connected()));
  const { socket, all } = await connected();
  socket.write('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n');
  expect(await all).toBe('');
  for (const { socket } of held) socket.destroy();
  // Until the server has seen that they are gone it ends what comes.
  let text = '';
  while (text === '')
    text = await served.get('/metrics').then(
      ({ text }) => text,
      () => '',
    );
  expect(text).toMatch(/^simhash_connections_refused_total [1-9]/m);
  await served.stop();
  served = common;
});
