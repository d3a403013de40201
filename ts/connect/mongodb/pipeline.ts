/** A run over a collection: its stages, each of which a later process goes on with. */
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Collection } from 'mongodb';
import { binding } from '../../binding';
import type { Summary } from '../../comparison';
import { typeError } from '../../errors';
import { given } from '../../given';
import type { ReportSummary } from '../../report/write';
import type { CollectionProgress, CollectionSummary } from '../mongodb';
import { read } from './copy';
import { decide } from './decide';
import { beside, connected, driver, placeOf, surely, UNHELD } from './open';
import { pass } from './pass';
import { type Prints, prints } from './prints';
import { refuseHeld, refuseLost, refuseMarked, refuseOthers, refuseWritten } from './refuse';
import { refuseOfDone, refusePage, reported } from './report';
import { nameOf, Run, type RunDocument } from './run';
import { collatedOf, serverOf } from './server';
import { recipeOf, type Settings } from './settings';
import { Collections, Marks } from './sink';
import { FIELD, folderOf, LEASE, type Stage } from './stage';
import { fileMark, removeNoted, Work } from './work';
import { write } from './write';

/** Runs of this process that were aborted and have not let go yet, by their names: a server need not have answered. */
const leaving = new Map<string, Promise<void>>();

/** Milliseconds between reports. */
const REPORT = 50;

/** See `dedupCollection`. */
export async function run(
  source: string | Collection,
  target: string | Collection | undefined,
  settings: Settings,
): Promise<CollectionSummary> {
  refusePage(settings);
  return connected(settings.signal, async (connections) => {
    const { mark = false } = settings;
    if (mark !== (target === undefined)) {
      throw typeError(`target must ${mark ? 'be left out beside mark' : 'be given without mark'}`);
    }
    const from = await connections.collection(source, 'source');
    const to = target === undefined ? from : await connections.collection(target, 'target');
    const known =
      settings.known === undefined
        ? undefined
        : await connections.collection(settings.known, 'known');
    await refuseWritten(from, to, known, mark);
    return begun(from, to, known, settings);
  });
}

async function begun(
  source: Collection,
  target: Collection,
  known: Collection | undefined,
  settings: Settings,
): Promise<CollectionSummary> {
  const { mark = false, append = false, fingerprint = 'string', lease = LEASE } = settings;
  const bson = (await driver()).BSON;
  const places = [source, target, ...(known ? [known] : [])].map(placeOf);
  const filter = bson.EJSON.stringify(settings.filter ?? {}, { relaxed: false });
  const recipe = recipeOf(places, settings, filter, binding.version());
  const runs = beside(target, 'runs') as unknown as Collection<RunDocument>;
  const duplicates = beside(target, 'duplicates');
  const name = nameOf(recipe);
  await refuseOthers(runs);
  const before = await Run.find(runs, name);
  const workOf = ({ run }: RunDocument) =>
    new Work(resolve((settings.tmp as string | undefined) ?? tmpdir(), folderOf(run)));
  const again = async (document: RunDocument) => {
    refuseOfDone(settings, document);
    if (!mark) await refuseLost([surely(target), duplicates], runs, document, append);
    await workOf(document).remove();
    return summaryOf(document, true);
  };
  // Without a lease, which would be written.
  if (before?.phase === 'done') return again(before);
  if (!mark && !append && before === null) {
    await refuseHeld(target);
    await refuseHeld(duplicates);
  }
  const field = mark ? (settings.markField ?? FIELD) : undefined;
  if (field !== undefined && before === null) await refuseMarked(source, field, settings, bson);
  // Not beyond the lease, after which the run is free anyway.
  await Promise.race([leaving.get(name), sleep(lease, undefined, UNHELD)]);
  const taken = await Run.take(runs, name, recipe, lease, field);
  let left = () => {};
  const released = new Promise<void>((resolve) => {
    left = resolve;
  });
  const leave = () => leaving.set(name, released);
  settings.signal?.addEventListener('abort', leave, { once: true });
  // While it was taken.
  if (settings.signal?.aborted) leave();
  try {
    const { document } = taken;
    // By another process, meanwhile.
    if (document.phase === 'done') return await again(document);
    const work = workOf(document);
    const hold = () => taken.hold();
    const isHashed = settings.texts === false || (!mark && fingerprint !== false);
    const made = isHashed ? await prints(settings, fingerprint || 'string') : undefined;
    const targets = mark ? undefined : ([surely(target), duplicates] as const);
    const sink =
      targets === undefined
        ? new Marks(surely(source), settings.markField ?? FIELD, document.run, hold, bson.EJSON)
        : new Collections(targets, document.run, hold, bson.EJSON, fingerprint ? made : undefined);
    const refuse = async () => {
      if (append) return;
      for (const collection of targets ?? []) await refuseHeld(collection, document.run);
    };
    const report = reporting(settings.onProgress);
    const { room } = await serverOf(target);
    const collated = await collatedOf([source, target, duplicates, ...(known ? [known] : [])]);
    const stage: Stage = {
      ...{ settings, source, targets, known, run: taken, work, sink, room, collated, refuse },
      ...{ bson, report },
    };
    const page = await goOn(stage, made);
    await work.remove();
    return { ...summaryOf(taken.document, false), ...given({ report: page }) };
  } finally {
    await taken.release();
    settings.signal?.removeEventListener('abort', leave);
    leaving.delete(name);
    left();
  }
}

async function goOn(stage: Stage, made: Prints | undefined): Promise<ReportSummary | undefined> {
  const { settings, run, refuse } = stage;
  const begun = performance.now();
  let page: ReportSummary | undefined;
  if (settings.texts === false && made !== undefined) {
    // Another run may have come to write first.
    if (run.document.lastId === undefined) await refuse();
    await pass(stage, made);
  } else {
    await readAndDecide(stage);
    if (run.document.position === 0) await refuse();
    await write(stage);
    page = await reported(stage);
    // Those of the decisions alone are in it.
    const seconds = (performance.now() - begun) / 1000;
    const { summary } = run.document;
    if (summary !== undefined) await run.note({ summary: { ...summary, seconds } });
  }
  await run.note({ phase: 'done', finished: new Date() });
  return page;
}

/** Goes on as far as the decisions, where they are not there yet. */
async function readAndDecide(stage: Stage): Promise<void> {
  const { run, work, sink } = stage;
  // Who takes the marks of a run out that did not end removes its folder too.
  const { folder } = run.document;
  if (folder !== work.folder) {
    // With another `tmp` it has read into another one, which nobody will look for again.
    await removeNoted(run.document);
    await run.note({ folder: work.folder });
  }
  await work.open();
  const decided = run.document.phase === 'write' && (await fileMark(work.path('decided')));
  const { bytes, changed } = run.document.decided ?? {};
  if (decided && decided.bytes === bytes && decided.changed === changed) return;
  // The decisions are gone, with another machine perhaps: all begins again, and what was written is taken back.
  if (run.document.phase === 'write') await sink.forgetBehind();
  const begun = { phase: 'read', position: 0, offset: 0, unmarked: 0, firstUnmarked: [] } as const;
  if (run.document.phase !== 'read') await run.note(begun);
  await decide(stage, await read(stage));
}

function reporting(
  onProgress: ((progress: CollectionProgress) => void) | undefined,
): (progress: CollectionProgress) => void {
  let last = Number.NEGATIVE_INFINITY;
  return (progress) => {
    const now = performance.now();
    if (onProgress === undefined || now - last < REPORT) return;
    last = now;
    onProgress(progress);
  };
}

function summaryOf(document: RunDocument, repeated: boolean): CollectionSummary {
  const { run, summary, lastId, countAtEnd, mark, unmarked = 0, firstUnmarked = [] } = document;
  return {
    ...(summary as Summary),
    ...{ run, repeated, countAtEnd: countAtEnd ?? 0 },
    ...given({ lastId }),
    ...(mark === undefined ? {} : { unmarked, firstUnmarked: [...firstUnmarked] }),
  };
}
