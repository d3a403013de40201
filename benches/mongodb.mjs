// A collection of MongoDB without its near-duplicates, in another one: documents per second, and how much of the time the database is asked.
// The server is that of MONGODB_URI, where it makes and drops a database of its own, or FerretDB on SQLite as in the tests.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { missing, program } from '../__test__/mongo-server/program.mjs';
import { load } from './texts.mjs';

const BATCH = 2048;

/** A server, and how to end it. */
async function serve(folder) {
  const { MONGODB_URI } = process.env;
  if (MONGODB_URI) return { uri: MONGODB_URI, name: 'MONGODB_URI', close: () => {} };
  const free = createServer().listen(0, '127.0.0.1');
  await once(free, 'listening');
  const { port } = free.address();
  free.close();
  const args = ['-dir', folder, '-listen', `127.0.0.1:${port}`, '-stdin'];
  const child = spawn(program(), args, { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(createInterface({ input: child.stdout }), 'line');
  const uri = `mongodb://127.0.0.1:${port}/?serverSelectionTimeoutMS=60000`;
  return { uri, name: 'FerretDB 1.24 on SQLite', close: () => child.kill() };
}

/** How long at least one command was under way. */
class Asked {
  #under = 0;
  #since = 0;
  milliseconds = 0;

  constructor(client) {
    client.on('commandStarted', () => {
      if (this.#under++ === 0) this.#since = performance.now();
    });
    const over = () => {
      if (--this.#under === 0) this.milliseconds += performance.now() - this.#since;
    };
    client.on('commandSucceeded', over).on('commandFailed', over);
  }

  /** Wall time of some work, and how much of it the database was asked, in seconds. */
  async of(work) {
    const [start, before] = [performance.now(), this.milliseconds];
    const result = await work();
    const seconds = (performance.now() - start) / 1000;
    return { result, seconds, asked: (this.milliseconds - before) / 1000 };
  }
}

/** Texts of up to 300 characters: the beginning of one and the end of another, every tenth that of an earlier one. */
function* documents(texts, count) {
  let state = 1;
  const below = (end) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * end);
  };
  const earlier = [];
  for (let _id = 0; _id < count; _id++) {
    const [one, other] = [texts[below(texts.length)], texts[below(texts.length)]];
    const [from, to] = [
      below(Math.max(1, one.length - 150)),
      below(Math.max(1, other.length - 150)),
    ];
    const again = _id % 10 === 9 ? earlier[below(earlier.length)] : undefined;
    const text = again ?? one.slice(from, from + 150) + other.slice(to, to + 150);
    if (again === undefined && earlier.length < 100_000) earlier.push(text);
    yield { _id, text: again === undefined ? text : `${text}（转载）` };
  }
}

export async function bench(options) {
  if (missing && !process.env.MONGODB_URI) {
    return { bench: 'mongodb', setup: `${missing}; or set MONGODB_URI`, rows: [] };
  }
  const { MongoClient } = await import('mongodb');
  const value = (name) => (options.includes(name) ? options[options.indexOf(name) + 1] : undefined);
  const size = Number((value('--size') ?? '1_000_000').replaceAll('_', ''));
  const old = value('--old');
  const of = async (folder) =>
    (await import(pathToFileURL(join(folder, 'dist/connect/mongodb.js')).href)).default;
  const own = await of(join(import.meta.dirname, '..'));
  const folder = mkdtempSync(join(tmpdir(), 'simhash-bench-mongodb-'));
  const server = await serve(folder);
  const client = new MongoClient(server.uri, { monitorCommands: true });
  const db = client.db(`simhash_bench_${process.pid}`);
  try {
    const asked = new Asked(client);
    const source = db.collection('source');
    const { name, texts } = load('zh-news-eventmonitor');
    const loading = await asked.of(async () => {
      let some = [];
      for (const document of documents(texts, size)) {
        if (some.push(document) < BATCH) continue;
        await source.insertMany(some);
        some = [];
      }
      if (some.length > 0) await source.insertMany(some);
    });
    const reading = await asked.of(async () => {
      // As a run reads: two fields, with their types.
      const projection = { _id: 1, text: 1 };
      const how = { projection, sort: { _id: 1 }, batchSize: BATCH, promoteValues: false };
      const cursor = source.find({}, how);
      let read = 0;
      while (await cursor.hasNext()) read += cursor.readBufferedDocuments().length;
      if (read !== size) throw new Error(`${read} of ${size} documents read`);
    });
    const run = async (module, target, how) => {
      // What comes before the first report is of the first stage.
      const begun = performance.now();
      const stages = [];
      const onProgress = ({ stage }) => {
        if (stages.at(-1)?.stage === stage) return;
        stages.push({ stage, at: stages.length === 0 ? begun : performance.now() });
      };
      const given = { ...how, onProgress };
      const one = await asked.of(() =>
        module.dedupCollection(source, db.collection(target), given),
      );
      const end = performance.now();
      const { read, kept, duplicates, rejected } = one.result;
      const there = await db.collection(target).countDocuments();
      if (read !== size || there !== kept || kept + duplicates + rejected !== read)
        throw new Error(`${target}: read ${read}, kept ${kept}, ${there} in the target`);
      return { ...one, stages, end };
    };
    const runs = [
      ...(old === undefined ? [] : [['verified, old', await of(old), {}]]),
      ['verified', own, { tmp: folder }],
      ['by fingerprints alone', own, { texts: false }],
    ];
    const rows = [
      { what: 'loaded by insertMany', value: size / loading.seconds, unit: 'documents/s' },
      { what: 'read alone, one cursor', value: size / reading.seconds, unit: 'documents/s' },
    ];
    let kept = 0;
    for (const [what, module, how] of runs) {
      const one = await run(module, what.replaceAll(/[^a-z]/g, '_'), how);
      kept = one.result.kept;
      rows.push(
        {
          what,
          value: size / one.seconds,
          unit: 'documents/s',
          against: {
            what: 'read alone',
            value: size / reading.seconds,
            ratio: reading.seconds / one.seconds,
          },
        },
        {
          what: `${what}: time in which the database is asked`,
          value: (100 * one.asked) / one.seconds,
          unit: '%',
        },
        ...(how.texts === false
          ? [
              {
                what: `${what}: held for each kept document`,
                value: one.result.indexBytes / one.result.kept,
                unit: 'bytes',
              },
            ]
          : []),
        ...one.stages.map(({ stage, at }, place) => ({
          what: `${what}: stage ${stage}`,
          value: ((one.stages[place + 1]?.at ?? one.end) - at) / 1000,
          unit: 's',
        })),
      );
    }
    const memory = process.resourceUsage().maxRSS / 1024;
    rows.push({ what: 'memory of the client, at most', value: memory, unit: 'MB' });
    return {
      bench: 'mongodb',
      setup: `${size} documents of at most 300 characters (${name}), ${kept} kept at last, ${server.name}, batches of ${BATCH}`,
      rows,
    };
  } finally {
    await db.dropDatabase().catch(() => {});
    await client.close();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
