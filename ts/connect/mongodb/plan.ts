/** What a run over a collection will take, by both ways, from a sample of it. */
import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Collection, Document } from 'mongodb';
import { given } from '../../given';
import { plan as planIndex } from '../../plan';
import { predicted } from '../../plan-files';
import type { CollectionPlan, PlanCollectionOptions, WayPlan } from '../mongodb';
import { countOf, lineOf } from './copy';
import { ofLines } from './decide';
import { reader } from './decoded';
import { projectionOf, reasonOf, textOf } from './document';
import { connected, driver } from './open';
import { DISTANCE } from './pass';
import { fingerprinterOptions, prints } from './prints';
import { answers } from './read';
import { serverOf } from './server';
import { planSettingsOf, type Settings } from './settings';
import { BATCH } from './stage';
import { LineFile } from './work';

/** Documents that are read, and bytes of their texts, about: of each end of the collection half of them. */
const [SAMPLE, SAMPLE_BYTES] = [100_000, 24 << 20];
/** Bytes that a run over files keeps for each document in its folder, so that it can go on: 201 of its sketch and at most 19 of the checkpoint, and as many beside them while that is replaced. */
const KEPT = 440;
/** Bytes of an id in memory beside those that the plan of an index counts for a key. */
const KEY = 16;
/** Bytes of a process with the driver and three batches under way. */
const PROCESS = 160 << 20;
/** What the whole takes of what the sample took for each document, least and most, as for files. */
const [LEAST, MOST] = [0.75, 2.5];

/** What was read of a collection. */
interface Sample {
  readonly texts: readonly string[];
  /** Documents that were read, those without a text too, and bytes of the ids of the others. */
  readonly read: number;
  readonly idBytes: number;
  /** Seconds that it took the server. */
  readonly seconds: number;
  /** Bytes of the file of their lines. */
  readonly bytes: number;
}

/** See `planCollection`. */
export async function planOf(
  source: string | Collection,
  options: PlanCollectionOptions | undefined,
): Promise<CollectionPlan> {
  const settings = planSettingsOf(options);
  return connected(settings.signal, async (connections) => {
    const collection = await connections.collection(source, 'source');
    const known =
      settings.known === undefined
        ? undefined
        : await connections.collection(settings.known, 'known');
    const folder = (settings.tmp as string | undefined) ?? tmpdir();
    const own = await mkdtemp(join(folder, 'simhash-plan-'));
    try {
      return await planned(collection, known, settings, folder, own);
    } finally {
      await rm(own, { recursive: true, force: true });
    }
  });
}

async function planned(
  source: Collection,
  known: Collection | undefined,
  settings: Settings,
  folder: string,
  own: string,
): Promise<CollectionPlan> {
  const { filter, limit = Number.POSITIVE_INFINITY, memory } = settings;
  const total = await countOf(source, filter);
  const documents = Math.min(limit, total);
  const others = known === undefined ? 0 : await countOf(known, undefined);
  const file = join(own, 'sample.jsonl');
  const sample = await sampled(source, settings, Math.min(documents, SAMPLE), file);
  const { texts, read, seconds, bytes, idBytes } = sample;
  // Known documents are taken for as large as those of the source.
  const all = documents + others;
  const times = all / Math.max(1, read);
  const fileBytes = Math.round(bytes * times);
  const isWhole = read >= all;
  const run = { ...ofLines(settings), tmp: folder };
  const plan = await predicted([file], run, isWhole ? undefined : fileBytes);
  const verified: WayPlan = {
    memoryBytes: Math.max(PROCESS, plan.memoryBytes),
    // What was read, and the same with what was decided; what is known beyond memory.
    diskBytes: 2 * fileBytes + KEPT * all + (memory === undefined ? 0 : plan.diskBytes),
    cpuSeconds: plan.cpuSeconds,
  };
  const usable = Math.round(texts.length * times);
  const { maxDistance = DISTANCE } = settings;
  const index = planIndex({
    ...fingerprinterOptions(settings),
    ...{ method: 'simhash', texts: false, keys: true, maxDistance, count: usable },
  });
  const key = idBytes / Math.max(1, texts.length);
  const hashed = await cpuSecondsOf(texts, settings);
  const fingerprints: WayPlan = {
    memoryBytes: Math.round(PROCESS + index.bytes + usable * Math.max(0, key - KEY)),
    diskBytes: 0,
    cpuSeconds: { least: LEAST * hashed * times, most: MOST * hashed * times },
  };
  const { bavail, bsize } = await statfs(folder);
  const free = { memoryBytes: freeMemory(), diskBytes: bavail * bsize };
  return {
    ...{ documents, sampled: read, exact: read >= documents, known: others },
    textBytes: Math.round(times * texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)),
    readSeconds: seconds * times,
    ...{ verified, fingerprints, free },
    ...given({ advised: advisedOf(verified, fingerprints, free) }),
  };
}

/** What this process can still have: in a container less than what is free. Node.js says it from 20.13 on. */
function freeMemory(): number {
  return Math.min(freemem(), process.availableMemory?.() ?? Number.POSITIVE_INFINITY);
}

/** Verified wherever what it takes is there; `undefined`: neither way has room here. */
export function advisedOf(
  verified: WayPlan,
  fingerprints: WayPlan,
  free: CollectionPlan['free'],
): CollectionPlan['advised'] {
  const fits = ({ memoryBytes, diskBytes }: WayPlan) =>
    memoryBytes <= free.memoryBytes && diskBytes <= free.diskBytes;
  if (fits(verified)) return 'verified';
  return fits(fingerprints) ? 'fingerprints' : undefined;
}

/** Reads so many documents, from both ends of a collection, and writes them as a run does. */
async function sampled(
  source: Collection,
  settings: Settings,
  most: number,
  path: string,
): Promise<Sample> {
  const { BSON: bson } = await driver();
  const { room } = await serverOf(source);
  const { file } = await LineFile.open(path);
  const texts: string[] = [];
  let [read, bytes, idBytes, seconds] = [0, 0, 0, 0];
  try {
    // What came late is often unlike what came first.
    for (const [order, share] of [
      [1, Math.ceil(most / 2)],
      [-1, Math.floor(most / 2)],
    ] as const) {
      const enough = bytes + SAMPLE_BYTES / 2;
      let [left, since] = [share, performance.now()];
      for await (const documents of fromEnd(source, settings, order, share)) {
        seconds += (performance.now() - since) / 1000;
        settings.signal?.throwIfAborted();
        for (const document of documents.slice(0, left)) {
          read += 1;
          const id = bson.EJSON.stringify(document['_id'], { relaxed: false });
          if (reasonOf(document, id, { settings, bson, room }, true) !== undefined) continue;
          const text = textOf(document, settings);
          texts.push(text);
          bytes += Buffer.byteLength(text);
          idBytes += Buffer.byteLength(id);
          file.push(lineOf(document, read, id, settings));
        }
        left -= documents.length;
        await file.write();
        if (left <= 0 || bytes > enough) break;
        since = performance.now();
      }
    }
    return { texts, read, idBytes, seconds, bytes: file.bytes };
  } finally {
    await file.close();
  }
}

/** Documents from one end of a collection, as the answers of the server have them. */
async function* fromEnd(
  source: Collection,
  settings: Settings,
  order: 1 | -1,
  most: number,
): AsyncGenerator<Document[], void, undefined> {
  if (most === 0) return;
  const { filter = {}, batch = BATCH } = settings;
  const how = { projection: projectionOf(settings), sort: { _id: order }, limit: most } as const;
  yield* answers(source, filter, { ...how, batchSize: batch }, reader((await driver()).BSON));
}

/** Seconds of processor time, of all threads, that fingerprints of texts take. */
async function cpuSecondsOf(texts: readonly string[], settings: Settings): Promise<number> {
  const made = await prints(settings, 'string');
  const before = process.cpuUsage();
  for (let from = 0; from < texts.length; from += BATCH) {
    settings.signal?.throwIfAborted();
    await made.of(texts.slice(from, from + BATCH));
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}
