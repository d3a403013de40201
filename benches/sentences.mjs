// News from text to the id of its group, end to end from TypeScript: what the n-longest-sentences method costs.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from './texts.mjs';

/** What the author of the method published for 17,400 pages, in seconds; on hardware of its own, so only the size tells. */
const PUBLISHED = { pages: 17_400, memory: 1.6, disk: 2.47 };

/** `size` texts: the set again and again, each time with a mark in every sentence, so that only the set's own copies are. */
function documents(texts, size) {
  return Array.from({ length: size }, (_, row) => {
    const [round, text] = [Math.floor(row / texts.length), texts[row % texts.length]];
    return round === 0 ? text : text.replaceAll(/[。！？\n]/g, (end) => `（${round}）${end}`);
  });
}

export async function bench(options) {
  const { Index } = await import('../dist/index.mjs');
  const { KeptIndex } = await import('../dist/level.mjs');
  const { MemoryLevel } = await import('memory-level');
  const at = options.indexOf('--size');
  const size = at >= 0 ? Number(options[at + 1].replaceAll('_', '')) : PUBLISHED.pages;
  const { name, texts } = load('zh-news-eventmonitor');
  const docs = documents(texts, size);
  const folder = mkdtempSync(join(tmpdir(), 'simhash-bench-'));
  const path = join(folder, 'sentences');
  // A thousand at a time: what a crawler or a queue hands over.
  const batches = Array.from({ length: Math.ceil(size / 1000) }, (_, part) =>
    docs.slice(part * 1000, (part + 1) * 1000),
  );
  const opened = (durability) => {
    rmSync(path, { recursive: true, force: true });
    return Index.open(path, { groups: true, durability });
  };
  const ways = [
    [
      'in memory, one by one',
      'memory',
      () => new Index({ groups: true }),
      (index) => docs.map((text) => index.similarId(text)),
    ],
    [
      'in memory, batches of 1,000',
      'memory',
      () => new Index({ groups: true }),
      async (index) => {
        const all = [];
        for (const batch of batches) all.push(...(await index.similarIdManyAsync(batch)));
        return all;
      },
    ],
    [
      "folder, durability 'none', one by one",
      'disk',
      () => opened('none'),
      (index) => docs.map((text) => index.similarId(text)),
    ],
    [
      "folder, durability 'commit', batches of 1,000",
      'disk',
      () => opened('commit'),
      async (index) => {
        const all = [];
        for (const batch of batches) all.push(...(await index.similarIdManyAsync(batch)));
        return all;
      },
    ],
    [
      'memory-level through the adapter, batches of 1,000',
      'disk',
      () => KeptIndex.open(new MemoryLevel()),
      async (kept) => {
        const all = [];
        for (const batch of batches) {
          all.push(...(await kept.index.similarIdManyAsync(batch)));
          await kept.flush();
        }
        return all;
      },
    ],
  ];
  const rows = [];
  let expected;
  try {
    for (const [what, kind, make, run] of ways) {
      let least = Number.POSITIVE_INFINITY;
      for (let round = 0; round < 3; round++) {
        const index = await make();
        const start = performance.now();
        const groups = await run(index);
        least = Math.min(least, (performance.now() - start) / 1000);
        expected ??= groups.join();
        if (groups.join() !== expected)
          throw new Error(`${what}: other groups than in memory, one by one`);
        await index.close();
      }
      const published = (PUBLISHED[kind] * size) / PUBLISHED.pages;
      rows.push({
        what,
        value: least,
        unit: 's',
        against: {
          what: `the author's ${PUBLISHED[kind]} s`,
          value: published,
          ratio: least / published,
          goal: '<= 1 (other hardware)',
        },
      });
    }
    const begin = performance.now();
    const index = await opened('commit');
    for (const text of docs.slice(0, 200)) await index.similarIdManyAsync([text]);
    const single = (performance.now() - begin) / 200;
    await index.close();
    rows.push({
      what: "folder, durability 'commit', one by one: each call",
      value: single,
      unit: 'ms',
    });
    const again = await Index.open(path, { groups: true });
    again.addMany(docs);
    const { live, groups, sketches, bytes, durable } = again.stats();
    await again.close();
    rows.push(
      { what: 'memory', value: bytes / live, unit: 'bytes/document' },
      {
        what: 'folder',
        value: (durable.logBytes + durable.checkpointBytes) / live,
        unit: 'bytes/document',
      },
    );
    const before = performance.now();
    await (await Index.open(path, { groups: true })).close();
    rows.push({ what: 'open the folder again', value: performance.now() - before, unit: 'ms' });
    return {
      bench: 'sentences',
      setup: `${name}: ${texts.length} texts as ${size}, ${(docs.reduce((sum, text) => sum + text.length, 0) / size).toFixed(0)} characters each; ${sketches} sketches in ${groups} groups; least of 3`,
      rows,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
