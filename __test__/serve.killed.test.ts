/** What was answered is there: after kill -9 under load, and after a server has been asked to end. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Index } from '..';
import { Folder } from './cli-run';
import { type Reply, Served, textOf } from './served';

/** `SIMHASH_KILLS=50 npx vitest run __test__/serve.killed.test.ts` kills more often. */
const ROUNDS = Number(process.env['SIMHASH_KILLS'] ?? 5);
const CALLERS = 16;

interface Answered {
  readonly text: string;
  readonly key: string;
  // biome-ignore lint/suspicious/noExplicitAny: what the server said
  readonly json: any;
}

/** Callers that ask one after the other, until the server is gone; every third text is one of before. */
async function load(served: Served, from: { next: number }, answered: Answered[]) {
  const one = async () => {
    for (;;) {
      const n = from.next++;
      const [text, key] = [textOf(n % 3 === 2 ? n - 2 : n), `k${n}`];
      let reply: Reply;
      try {
        reply = await served.post('/v1/check', { text, key });
      } catch {
        return;
      }
      // Of a server that is about to end.
      if (reply.status === 503 && reply.json.error.code === 'draining') return;
      if (reply.status !== 200) throw new Error(`${reply.status}: ${reply.text}`);
      answered.push({ text, key, json: reply.json });
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, one));
}

/** Asks for every key again: the answers have to be those that were given. */
async function expectAll(served: Served, answered: readonly Answered[]) {
  for (let at = 0; at < answered.length; at += 1000) {
    const asked = answered.slice(at, at + 1000);
    const again = await served.many(asked.map(({ text, key }) => ({ text, key })));
    const missing = again.filter(({ repeated }) => repeated !== true);
    expect(missing).toEqual([]);
    for (const [row, { json }] of asked.entries()) {
      const { id, duplicateOf } = again[row];
      expect({ id, duplicateOf }).toEqual({ id: json.id, duplicateOf: json.duplicateOf });
    }
  }
}

test(`nothing that was answered under commit is lost in ${ROUNDS} kills under load`, async () => {
  const folder = new Folder();
  const args = [folder.join('i'), '--durability', 'commit'];
  const [answered, from]: [Answered[], { next: number }] = [[], { next: 0 }];
  let seed = 7;
  for (let round = 0; round < ROUNDS; round++) {
    const served = await Served.open(args);
    await expectAll(served, answered);
    const before = answered.length;
    const loading = load(served, from, answered);
    while (answered.length === before) await sleep(5);
    seed = (seed * 48_271) % 2_147_483_647;
    await sleep(seed % 200);
    expect((await served.stop('SIGKILL')).signal).toBe('SIGKILL');
    await loading;
  }
  const served = await Served.open(args);
  await expectAll(served, answered);
  console.log(`${answered.length} answers before ${ROUNDS} kills, all of them there`);
  expect(answered.some(({ json }) => json.duplicateOf !== undefined)).toBe(true);
  await served.stop();
}, 600_000);

test('asked to end under load, it answers what it took, then ends, and the folder has all of it', async () => {
  const folder = new Folder();
  const served = await Served.open([folder.join('i'), '--durability', 'none']);
  const answered: Answered[] = [];
  const loading = load(served, { next: 0 }, answered);
  while (answered.length < 50) await sleep(5);
  const { status, stderr } = await served.stop();
  await loading;
  expect([status, stderr.includes('the disk has everything')]).toEqual([0, true]);
  const index = await Index.open(folder.join('i'));
  for (const { key, json } of answered) {
    if (json.duplicateOf === undefined) expect(index.idOf(key)).toBe(json.id);
  }
  await index.close();
});

test('the second signal ends it at once', async () => {
  const folder = new Folder();
  const served = await Served.open([folder.join('i')]);
  // A request whose body does not come keeps it from ending.
  const body = new ReadableStream({ start: (sink) => sink.enqueue(new TextEncoder().encode('{')) });
  const headers = { 'Content-Type': 'application/json' };
  const asking = served.ask('/v1/check', {
    method: 'POST',
    body,
    headers,
    duplex: 'half',
  } as never);
  asking.catch(() => {});
  // The connection of the request, and that of the question.
  const count = async () =>
    Number(/^simhash_connections (\d+)/m.exec((await served.get('/metrics')).text)?.[1]);
  while ((await count()) < 2) await sleep(5);
  served.child.kill('SIGTERM');
  // It has seen the first signal when it takes no more connections, or says so.
  const isEnding = () =>
    served.get('/ready').then(
      ({ status }) => status === 503,
      () => true,
    );
  while (!(await isEnding())) await sleep(5);
  served.child.kill('SIGTERM');
  expect((await served.end).status).toBe(143);
});
