// A service of a shared window on a disk that becomes full, for tests: node log-full.mjs FULL OTHER [quota]; FULL is a small file system.
// With `quota` the file system says that it has room, as one does in which a user may have no more.

import { existsSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import fs from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { MemoryLog, SharedIndex } from '../dist/log.mjs';
import { textOf } from './log-texts.mjs';

const { SharedEngine } = createRequire(import.meta.url)('../dist/server/shared.js');
const [, , small, other, quota] = process.argv;
if (quota !== undefined) fs.statfs = async () => ({ bavail: 1e9, bsize: 1 });
const filler = join(small, 'filler');
const log = new MemoryLog();
const states = [];
const opened = async (folder) => {
  const onState = (state, error) => states.push(error?.code ?? state);
  return SharedIndex.open(folder, log, { window: { maxAge: 172_800_000 }, timeout: 5000, onState });
};
/** Why it was in any state so far. */
const errors = () => [...new Set(states)].filter((state) => state.startsWith('ERR_'));
const until = async (holds) => {
  while (!holds()) await new Promise((done) => setTimeout(done, 5));
};
let next = 0;
/** Checks documents of which every third has no key, and every fourth is one of before. */
const filled = async (shared) => {
  const all = Array.from({ length: 300 }, () => next++);
  const keys = all.map((n) => (n % 3 === 0 ? undefined : `k${n}`));
  await shared.checkMany(
    all.map((n) => textOf(n % 4 === 3 ? n - 3 : n)),
    { keys },
  );
};
/** What two services say of all that was checked. */
const same = async (a, b) => {
  await until(() => a.position === b.position && a.state === 'ready');
  const of = (one) => Array.from({ length: next }, (_, n) => one.search(textOf(n)));
  return a.size === b.size && JSON.stringify(of(a)) === JSON.stringify(of(b));
};
/** All the room that is left, but for what an index has reserved already. */
const fill = () => {
  const { bavail, bsize } = statfsSync(small);
  writeFileSync(filler, Buffer.alloc(bavail * bsize));
};
const code = (promise) => promise.then(() => 'done').catch((error) => error.code);

const [folder, b] = [join(small, 'a'), await opened(other)];
let a = await opened(folder);
const engine = new SharedEngine(a, undefined, () => {});
await filled(a);
fill();
states.length = 0;
// One that it has appended itself is among those that find no room.
const own = [];
while (!['full', 'broken'].includes(a.state)) {
  await filled(b);
  own.push(code(a.check(textOf(1_000_000 + next), { key: `own${next}` })));
  await new Promise((done) => setTimeout(done, 5));
}
const codes = new Set(await Promise.all(own));
const entries = log.entries.length;
const said = {
  states: errors(),
  reasons: await engine.reasons(),
  own: [...codes].filter((one) => one !== 'done'),
  check: await code(a.check(textOf(1), { key: 'new' })),
  remove: await code(a.delete({ key: 'k1' })),
  status: (await engine.check([{ text: 'x' }]))[0].code,
  found: (await engine.search(textOf(0), { limit: 5 })).length,
  appended: log.entries.length - entries,
};
await filled(b);
// Where a part of a batch is there, who opens the folder begins again.
const isWhole = existsSync(join(folder, 'chain'));
rmSync(filler);
await a.ready();
const after = {
  again: await code(a.check(textOf(1_000_000), { key: 'later' })),
  same: await same(a, b),
  chain: existsSync(join(folder, 'chain')),
  ready: await engine.reasons(),
};
// Opened again it goes on from where it was.
await a.close();
states.length = 0;
a = await opened(folder);
await filled(b);
const reopened = { same: await same(a, b), states: errors() };
// Closed while it is full it is as much of the log, opened again.
fill();
while (a.state !== 'full') {
  await filled(b);
  await new Promise((done) => setTimeout(done, 5));
}
await a.close();
rmSync(filler);
a = await opened(folder);
const closed = { same: await same(a, b) };
console.log(JSON.stringify({ ...said, isWhole, after, reopened, closed }));
await Promise.all([a.close(), b.close()]);
