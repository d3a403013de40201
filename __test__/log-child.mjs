// A service of a shared window, for tests: node log-child.mjs redis|nats URL STREAM FOLDER SNAPSHOTS; requests are lines of JSON.

import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { natsLog, redisLog, SharedIndex } from '../dist/log.mjs';
import { textOf } from './log-texts.mjs';

const [, , kind, url, stream, folder, snapshots] = process.argv;
const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

/** Documents of one call, and calls at once. */
const [PART, AT_ONCE] = [250, 8];

const log = await (kind === 'nats' ? natsLog : redisLog)(url, { stream });
const window = { maxAge: 172_800_000 };
const shared = await SharedIndex.open(folder, log, { snapshots, window, timeout: 60_000 });

/** Checks documents, several parts at once; what became of each. */
async function checked(numbers, keyOf) {
  const outcomes = new Array(numbers.length);
  let next = 0;
  const one = async () => {
    for (let at = next; at < numbers.length; at = next) {
      next += PART;
      const part = numbers.slice(at, at + PART);
      const answers = await shared.checkMany(part.map(textOf), { keys: part.map(keyOf) });
      for (const [n, answer] of answers.entries()) outcomes[at + n] = answer;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
  return outcomes;
}

const CALLS = {
  /** Texts as they are. */
  check: ({ texts, keys }) => shared.checkMany(texts, { keys }),
  snapshot: async () => {
    const { name } = await shared.snapshot();
    return { size: shared.size, position: shared.position, name };
  },
  /** The numbers of the texts that are kept of this service. */
  keep: async ({ numbers, name }) => {
    const outcomes = await checked(numbers, (n) => `${name}${n}`);
    return numbers.filter((_, at) => outcomes[at].duplicateOf === undefined);
  },
  /** Writes what was decided on all documents, asked for again by their keys. */
  decisions: async ({ of, file }) => {
    const out = createWriteStream(file);
    let repeated = 0;
    for (const { numbers, name } of of) {
      const outcomes = await checked(numbers, (n) => `${name}${n}`);
      for (const [at, { repeated: isRepeated, ...outcome }] of outcomes.entries()) {
        if (isRepeated) repeated += 1;
        out.write(`${JSON.stringify({ key: `${name}${numbers[at]}`, ...outcome })}\n`);
      }
    }
    out.end();
    await once(out, 'finish');
    return { repeated, size: shared.size };
  },
};

await shared.ready();
say({ ready: shared.position });
createInterface({ input: process.stdin })
  .on('line', async (line) => {
    const { call, what, ...asked } = JSON.parse(line);
    try {
      say({ call, answer: await CALLS[what](asked) });
    } catch (error) {
      say({ call, code: error.code ?? String(error) });
    }
  })
  .on('close', () => shared.close());
