// Decisions of a service at times that its log gives, for tests: node log-clock.mjs FOLDER START; the clock of the process may be another.
import { MemoryLog, SharedIndex } from '../dist/log.mjs';
import { textOf } from './log-texts.mjs';

const [, , folder, start] = process.argv;
const minute = 60_000;
let now = Number(start);
const log = new MemoryLog(() => now);
const options = { window: { maxAge: 60 * minute }, durability: 'none' };
let shared = await SharedIndex.open(folder, log, options);
const said = [];
for (const [n, passed] of [
  [1, 0],
  [1, 30],
  [2, 20],
  [1, 20],
  [2, 0],
  [3, 59],
  [2, 2],
]) {
  now += passed * minute;
  said.push(await shared.check(textOf(n)));
  // Opened again, it has what it had.
  if (n === 3) {
    await shared.close();
    shared = await SharedIndex.open(folder, log, options);
    await shared.ready();
  }
}
const found = [1, 2, 3].map((n) => shared.search(textOf(n)));
console.log(JSON.stringify({ clock: Date.now(), decided: { said, found, size: shared.size } }));
await shared.close();
