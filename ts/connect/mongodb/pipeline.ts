/** The stages of a run over a collection, each of which a later process goes on with. */
import { stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Collection, Document } from 'mongodb';
import { binding } from '../../binding';
import type { Summary } from '../../comparison';
import { dedupFiles } from '../../dedup-files';
import { SimHashError, typeError } from '../../errors';
import { FINGERPRINTER, Fingerprinter, type FingerprinterOptions } from '../../fingerprinter';
import { given } from '../../given';
import * as check from '../../options';
import type { CollectionProgress, CollectionSummary, Unmarked } from '../mongodb';
import {
  beside,
  Connections,
  type Driver,
  driver,
  isSame,
  placeOf,
  surely,
  withoutUser,
} from './open';
import { isOrdered } from './order';
import { inOrder } from './read';
import { nameOf, Run, type RunDocument } from './run';
import { recipeOf, type Settings } from './settings';
import { Collections, type Decided, Marks, type Sink } from './sink';
import { fileMark, LineFile, linesFrom, Work } from './work';

const BATCH = 2048;
const LEASE = 30_000;
/** Batches that are being written at a time. */
const IN_FLIGHT = 3;
/** Milliseconds between reports. */
const REPORT = 50;
const FIELD = 'dedup';
/** Begins the ids of known documents in the files of a run. */
const KNOWN = 'known:';

/** Everything that the stages work with. */
interface Stage {
  readonly settings: Settings;
  readonly source: Collection;
  readonly known: Collection | undefined;
  readonly run: Run;
  readonly work: Work;
  readonly sink: Sink;
  /** Throws where the target holds what is not of this run, which was empty when it began. */
  readonly refuse: () => Promise<void>;
  readonly ejson: Driver['BSON']['EJSON'];
  readonly report: (progress: CollectionProgress) => void;
}

/** See `dedupCollection`. */
export async function run(
  source: string | Collection,
  target: string | Collection | undefined,
  settings: Settings,
): Promise<CollectionSummary> {
  const connections = new Connections();
  try {
    settings.signal?.throwIfAborted();
    const { mark = false } = settings;
    if (mark !== (target === undefined)) {
      throw typeError(`target must ${mark ? 'be left out beside mark' : 'be given without mark'}`);
    }
    const from = await connections.collection(source, 'source');
    const to = target === undefined ? from : await connections.collection(target, 'target');
    if (!mark && isSame(from, to)) {
      const message = 'target must not be the source: give mark to mark duplicates where they are';
      throw typeError(message, 'ERR_INVALID_ARG_VALUE');
    }
    const known =
      settings.known === undefined
        ? undefined
        : await connections.collection(settings.known, 'known');
    return await begun(from, to, known, settings);
  } catch (error) {
    throw withoutUser(error);
  } finally {
    await connections.close();
  }
}

async function begun(
  source: Collection,
  target: Collection,
  known: Collection | undefined,
  settings: Settings,
): Promise<CollectionSummary> {
  const { mark = false, append = false, fingerprint = 'string', lease = LEASE } = settings;
  const { EJSON } = (await driver()).BSON;
  const places = [source, target, ...(known ? [known] : [])].map(placeOf);
  const filter = EJSON.stringify(settings.filter ?? {}, { relaxed: false });
  const recipe = recipeOf(places, settings, filter, binding.version());
  const runs = beside(target, 'runs') as unknown as Collection<RunDocument>;
  const duplicates = beside(target, 'duplicates');
  const name = nameOf(recipe);
  if (!mark && !append && (await Run.find(runs, name)) === null) {
    await refuseHeld(target);
    await refuseHeld(duplicates);
  }
  const field = mark ? (settings.markField ?? FIELD) : undefined;
  const taken = await Run.take(runs, name, recipe, lease, field);
  try {
    const { document } = taken;
    const folder = (settings.tmp as string | undefined) ?? tmpdir();
    const work = await Work.open(join(folder, folderOf(document.run)));
    if (document.phase === 'done') {
      await work.remove();
      return summaryOf(document, true);
    }
    const hold = () => taken.hold();
    const targets = [surely(target), duplicates] as const;
    const sink =
      field === undefined
        ? new Collections(targets, document.run, hold, await fingerprints(settings, fingerprint))
        : new Marks(surely(source), field, document.run, hold);
    const refuse = async () => {
      if (mark || append) return;
      for (const collection of targets) await refuseHeld(collection, document.run);
    };
    const report = reporting(settings.onProgress);
    const stage: Stage = {
      ...{ settings, source, known, run: taken, work, sink, refuse },
      ...{ ejson: EJSON, report },
    };
    await goOn(stage);
    await work.remove();
    return summaryOf(taken.document, false);
  } finally {
    await taken.release();
  }
}

/** Refuses a collection that holds documents, but for those of a run. */
async function refuseHeld(collection: Collection, run?: string): Promise<void> {
  const query = run === undefined ? {} : { run: { $ne: run } };
  if ((await collection.findOne(query, { projection: { _id: 1 } })) === null) return;
  const message = `${collection.namespace} holds documents that are not of this run (this source, these options, this version): empty it, name another target, or give append`;
  throw new SimHashError('ERR_SIMHASH_TARGET', message);
}

async function goOn(stage: Stage): Promise<void> {
  const { run, work, sink, refuse } = stage;
  const decided = run.document.phase === 'write' && (await fileMark(work.path('decided')));
  const { bytes, changed } = run.document.decided ?? {};
  if (!decided || decided.bytes !== bytes || decided.changed !== changed) {
    // The decisions are gone, with another machine perhaps: all begins again, and what was written is taken back.
    if (run.document.phase === 'write') await sink.forgetAll();
    if (run.document.phase !== 'read') await run.note({ phase: 'read', position: 0, offset: 0 });
    await read(stage);
    await decide(stage);
  }
  // Another run may have come to write first.
  if (run.document.position === 0) await refuse();
  await write(stage);
  await run.note({ phase: 'done', finished: new Date() });
}

/** Reads the collections into files, from where an earlier process came to. */
async function read(stage: Stage): Promise<void> {
  const { settings, source, known, run, work } = stage;
  if (known !== undefined)
    await copy(stage, known, [work.path('known'), work.path('unknown')], KNOWN, {});
  const lastId = await copy(
    stage,
    source,
    [work.path('source'), work.path('rejected')],
    '',
    settings.filter ?? {},
  );
  const { filter } = settings;
  const countAtEnd = await (filter === undefined
    ? source.estimatedDocumentCount()
    : source.countDocuments(filter));
  await run.note({ phase: 'decide', countAtEnd, ...given({ lastId }) });
}

/**
 * Appends the documents of a collection to a file, and those without a text to another one; gives the last id. Numbers go on through both.
 * What is behind the last text in the file of the others is read once more: which of them was written last nobody knows.
 */
async function copy(
  stage: Stage,
  collection: Collection,
  [path, others]: readonly [string, string],
  prefix: string,
  filter: Document,
): Promise<string | undefined> {
  const { settings, run, report, ejson } = stage;
  const { textFields, signal, batch = BATCH, limit = Number.POSITIVE_INFINITY } = settings;
  const { file, last } = await LineFile.open(path);
  const most = prefix === '' ? limit : Number.POSITIVE_INFINITY;
  let [count, lastId]: [number, string | undefined] = [0, undefined];
  let without: LineFile | undefined;
  try {
    if (last !== undefined) {
      const line = JSON.parse(last) as Line;
      [count, lastId] = [line.number, line.id.slice(prefix.length)];
    }
    await cutBehind(others, count);
    without = (await LineFile.open(others)).file;
    const total = await collection.estimatedDocumentCount();
    const fields = [...textFields, ...keepFields(settings)];
    const projection = { _id: 1, ...Object.fromEntries(fields.map((field) => [field, 1])) };
    const from = lastId === undefined ? undefined : { id: ejson.parse(lastId, { relaxed: false }) };
    const flush = async () => {
      // Before anything is written: another process may write to these files now.
      await run.hold();
      await without?.write();
      await file.write();
    };
    if (count < most) {
      const reading = { filter, projection, batch, signal };
      for await (const document of inOrder(collection, reading, from)) {
        const { _id } = document;
        lastId = ejson.stringify(_id, { relaxed: false });
        if (!isOrdered(_id)) {
          const message = `${collection.namespace}: a document with _id ${lastId}, of a type that cannot be gone on behind: leave it out by filter`;
          throw new SimHashError('ERR_SIMHASH_INPUT', message);
        }
        count += 1;
        const reason = reasonOf(document, settings);
        const id = prefix + lastId;
        if (reason === undefined) file.push(lineOf(document, count, id, settings));
        else without.push(JSON.stringify({ number: count, id, reason } satisfies Without));
        if (count % batch === 0 || file.isFull) {
          await flush();
          report({ stage: 'read', documents: count, total });
        }
        if (count === most) break;
      }
    }
    await flush();
    await without.sync();
    await file.sync();
    report({ stage: 'read', documents: count });
  } finally {
    await file.close();
    await without?.close();
  }
  return lastId;
}

/** Cuts off the lines behind a number. */
async function cutBehind(path: string, number: number): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return;
  let end = 0;
  for await (const { lines, end: behind } of linesFrom(path, 0, 1)) {
    if (behind > found.size || !isUpTo(lines[0] ?? '', number)) break;
    end = behind;
  }
  await truncate(path, end);
}

function isUpTo(line: string, most: number): boolean {
  try {
    return (JSON.parse(line) as Without).number <= most;
  } catch {
    return false;
  }
}

/** A line of a document without a text. */
interface Without {
  readonly number: number;
  readonly id: string;
  readonly reason: string;
}

/** Why a document has no text; `undefined`: it has one. */
function reasonOf(document: Document, { textFields }: Settings): string | undefined {
  for (const field of textFields) {
    const value = fieldOf(document, field);
    if (value === undefined) return `no field ${field}`;
    if (typeof value !== 'string') return `field ${field} is ${check.show(value)}, not a string`;
  }
  return undefined;
}

/** A line of the files of a run. */
interface Line {
  /** From 1, in the order of reading. */
  number: number;
  /** The `_id` as extended JSON. */
  id: string;
  text: string;
  duplicateOf?: string;
  similarity?: number;
  distance?: number;
}

function lineOf(document: Document, number: number, id: string, settings: Settings): string {
  const text = settings.textFields.map((field) => fieldOf(document, field)).join('\n');
  const kept = keepFields(settings).map((field) => [KEEP, plain(fieldOf(document, field))]);
  return JSON.stringify({ number, id, text, ...Object.fromEntries(kept) });
}

/** The field of a line that the keep rule looks at. */
const KEEP = 'keep';

function keepFields({ keep }: Settings): string[] {
  if (keep === 'newest') return ['date'];
  return typeof keep === 'object' ? [keep.field] : [];
}

function fieldOf(document: Document, field: string): unknown {
  return field.split('.').reduce<unknown>((value, name) => {
    return typeof value === 'object' && value !== null
      ? (value as Record<string, unknown>)[name]
      : undefined;
  }, document);
}

/** A value of BSON as one of JSON: texts and numbers as they are, dates as texts, of others the kind alone. */
function plain(value: unknown): unknown {
  if (value === undefined || value === null || typeof value === 'boolean') return value;
  if (typeof value === 'string' || typeof value === 'number') return value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (Array.isArray(value)) return [];
  const { _bsontype: type } = value as { _bsontype?: string };
  if (type === 'Int32' || type === 'Double') return Number(value);
  return type === 'Long' ? JSON.parse(String(value)) : {};
}

/** Decides all documents. */
async function decide(stage: Stage): Promise<void> {
  const { settings, source, known, run, work, report } = stage;
  const {
    textField: _text,
    textFields: _texts,
    filter: _filter,
    limit: _limit,
    known: _known,
    append: _append,
    mark: _mark,
    markField: _field,
    fingerprint: _fingerprint,
    batch: _batch,
    lease: _lease,
    onProgress: _progress,
    tmp: _tmp,
    keep,
    ...compared
  } = settings;
  const order = typeof keep === 'object' ? keep.order : undefined;
  const rule = keepFields(settings).length > 0 ? { field: KEEP, ...given({ order }) } : keep;
  const options = {
    ...compared,
    ...given({ keep: rule }),
    mark: true,
    format: 'jsonl',
    encoding: 'utf-8',
    maxRecord: 2 ** 30,
    tmp: work.folder,
    ...(known === undefined ? {} : { known: work.path('known') }),
    onProgress: ({ documents }: { documents: number }) => report({ stage: 'decide', documents }),
  } as const;
  const [from, to] = [work.path('source'), work.path('decided')];
  const anew = (error: unknown) => {
    // What was read has grown since.
    if (!(error instanceof SimHashError) || !BEGIN_ANEW.includes(error.code)) throw error;
    return dedupFiles(from, to, options);
  };
  const summary = await dedupFiles(from, to, { ...options, resume: true }).catch(anew);
  const { rejected, first } = await without(work, source.namespace);
  await run.note({
    phase: 'write',
    summary: {
      ...summary,
      read: summary.read + rejected,
      rejected: summary.rejected + rejected,
      firstRejected: [...first, ...summary.firstRejected].slice(0, FIRST),
    },
    position: 0,
    offset: 0,
    ...given({ decided: await fileMark(to) }),
  });
}

/** What the checkpoint of a run over files says that is not of the same files. */
const BEGIN_ANEW: readonly string[] = ['ERR_SIMHASH_INPUT_CHANGED', 'ERR_SIMHASH_INDEX_MISMATCH'];
/** Rejected documents that are named. */
const FIRST = 10;

/** The documents without a text: how many, and the first of them. */
async function without(
  work: Work,
  collection: string,
): Promise<{ rejected: number; first: Summary['firstRejected'] }> {
  const first: Summary['firstRejected'] = [];
  let rejected = 0;
  for await (const { lines } of linesFrom(work.path('rejected'), 0, BATCH)) {
    for (const line of lines.slice(0, FIRST - first.length)) {
      const { number, id, reason } = JSON.parse(line) as Without;
      first.push({ file: collection, line: number, reason: `_id ${id}: ${reason}` });
    }
    rejected += lines.length;
  }
  return { rejected, first };
}

/** Writes what was decided, from where an earlier process came to. */
async function write(stage: Stage): Promise<void> {
  const { settings, run, work, sink, report, ejson } = stage;
  const { signal, batch = BATCH } = settings;
  const { summary } = run.document;
  const total = (summary?.kept ?? 0) + (summary?.duplicates ?? 0);
  let { position } = run.document;
  const parse = (line: string): Decided => {
    const { id, text, duplicateOf, similarity, distance } = JSON.parse(line) as Line;
    const _id = ejson.parse(id, { relaxed: false });
    if (duplicateOf === undefined) return { id: _id, text };
    const known = duplicateOf.startsWith(KNOWN);
    const of = ejson.parse(known ? duplicateOf.slice(KNOWN.length) : duplicateOf, {
      relaxed: false,
    });
    return { id: _id, text, duplicate: { of, known, ...given({ similarity, distance }) } };
  };
  // What may have been written behind the checkpoint.
  let behind = 0;
  for await (const { lines } of linesFrom(work.path('decided'), run.document.offset, batch)) {
    if (behind === IN_FLIGHT) break;
    behind += 1;
    await run.hold();
    await sink.forget(lines.map((line) => parse(line).id));
  }
  // Batches are noted in their order.
  let noted: Promise<void> = Promise.resolve();
  const [open, writing] = [new Set<Promise<void>>(), new Set<Promise<void>>()];
  let failure: { readonly error: unknown } | undefined;
  try {
    for await (const { lines, end } of linesFrom(
      work.path('decided'),
      run.document.offset,
      batch,
    )) {
      signal?.throwIfAborted();
      await run.hold();
      const [written, before] = [sink.write(lines.map(parse)), noted];
      writing.add(written);
      written.finally(() => writing.delete(written)).catch(() => {});
      position += lines.length;
      const upTo = position;
      noted = Promise.all([written, before]).then(async () => {
        await run.note({ position: upTo, offset: end });
        report({ stage: 'write', documents: upTo, total });
      });
      const settled = noted.then(
        () => {},
        (error) => {
          failure ??= { error };
        },
      );
      open.add(settled);
      settled.finally(() => open.delete(settled));
      if (open.size >= IN_FLIGHT) await Promise.race(open);
      if (failure) break;
    }
  } finally {
    // Nothing is written any more when the run has failed.
    await Promise.allSettled([...open, ...writing]);
  }
  if (failure) throw failure.error;
}

/** What the fingerprints of texts are written as. */
async function fingerprints(
  settings: Settings,
  as: 'string' | 'long' | false,
): Promise<((texts: string[]) => Promise<unknown[]>) | undefined> {
  if (as === false) return undefined;
  const { Long } = await driver();
  const names = Object.keys(FINGERPRINTER) as (keyof FingerprinterOptions)[];
  const options = Object.fromEntries(names.map((name) => [name, settings[name]]));
  const fingerprinter = new Fingerprinter(options);
  const cut = [settings.cutAfter ?? []].flat();
  return async (texts) => {
    const found = await fingerprinter.fingerprintManyAsync(
      texts.map((text) => cutAt(text, cut)),
      given({ signal: settings.signal }),
    );
    return Array.from(found, (value) => {
      if (value === undefined) return null;
      if (as === 'long') return Long.fromBigInt(BigInt.asIntN(64, value));
      return value.toString(16).padStart(16, '0');
    });
  };
}

/** A text up to where the first of these begins. */
function cutAt(text: string, patterns: readonly string[]): string {
  const places = patterns.map((pattern) => text.indexOf(pattern)).filter((at) => at >= 0);
  return places.length === 0 ? text : text.slice(0, Math.min(...places));
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

function summaryOf({ run, summary, lastId, countAtEnd }: RunDocument, repeated: boolean) {
  return {
    ...(summary as Summary),
    run,
    repeated,
    countAtEnd: countAtEnd ?? 0,
    ...given({ lastId }),
  };
}

/** The name of the folder of a run. */
const folderOf = (run: string): string => `simhash-mongodb-${run}`;

/** See `unmark`. */
export async function takeBack(
  source: string | Collection,
  { markField = FIELD, run: one }: { markField?: string | undefined; run?: string | undefined },
): Promise<Unmarked> {
  const connections = new Connections();
  try {
    const collection = await connections.collection(source, 'source');
    const runs = beside(collection, 'runs') as unknown as Collection<RunDocument>;
    const own = await runs.find({ mark: markField, ...given({ run: one }) }).toArray();
    const taken: Run[] = [];
    try {
      // A run that is at work goes on marking.
      for (const { _id, recipe } of own) taken.push(await Run.take(runs, _id, recipe, LEASE));
      const ids = own.map(({ run }) => run);
      const marked = { [`${markField}.run`]: { $in: ids } };
      const { modifiedCount: documents } = await surely(collection).updateMany(marked, {
        $unset: { [markField]: '' },
      });
      // What is done once can be done again.
      await runs.deleteMany({ run: { $in: ids } });
      for (const id of ids) await (await Work.open(join(tmpdir(), folderOf(id)))).remove();
      return { documents };
    } finally {
      await Promise.all(taken.map((run) => run.release()));
    }
  } catch (error) {
    throw withoutUser(error);
  } finally {
    await connections.close();
  }
}
