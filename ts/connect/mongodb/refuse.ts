/** What a run refuses before it writes anything: collections that would be read and written at once, and such as others use. */
import type { Collection } from 'mongodb';
import { SimHashError, typeError } from '../../errors';
import { beside, isSame } from './open';
import type { RunDocument } from './run';

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
