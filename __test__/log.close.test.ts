/** The end of a shared index: what was asked before is answered, a snapshot is finished, and nothing is left that nobody removes. */
import { existsSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { folderSnapshots, MemoryLog } from '../dist/connect/log.js';
import { Folder } from './cli-run';
import { textOf } from './served';
import { services } from './services';

const folder = new Folder();
const service = services(folder);

/** A promise, and what settles it. */
function held() {
  let done = () => {};
  const until = new Promise<void>((resolve) => {
    done = resolve;
  });
  return { until, done };
}

const fetchedIn = (name: string) =>
  readdirSync(folder.join(name)).filter((one) => one.startsWith('fetched-'));

const codeOf = ({ code }: { code: string }) => code;

test('answers what was asked before it, in the same moment or while a long text is being sketched', async () => {
  const log = new MemoryLog();
  const a = await service(log, 'asked', { method: 'simhash', verify: false, texts: false });
  await a.ready();
  const long = Array.from({ length: 300_000 }, (_, n) =>
    String.fromCharCode(0x4e00 + ((n * 7919) % 20_000)),
  ).join('');
  const sketched = a.check(long).catch(codeOf as never);
  await new Promise((done) => setImmediate(done));
  const same = a.check(textOf(1)).catch(codeOf as never);
  await a.close();
  expect(await Promise.all([sketched, same])).toEqual([
    { id: expect.any(Number) },
    { id: expect.any(Number) },
  ]);
});

test('waits for a snapshot; one that takes longer than it may says that the service was closed', async () => {
  const log = new MemoryLog();
  const store = folderSnapshots(folder.join('snapshots'));
  const [before, publishing] = [held(), held()];
  const snapshots = {
    ...store,
    publish: async (...about: Parameters<typeof store.publish>) => {
      publishing.done();
      await before.until;
      await store.publish(...about);
    },
  };
  const a = await service(log, 'waited', { snapshots });
  await a.check(textOf(1));
  const snapshot = a.snapshot();
  await publishing.until;
  const closing = a.close();
  await sleep(50);
  before.done();
  const { name } = await snapshot;
  await closing;
  expect((await store.list()).map((one) => one.name)).toEqual([name]);
  const later = held();
  const slow = {
    ...store,
    publish: () => later.until,
  };
  const b = await service(log, 'late', { snapshots: slow, timeout: 300 });
  await b.ready();
  const refused = b.snapshot().catch(codeOf);
  await b.close();
  later.done();
  expect(await refused).toBe('ERR_SIMHASH_CLOSED');
});

test('leaves nothing of a snapshot that was being fetched, also where that takes longer than it waits', async () => {
  const log = new MemoryLog();
  const store = folderSnapshots(folder.join('fetched-snapshots'));
  const a = await service(log, 'fetched-a', { snapshots: store });
  await a.check(textOf(1));
  await a.snapshot();
  for (const [name, timeout] of [
    ['fetched-b', 10_000],
    ['fetched-c', 200],
  ] as const) {
    const [begun, going, over] = [held(), held(), held()];
    const fetch = async (which: string, to: string) => {
      begun.done();
      await going.until;
      await store.fetch(which, to);
      expect(existsSync(to)).toBe(true);
      over.done();
    };
    const b = await service(log, name, { snapshots: { ...store, fetch }, timeout });
    await begun.until;
    const closing = b.close();
    if (timeout > 1000) setTimeout(going.done, 50);
    await closing;
    if (timeout > 1000) expect(fetchedIn(name)).toEqual([]);
    going.done();
    await over.until;
    while (fetchedIn(name).length > 0) await sleep(5);
  }
});
