/** What a run refuses before it writes anything: collections that would be read and written at once, and such as others use. */
import type { Collection } from 'mongodb';
import { SimHashError, typeError } from '../../errors';
import { beside, type Driver, isSame } from './open';
import type { RunDocument } from './run';
import type { Settings } from './settings';

/**
 * Refuses a source, or known documents, that the run would write to.
 *
 * @throws TypeError ERR_INVALID_ARG_VALUE
 */
export async function refuseWritten(
  source: Collection,
  target: Collection,
  known: Collection | undefined,
  mark: boolean,
): Promise<void> {
  if (!mark) {
    if (await isSame(source, target)) {
      throw invalid('target must not be the source: give mark to mark duplicates where they are');
    }
    if (await isSame(source, beside(target, 'duplicates'))) throw own('source', source);
  }
  const runs = beside(target, 'runs');
  for (const [name, read] of Object.entries({ source, known })) {
    if (read !== undefined && (await isSame(read, runs))) throw own(name, read);
  }
}

function own(name: string, collection: Collection): TypeError {
  const place = collection.namespace;
  return invalid(`${name} must not be ${place}, which a run into this target writes itself`);
}

/** Refuses a collection that holds documents, but for those of a run. */
export async function refuseHeld(collection: Collection, run?: string): Promise<void> {
  const query = run === undefined ? {} : { run: { $ne: run } };
  if ((await collection.findOne(query, { projection: { _id: 1 } })) === null) return;
  const message = `${collection.namespace} holds documents that are not of this run (this source, these options, this version): empty it, name another target, or give append`;
  throw new SimHashError('ERR_SIMHASH_TARGET', message);
}

/**
 * Refuses to say that a run is done whose documents are gone from the target: who starts the command again would take an empty collection for its result. It
 * is an error, and not a note, because a script looks at how a command ends; and it costs nobody anything who has removed them on purpose, for a run that is
 * done writes nothing when it is started again. Marks are not looked for: their duplicates are there to be deleted.
 *
 * The target of a run without `append` holds nothing else, so that the number that the server keeps tells at once whether to count, which takes as long
 * as the collection is large.
 */
export async function refuseLost(
  [kept, duplicates]: readonly [Collection, Collection],
  runs: Collection<RunDocument>,
  { _id, run, summary }: RunDocument,
  append: boolean,
): Promise<void> {
  const expected = [
    [kept, summary?.kept ?? 0, 'that it kept'],
    [duplicates, summary?.duplicates ?? 0, 'that it wrote of duplicates'],
  ] as const;
  for (const [collection, count, what] of expected) {
    if (!append && (await collection.estimatedDocumentCount()) >= count) {
      if (count === 0 || (await collection.findOne({ run }, { projection: { _id: 1 } }))) continue;
    }
    const there = await collection.countDocuments({ run });
    if (there >= count) continue;
    const [empty, record] = [kept.namespace, `{ _id: '${_id}' }`];
    const message = `run ${run} is done, but ${collection.namespace} holds ${there} of the ${count} documents ${what}: somebody has removed the others; nothing was written. To start over, remove what is left of the run in ${empty} and ${duplicates.namespace}, and its record ${record} from ${runs.namespace}`;
    throw new SimHashError('ERR_SIMHASH_TARGET', message);
  }
}

/**
 * Refuses to begin marking where a document that is read has the field of marks already: the run would end in the middle, with marks on some. Each write looks
 * at it again, and alone where a `limit` says how many are read: which these are is not known yet.
 */
export async function refuseMarked(
  source: Collection,
  field: string,
  { filter, limit }: Settings,
  bson: Driver['BSON'],
): Promise<void> {
  if (limit !== undefined) return;
  const marked = { [field]: { $exists: true } };
  const query = filter === undefined ? marked : { $and: [filter, marked] };
  const other = await source.findOne(query, { projection: { _id: 1 }, ...VALUES });
  if (other !== null) {
    throw ofOthers(source, field, bson.EJSON.stringify(other._id, { relaxed: false }));
  }
}

/** A document whose field of marks is not of the run. */
export function ofOthers(collection: Collection, field: string, id: string): SimHashError {
  const message = `${collection.namespace}: the document with _id ${id} has a field '${field}' that is not of this run; unmark the earlier run, or name another field`;
  return new SimHashError('ERR_SIMHASH_TARGET', message);
}

/** How one document is asked for, whatever the client has been told. */
const VALUES = { raw: false, useBigInt64: false } as const;

/** Refuses a collection of runs in which there is anything else: it belongs to somebody. */
export async function refuseOthers(runs: Collection<RunDocument>): Promise<void> {
  const parts = ['run', 'recipe', 'phase', 'lease.epoch'];
  const other = { $or: parts.map((part) => ({ [part]: { $exists: false } })) };
  if ((await runs.findOne(other, { projection: { _id: 1 } })) === null) return;
  const message = `${runs.namespace}, where runs record how far they are, holds other documents: name another target`;
  throw new SimHashError('ERR_SIMHASH_TARGET', message);
}

function invalid(message: string): TypeError {
  return typeError(message, 'ERR_INVALID_ARG_VALUE');
}
