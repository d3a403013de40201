/** New releases and other options on one log: services of equal recipes take turns, those of another begin their own. */
import { afterEach, describe, expect, test } from 'vitest';
import type { Checked } from '..';
import { MemoryLog, SharedIndex } from '../dist/connect/log.js';
import { Folder } from './cli-run';
import { textOf } from './served';

type Shared = SharedIndex<never>;

const folder = new Folder();
const open = new Set<Shared>();
afterEach(async () => {
  for (const one of open) await one.close().catch(() => {});
  open.clear();
});

async function service(log: MemoryLog, name: string, options: object = {}): Promise<Shared> {
  const all = { durability: 'none', ...options };
  const shared = await SharedIndex.open<never>(folder.join(name), log, all as never);
  open.add(shared);
  return shared;
}

const codeOf = (one: Shared) => (one.error as { code?: string } | undefined)?.code;

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((done) => setTimeout(done, 5));
}

describe('services of one recipe', () => {
  test('are replaced one after the other while checks go on, and no answer changes', async () => {
    const log = new MemoryLog();
    const snapshots = folder.join('rolling-snapshots');
    const names = ['x', 'y', 'z'];
    // What a new release may do otherwise: all that is the service's own.
    const [old, next] = [
      { snapshots, threads: 1 },
      {
        snapshots,
        threads: 2,
        timeout: 20_000,
        maxEntry: 100_000,
        maxBehind: 10,
        keepSnapshots: 1,
      },
    ];
    const running = await Promise.all(names.map((name) => service(log, name, old)));
    await Promise.all(running.map((one) => one.ready()));
    const answers = new Map<string, Checked>();
    let [isOver, asked] = [false, 0];
    // Three clients, each of which asks whoever runs, and again with the same key where a service stops.
    const client = async (name: string) => {
      while (!isOver) {
        const n = asked++;
        for (let turn = n; ; turn++) {
          const one = running[turn % running.length] as Shared;
          try {
            const key = `${name}${n}`;
            answers.set(key, (await one.check(textOf(n % 500), { key })) as Checked);
            break;
          } catch (error) {
            expect(error).toMatchObject({ code: 'ERR_SIMHASH_CLOSED' });
            await new Promise((done) => setTimeout(done, 1));
          }
        }
      }
    };
    const clients = names.map(client);
    for (const [at, name] of names.entries()) {
      await until(() => asked > (at + 1) * 300);
      const [before] = [running[at] as Shared];
      await before.close();
      open.delete(before);
      const after = await service(log, name, next);
      await after.ready();
      running[at] = after;
      await after.snapshot();
    }
    await until(() => asked > 1500);
    isOver = true;
    await Promise.all(clients);
    // One of each text is kept, and all tell each answer again.
    const kept = [...answers].filter(([, { duplicateOf }]) => duplicateOf === undefined);
    expect(new Set(kept.map(([, { id }]) => id)).size).toBe(500);
    expect(kept).toHaveLength(500);
    for (const one of running) {
      const keys = [...answers.keys()];
      const texts = keys.map((key) => textOf(Number(key.slice(1)) % 500));
      const again = await one.checkMany(texts, { keys });
      const first = keys.map((key) => answers.get(key) as Checked);
      const same = ({ id, duplicateOf }: Checked) => [id, duplicateOf];
      expect(again.map((checked) => same(checked as Checked))).toEqual(first.map(same));
      expect(again.every((checked) => (checked as Checked).repeated === true)).toBe(true);
    }
  });
});

describe('services of another recipe', () => {
  const [old, next] = [{ recipe: 'words of May' }, { recipe: 'words of June' }];

  test('stop themselves on a log of the old one, whose services go on', async () => {
    const log = new MemoryLog();
    const a = await service(log, 'goes-on', old);
    await a.check(textOf(1), { key: 'k1' });
    const entries = log.entries.length;
    const b = await service(log, 'stops', next);
    await until(() => b.state === 'broken');
    expect(codeOf(b)).toBe('ERR_SIMHASH_LOG_RECIPE');
    await expect(b.check(textOf(2))).rejects.toMatchObject({ code: 'ERR_SIMHASH_LOG_RECIPE' });
    expect(log.entries.length).toBe(entries);
    expect((await a.check(textOf(3))).duplicateOf).toBe(undefined);
    // Its folder is of no log; the folder of the old one is refused.
    await a.close();
    await expect(service(log, 'goes-on', next)).rejects.toMatchObject({
      code: 'ERR_SIMHASH_LOG_RECIPE',
    });
  });

  test('take over without a text that is kept twice, where both logs are asked for a window', async () => {
    let now = 1_700_000_000_000;
    const clock = () => now;
    const [hour, window] = [3_600_000, { maxAge: 2 * 3_600_000 }];
    const [before, after] = [new MemoryLog(clock), new MemoryLog(clock)];
    const a = await service(before, 'May', { ...old, window });
    const kept: string[] = [];
    const decided = (checked: unknown, text: string) => {
      if ((checked as Checked).duplicateOf === undefined) kept.push(text);
    };
    const texts = (from: number, count: number) =>
      Array.from({ length: count }, (_, n) => textOf(from + n));
    for (const text of texts(0, 20)) decided(await a.check(text), text);
    // The new log begins. For the length of the window the old one answers, and the new one takes in.
    const b = await service(after, 'June', { ...next, window });
    for (let step = 0; step < 2; step++) {
      now += hour - 1;
      for (const text of texts(step * 10, 30)) {
        const [checked] = await Promise.all([a.check(text), b.check(text)]);
        decided(checked, text);
      }
    }
    now += 2;
    // All that the window holds has come to the new one, too: it answers alone.
    await a.close();
    for (const text of texts(20, 20)) decided(await b.check(text), text);
    for (const text of texts(60, 5)) decided(await b.check(text), text);
    const counts = new Map<string, number>();
    for (const text of kept) counts.set(text, (counts.get(text) ?? 0) + 1);
    expect([...counts].filter(([, count]) => count > 1)).toEqual([]);
    expect(counts.size).toBe(45);
  });
});
