/** Collections for tests of runs over them, and runs in processes of their own. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Binary, BSON, type Collection, Double, Int32, Long, ObjectId } from 'mongodb';
import { ROOT } from './cli-run';
import { passage } from './passages';

export const ENTRY = join(ROOT, 'dist', 'connect', 'mongodb.js');
const { EJSON } = BSON;

/** A text that is like that of another number now and then. */
export function textOf(number: number): string {
  const of = number % 5 === 0 ? number - (number % 25) : number;
  return `${passage(of)}${number % 10 === 0 ? `第${of}版` : ''}`;
}

/** An id of one type or another. */
export function idOf(number: number): unknown {
  switch (number % 9) {
    case 0:
      return `id ${number}`;
    case 1:
      return new Int32(number);
    case 2:
      return new Double(number + 0.5);
    case 3:
      return Long.fromNumber(2 ** 40 + number);
    case 4:
      return new Date(1_700_000_000_000 + number);
    case 5:
      return new Binary(Buffer.from(`b${number}`));
    case 6:
      return { part: 1, number };
    default:
      return new ObjectId(number.toString(16).padStart(24, '0'));
  }
}

/** Texts that are none, and others that are hard. */
export const AWKWARD: readonly unknown[] = [
  null,
  undefined,
  42,
  ['一', '二'],
  { text: 'x' },
  true,
  new Date(0),
  Long.fromNumber(2 ** 60),
  '',
  `NUL \0 in ${passage(77)}`,
  `<p>${passage(78)}</p>\u2028<script>1</script>`,
  passage(79).repeat(3000),
];

export function* documents(count: number): Generator<Record<string, unknown>> {
  yield { _id: null, text: passage(1) };
  yield { _id: false, text: passage(2) };
  for (const [at, text] of AWKWARD.entries()) {
    yield { _id: `awkward ${at}`, ...(text === undefined ? {} : { text }), other: 'field' };
  }
  for (let number = 100; number < count + 100 - AWKWARD.length - 2; number++) {
    yield { _id: idOf(number), text: textOf(number), other: 'field' };
  }
}

/** A collection that gets so many of {@link documents}. */
export async function filled(collection: Collection, count: number): Promise<Collection> {
  const all = [...documents(count)];
  for (let from = 0; from < all.length; from += 1000) {
    // Without this the driver makes another one of an _id that is null.
    const how = { forceServerObjectId: true };
    await collection.insertMany(all.slice(from, from + 1000) as never, how);
  }
  return collection;
}

/** All that a collection holds, without what names the run. */
export async function content(collection: Collection): Promise<string[]> {
  const all = await collection.find({}, { promoteValues: false }).toArray();
  return all.map(({ run, ...rest }) => EJSON.stringify(rest, { relaxed: false })).sort();
}

/** A run in a process of its own, from address to address. */
export function started(source: string, target: string | undefined, options: object) {
  return printing(`dedupCollection(${JSON.stringify(source)}, ${target && JSON.stringify(target)}, {
      ...${JSON.stringify(options)},
      onProgress: ({ stage, documents }) => console.log(stage, documents),
    })`);
}

/** Marks are taken out in a process of its own. */
export function unmarking(source: string) {
  return printing(`unmark(${JSON.stringify(source)})`);
}

/** A process that prints what comes of a promise. */
function printing(promise: string) {
  const script = `
    const { dedupCollection, unmark } = require(${JSON.stringify(ENTRY)});
    ${promise}.then((summary) => console.log('summary', JSON.stringify(summary)), (error) => {
      console.log('error', error.message);
      process.exitCode = 1;
    });`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (bytes) => {
    output += bytes;
  });
  /** Until the run has come so far, or has ended. */
  const reached = async (stage: string, least: number) => {
    for (;;) {
      const lines = output.split('\n').map((line) => line.split(' '));
      if (lines.some(([name, count]) => name === stage && Number(count) >= least)) return true;
      if (child.exitCode !== null || child.signalCode !== null) return false;
      await sleep(2);
    }
  };
  /** The summary that it has printed. */
  const summary = (): Record<string, unknown> => {
    const line = output.split('\n').find((line) => line.startsWith('summary'));
    return JSON.parse(line?.slice(8) ?? output);
  };
  return { child, reached, output: () => output, summary };
}
