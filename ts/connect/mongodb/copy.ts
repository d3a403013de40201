/** Reading: the documents of collections, as lines of the files of a run. */
import { stat, truncate } from 'node:fs/promises';
import type { Collection, Document } from 'mongodb';
import type { Summary } from '../../comparison';
import { SimHashError } from '../../errors';
import { given } from '../../given';
import { isIdExact } from './decoded';
import { fieldOf, jsonOf, keepFields, projectionOf, reasonOf, textOf } from './document';
import { isOrdered, typeOf } from './order';
import { ahead } from './overlap';
import { inOrder } from './read';
import type { Settings } from './settings';
import { BATCH, FIRST, KNOWN, type Stage } from './stage';
import { LineFile, linesFrom, type Work } from './work';

/** A line of the files of a run. */
export interface Line {
  /** From 1, in the order of reading. */
  number: number;
  /** The `_id` as extended JSON. */
  id: string;
  text: string;
  duplicateOf?: string;
  similarity?: number;
  distance?: number;
}

/** A line of a document that cannot be used. */
interface Without {
  readonly number: number;
  readonly id: string;
  readonly reason: string;
}

/** The fields of a line that the keep rule looks at, and a report. */
export const [KEEP, DATE] = ['keep', 'date'] as const;

/** Reads the collections into files, from where an earlier process came to; gives how many documents of the source that are, those that cannot be used too. */
export async function read(stage: Stage): Promise<number> {
  const { settings, source, known, run, work } = stage;
  if (known !== undefined) {
    await copy(stage, known, [work.path('known'), work.path('unknown')], KNOWN, {});
  }
  const files = [work.path('source'), work.path('rejected')] as const;
  const { lastId, count } = await copy(stage, source, files, '', settings.filter ?? {});
  await run.note({
    phase: 'decide',
    countAtEnd: await countOf(source, settings.filter),
    ...given({ lastId }),
  });
  return count;
}

const ignore = () => {};

/** A count is found in the answer of the server, whatever the client has been told of documents. */
const COUNTED = { raw: false, promoteValues: true, useBigInt64: false } as const;

/** Documents of a collection, or those that a filter leaves, now. */
export function countOf(collection: Collection, filter: Document | undefined): Promise<number> {
  return filter === undefined
    ? collection.estimatedDocumentCount(COUNTED)
    : collection.countDocuments(filter, COUNTED);
}

/**
 * @param collated - A collection of the run that compares texts by a collation.
 * @throws SimHashError ERR_SIMHASH_INPUT for an `_id` behind which nobody could go on.
 */
export function refuseUnordered(
  document: Document,
  id: string,
  collection: Collection,
  collated: string | undefined,
): void {
  const { _id } = document;
  if (!isIdExact(document)) {
    const message = `${collection.namespace}: a document with _id ${id}, which has bytes that are not UTF-8, so that nothing can be asked for behind it: leave it out by filter`;
    throw new SimHashError('ERR_SIMHASH_INPUT', message);
  }
  if (isOrdered(_id)) {
    const type = typeOf(_id);
    if (collated === undefined || (type !== 'string' && type !== 'object')) return;
    const message = `${collection.namespace}: a document with _id ${id}, but ${collated} has a collation by default, and so another order of texts; copy it into a collection without one`;
    throw new SimHashError('ERR_SIMHASH_INPUT', message);
  }
  const message = `${collection.namespace}: a document with _id ${id}, of a type that cannot be gone on behind: leave it out by filter`;
  throw new SimHashError('ERR_SIMHASH_INPUT', message);
}

/**
 * Appends the documents of a collection to a file, and those that cannot be used to another one; gives the last id and its number. Numbers go on through both.
 * What is behind the last text in the file of the others is read once more: which of them was written last nobody knows. While lines are
 * made of one answer of the server, the next one is under way.
 */
async function copy(
  stage: Stage,
  collection: Collection,
  [path, others]: readonly [string, string],
  prefix: string,
  filter: Document,
): Promise<{ lastId: string | undefined; count: number }> {
  const { settings, run, report, bson } = stage;
  const { signal, batch = BATCH, limit = Number.POSITIVE_INFINITY } = settings;
  const { file, last } = await LineFile.open(path);
  const most = prefix === '' ? limit : Number.POSITIVE_INFINITY;
  const isWritten = prefix === '' && settings.mark !== true;
  let [count, lastId]: [number, string | undefined] = [0, undefined];
  let without: LineFile | undefined;
  try {
    if (last !== undefined) {
      const line = JSON.parse(last) as Line;
      [count, lastId] = [line.number, line.id.slice(prefix.length)];
    }
    await cutBehind(others, count);
    without = (await LineFile.open(others)).file;
    // For people: it is not waited for. How many a filter leaves nobody knows who has not read them all.
    let total: number | undefined;
    if (Object.keys(filter).length === 0) {
      countOf(collection, undefined).then((documents) => {
        total = Math.min(most, documents);
      }, ignore);
    }
    const from =
      lastId === undefined ? undefined : { id: bson.EJSON.parse(lastId, { relaxed: false }) };
    const flush = async () => {
      // Before anything is written: another process may write to these files now.
      await run.hold();
      await without?.write();
      await file.write();
    };
    const reading = { filter, projection: projectionOf(settings), batch, signal };
    if (count < most) {
      for await (const documents of ahead(inOrder(collection, reading, from))) {
        for (const document of documents.slice(0, most - count)) {
          lastId = bson.EJSON.stringify(document['_id'], { relaxed: false });
          refuseUnordered(document, lastId, collection, stage.collated);
          count += 1;
          const reason = reasonOf(document, lastId, stage, isWritten);
          const id = prefix + lastId;
          if (reason === undefined) file.push(lineOf(document, count, id, settings));
          else without.push(JSON.stringify({ number: count, id, reason } satisfies Without));
          if (file.isFull) await flush();
        }
        await flush();
        signal?.throwIfAborted();
        report({ stage: 'read', documents: count, ...given({ total }) });
        if (count === most) break;
      }
    }
    await flush();
    await without.sync();
    await file.sync();
    report({ stage: 'read', documents: count, total: count });
  } finally {
    await file.close();
    await without?.close();
  }
  return { lastId, count };
}

/** A document as a line of the files of a run. */
export function lineOf(document: Document, number: number, id: string, settings: Settings): string {
  const line = JSON.stringify({ number, id, text: textOf(document, settings) });
  const [field] = keepFields(settings);
  const more = [
    [KEEP, field],
    [DATE, settings.dateField],
  ] as const;
  // By hand: a number keeps digits that a double has no room for.
  return more.reduce((line, [name, field]) => {
    const value = field === undefined ? undefined : jsonOf(fieldOf(document, field));
    return value === undefined ? line : `${line.slice(0, -1)},"${name}":${value}}`;
  }, line);
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

/** The documents that cannot be used: how many, and the first of them. */
export async function without(
  work: Work,
  collection: string,
): Promise<{ rejected: number; first: Summary['firstRejected'] }> {
  const first: Summary['firstRejected'] = [];
  let rejected = 0;
  for await (const { lines } of linesFrom(work.path('rejected'), 0, BATCH)) {
    for (const line of lines.slice(0, FIRST - first.length)) {
      const { number, id, reason } = JSON.parse(line) as Without;
      first.push({ file: collection, line: number, reason: reasonAt(id, reason) });
    }
    rejected += lines.length;
  }
  return { rejected, first };
}

/** Characters of an id that a reason shows. */
const SHOWN = 200;

/** What is said of a document that cannot be used. */
export function reasonAt(id: string, reason: string): string {
  return `_id ${id.length > SHOWN ? `${id.slice(0, SHOWN)}…` : id}: ${reason}`;
}
