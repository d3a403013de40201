/**
 * The client, the server or both are killed at every step of a run, and what is there in the end is what an uninterrupted run leaves. A step is a
 * command, at which a gate before the server stops. SIMHASH_LONG=1: each step at both moments with each of the three, and later ones of its kind too.
 */
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Collection, type Db, type Document, MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type CollectionSummary,
  type DedupCollectionOptions,
  dedupCollection,
  unmark,
} from '../dist/connect/mongodb.js';
import { type Asked, Gate, type Moment } from './mongo-gate';
import { content, documents, started, unmarking } from './mongo-runs';
import { MongoServer, missing } from './mongo-server';

const isLong = process.env.SIMHASH_LONG !== undefined;

/** Documents of a run, in batches of so many; below it are those of others: before all ids, between them and behind. */
const [COUNT, BATCH] = [260, 32];
const FOREIGN = [null, -5, 'id 1', true, new Date(4e12)].map((_id) => ({ _id, mine: 'foreign' }));

type Way = 'verified' | 'by fingerprints' | 'marked' | 'unmarked';
type Victim = 'client' | 'server' | 'both';
/** Whether a command is of a step; `place` is the collection that is written to. */
type Step = (asked: Asked, place: string) => boolean;

const changeIn = ({ name, command }: Asked): Document =>
  name === 'update' ? (command['updates']?.[0]?.u ?? {}) : {};
/** What is noted of a run. */
const noted = (asked: Asked, place: string): Document =>
  asked.collection === `${place}.runs` ? (changeIn(asked)['$set'] ?? {}) : {};
const phase =
  (name: string): Step =>
  (asked, place) =>
    noted(asked, place)['phase'] === name;
const into =
  (command: string, ending = ''): Step =>
  ({ name, collection }, place) =>
    name === command && collection === `${place}${ending}`;
const checkpoint: Step = (asked, place) => {
  const { position = 0, counts } = noted(asked, place);
  return position > 0 || counts !== undefined;
};

const STEPS = {
  'the run is made': into('insert', '.runs'),
  'the lease is taken': (asked, place) => noted(asked, place)['lease']?.pid !== undefined,
  reading: ({ name, collection }) => name === 'getMore' && String(collection).startsWith('source'),
  'what was read is noted': phase('decide'),
  'what was decided is noted': phase('write'),
  'kept documents': into('insert'),
  duplicates: into('insert', '.duplicates'),
  marks: (asked, place) => asked.collection === place && '$set' in changeIn(asked),
  'the checkpoint': checkpoint,
  'taking back': ({ name, collection, command }, place) =>
    name === 'delete' && collection === place && JSON.stringify(command).includes('"run"'),
  'taking marks back': (asked, place) => asked.collection === place && '$unset' in changeIn(asked),
  'the figures': (asked, place) => {
    const { summary, phase } = noted(asked, place);
    return summary !== undefined && phase === undefined;
  },
  'the end': phase('done'),
  'letting go': (asked, place) => noted(asked, place)['lease']?.until === null,
  'the run counts as not done': phase('read'),
  'the run is forgotten': into('delete', '.runs'),
} satisfies Record<string, Step>;

type Name = keyof typeof STEPS;

/** Where a run is killed: at a step, at hashing (a run over files has begun to keep what it has done), or at a step of a run that was killed at another one. */
type Point = Name | 'hashing' | readonly [Name, Name];

/** The moments that are worse: what has been written is not noted, or a command is done and counts as failed. */
const POINTS: Readonly<Record<Way, readonly (readonly [Point, Moment])[]>> = {
  verified: [
    ['the run is made', 'answered'],
    ['the lease is taken', 'answered'],
    ['reading', 'answered'],
    ['what was read is noted', 'asked'],
    ['hashing', 'asked'],
    ['what was decided is noted', 'asked'],
    ['kept documents', 'answered'],
    ['duplicates', 'asked'],
    ['the checkpoint', 'asked'],
    [['the checkpoint', 'taking back'], 'answered'],
    ['the figures', 'asked'],
    ['the end', 'asked'],
    ['letting go', 'asked'],
  ],
  'by fingerprints': [
    ['the run is made', 'asked'],
    ['the lease is taken', 'asked'],
    ['reading', 'answered'],
    ['kept documents', 'answered'],
    ['duplicates', 'asked'],
    ['the checkpoint', 'asked'],
    [['the checkpoint', 'taking back'], 'answered'],
    ['the figures', 'asked'],
    ['the end', 'asked'],
    ['letting go', 'asked'],
  ],
  marked: [
    ['what was decided is noted', 'answered'],
    ['marks', 'answered'],
    ['the checkpoint', 'asked'],
    [['the checkpoint', 'taking marks back'], 'answered'],
    ['the end', 'asked'],
  ],
  unmarked: [
    ['the lease is taken', 'answered'],
    ['the run counts as not done', 'answered'],
    ['taking marks back', 'answered'],
    ['the run is forgotten', 'asked'],
  ],
};

const OPTIONS = { batch: BATCH, lease: 2000 } as const;

const VICTIMS: readonly Victim[] = ['client', 'server', 'both'];
/** Steps at which documents are written, or what is written of them. */
const WRITING: readonly Name[] = ['kept documents', 'duplicates', 'marks', 'the checkpoint'];

/** Who is killed at a step: all, one after the other, where documents are written; else one of them in turns, and all of them in the long run. */
function victims(point: Point, place: number): readonly Victim[] {
  const writes = typeof point === 'string' && (WRITING as readonly string[]).includes(point);
  return isLong || writes || Array.isArray(point)
    ? VICTIMS
    : VICTIMS.slice(place % 3, (place % 3) + 1);
}

/** Every step, beside those who are killed at it. */
function cells() {
  const all = (Object.keys(POINTS) as Way[]).flatMap((way, first) =>
    POINTS[way].flatMap(([point, moment], place) => {
      const isWide = isLong && point !== 'hashing';
      const moments: readonly Moment[] = isWide ? ['asked', 'answered'] : [moment];
      const later = typeof point === 'string' && ['kept documents', 'reading'].includes(point);
      const turns = isWide && later ? [1, 3, 5] : [1];
      const at = moments.flatMap((moment) => turns.map((nth) => ({ way, point, moment, nth })));
      return at.flatMap((one) =>
        victims(point, first + place).map((victim) => ({ ...one, victim })),
      );
    }),
  );
  return all.map((cell, number) => ({ ...cell, number, said: said(cell) }));
}

function said({
  way,
  point,
  moment,
  nth,
}: {
  way: Way;
  point: Point;
  moment: Moment;
  nth: number;
}) {
  const at = typeof point === 'string' ? point : `${point[1]} after ${point[0]}`;
  return `${way}, ${at}${nth > 1 ? ` for the ${nth}th time` : ''}, ${point === 'hashing' ? 'begun' : moment}`;
}

describe.skipIf(missing !== undefined)(missing ?? 'killed at every step', () => {
  let server: MongoServer;
  let gate: Gate;
  let client: MongoClient;
  let db: Db;
  let folder: string;

  beforeAll(async () => {
    server = await MongoServer.open();
    gate = await Gate.before(server.port);
    client = new MongoClient(server.uri);
    db = client.db('kill');
    folder = mkdtempSync(join(tmpdir(), 'simhash-mongodb-kill-'));
    await fill('source');
  }, 1_200_000);
  afterAll(async () => {
    gate?.close();
    await client?.close();
    await server?.close();
    if (folder) rmSync(folder, { recursive: true });
  });

  async function fill(name: string): Promise<Collection> {
    const collection = db.collection(name);
    // The least of all ids is that of somebody else.
    const own = [...documents(COUNT)].filter(({ _id }) => _id !== null);
    await collection.insertMany(own as never, { forceServerObjectId: true });
    return collection;
  }

  const insertForeign = (collection: Collection, more: object = {}) => {
    const all = FOREIGN.map((one) => ({ ...one, ...more }));
    return collection.insertMany(all as never, { forceServerObjectId: true });
  };

  async function foreignIn(collection: Collection): Promise<string[]> {
    const all = await content(collection);
    return all.filter((one) => one.includes('"mine":"foreign"'));
  }

  /** What an uninterrupted run leaves. */
  const uninterrupted = new Map<Way, { summary: CollectionSummary; left: string[][] }>();
  async function wholeOf(way: Way) {
    const found = uninterrupted.get(way);
    if (found !== undefined) return found;
    const place = `whole.${way.replaceAll(' ', '-')}`;
    const target = db.collection(place);
    const summary = await dedupCollection(db.collection('source'), target, optionsOf(way));
    const left = await Promise.all([target, db.collection(`${place}.duplicates`)].map(content));
    uninterrupted.set(way, { summary, left });
    return { summary, left };
  }

  function optionsOf(way: Way): DedupCollectionOptions {
    return way === 'by fingerprints' ? { ...OPTIONS, texts: false } : { ...OPTIONS, tmp: folder };
  }

  /** Until the folder of a run has what a run over files keeps, or nobody waits for it. */
  async function isHashing(signal: AbortSignal): Promise<true> {
    const isKept = () => {
      const own = readdirSync(folder).flatMap((name) => readdirSync(join(folder, name)));
      return own.some((name) => name.startsWith('simhash-run-'));
    };
    while (!signal.aborted && !isKept()) await sleep(1);
    return true;
  }

  /** Kills at a point; then the server is there again, and the client is not. */
  async function kill(
    start: () => ReturnType<typeof started>,
    place: string,
    { point, moment, nth, victim }: { point: Point; moment: Moment; nth: number; victim: Victim },
  ): Promise<void> {
    const isHashed = point === 'hashing';
    const step: Step = STEPS[isHashed ? 'what was decided is noted' : (point as Name)];
    const held = gate.hold((asked) => step(asked, place), moment, nth);
    const { child, output } = start();
    const ended = once(child, 'exit');
    const waiting = new AbortController();
    const ways = [held.then(() => true), ended.then(() => false)];
    const isThere = await Promise.race(isHashed ? [...ways, isHashing(waiting.signal)] : ways);
    waiting.abort();
    gate.open();
    expect(isThere, output()).toBe(true);
    if (victim !== 'server') child.kill('SIGKILL');
    if (victim !== 'client') {
      await server.kill();
      await server.start();
    }
    // One that lives goes on, or ends with the error of the server.
    await ended;
  }

  test.each(cells().map((cell) => [cell.said, cell.victim, cell] as const))(
    '%s: %s',
    async (_said, _victim, cell) => {
      const { way, point, number } = cell;
      const steps = typeof point === 'string' || point === 'hashing' ? [point] : point;
      if (way === 'marked' || way === 'unmarked') return inPlace(cell, steps as Name[]);
      const place = `target.${number}`;
      const both = [db.collection(place), db.collection(`${place}.duplicates`)] as const;
      for (const one of both) await insertForeign(one);
      const foreign = await Promise.all(both.map(foreignIn));
      expect(foreign[0]).toHaveLength(FOREIGN.length);
      const [from, to] = [gate.at('kill.source'), gate.at(`kill.${place}`)];
      const options = { ...optionsOf(way), append: true };
      for (const [at, one] of steps.entries()) {
        const isLast = at === steps.length - 1;
        const how = isLast ? cell : ({ ...cell, moment: 'asked', victim: 'client' } as const);
        await kill(() => started(from, to, options), place, { ...how, point: one });
        expect(await Promise.all(both.map(foreignIn))).toEqual(foreign);
      }
      const summary = await dedupCollection(from, to, options);
      const whole = await wholeOf(way);
      const { read, kept, duplicates, rejected, clusters, short, empty, lastId } = whole.summary;
      expect(summary).toMatchObject({
        read,
        kept,
        duplicates,
        rejected,
        clusters,
        short,
        empty,
        lastId,
      });
      expect(read).toBe(COUNT - 1);
      expect(duplicates).toBeGreaterThan(20);
      expect(await Promise.all(both.map(foreignIn))).toEqual(foreign);
      for (const [at, one] of both.entries()) {
        await one.deleteMany({ mine: 'foreign' });
        expect(await content(one)).toEqual(whole.left[at]);
        expect(await one.distinct('run')).toEqual([summary.run]);
        await one.drop();
      }
      expect(readdirSync(folder)).toEqual([]);
    },
  );

  /** Marks that are made, or taken out, beside those of somebody else. */
  async function inPlace(cell: ReturnType<typeof cells>[number], steps: readonly Name[]) {
    const place = `source.${cell.number}`;
    const source = await fill(place);
    await insertForeign(source, { dedup: { of: 1, run: 'of somebody else' } });
    const before = await content(source);
    const address = gate.at(`kill.${place}`);
    const options = { ...OPTIONS, tmp: folder, mark: true, filter: { mine: null } };
    const whole = await dedupCollection(source, undefined, options);
    const withMarks = await withoutRuns(source);
    expect(whole.duplicates).toBeGreaterThan(20);
    if (cell.way === 'unmarked') {
      await kill(() => unmarking(address), place, { ...cell, point: steps[0] as Name });
      expect(await foreignIn(source)).toEqual(before.filter((one) => one.includes('foreign')));
      await unmark(address);
      expect(await content(source)).toEqual(before);
      return;
    }
    await unmark(source);
    for (const [at, one] of steps.entries()) {
      const isLast = at === steps.length - 1;
      const how = isLast ? cell : ({ ...cell, moment: 'asked', victim: 'client' } as const);
      await kill(() => started(address, undefined, options), place, { ...how, point: one });
      expect(await foreignIn(source)).toEqual(before.filter((one) => one.includes('foreign')));
    }
    const { duplicates, unmarked } = await dedupCollection(address, undefined, options);
    expect({ duplicates, unmarked }).toEqual({ duplicates: whole.duplicates, unmarked: 0 });
    expect(await withoutRuns(source)).toEqual(withMarks);
    expect(await unmark(address)).toEqual({ documents: duplicates });
    expect(await content(source)).toEqual(before);
    expect(readdirSync(folder)).toEqual([]);
  }

  /** What a collection holds, without what names a run within a mark. */
  async function withoutRuns(collection: Collection): Promise<string[]> {
    return (await content(collection)).map((one) => one.replace(/"run":"[0-9a-f]{24}"/, ''));
  }
});
