/** Taking marks out of a collection. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Collection } from 'mongodb';
import { JOB } from '../../fingerprinter';
import { given } from '../../given';
import * as check from '../../options';
import type { Unmarked, UnmarkOptions } from '../mongodb';
import { beside, connected, surely } from './open';
import { Run, type RunDocument } from './run';
import { FIELD, folderOf, LEASE } from './stage';
import { removeNoted, Work } from './work';

const OPTIONS: check.Checks<UnmarkOptions> = {
  ...JOB,
  markField: check.field,
  run: check.string,
};

/** See `unmark`. */
export async function takeBack(
  source: string | Collection,
  options: UnmarkOptions | undefined,
): Promise<Unmarked> {
  const how = check.checked<UnmarkOptions>(options, OPTIONS);
  return connected(how.signal, async (connections) => {
    return takeOut(await connections.collection(source, 'source'), how);
  });
}

async function takeOut(
  collection: Collection,
  { markField = FIELD, run: one, signal }: UnmarkOptions,
): Promise<Unmarked> {
  const runs = beside(collection, 'runs') as unknown as Collection<RunDocument>;
  const own = await runs.find({ mark: markField, ...given({ run: one }) }).toArray();
  const taken: Run[] = [];
  try {
    // A run that is at work goes on marking.
    for (const { _id, recipe } of own) {
      const run = await Run.take(runs, _id, recipe, LEASE);
      taken.push(run);
      signal?.throwIfAborted();
      // Done no longer, before the first mark is gone: who comes after a kill marks again, or takes out the rest.
      await run.note({ phase: 'read', position: 0, offset: 0 });
    }
    const ids = own.map(({ run }) => run);
    const marked = { [`${markField}.run`]: { $in: ids } };
    for (const run of taken) await run.hold();
    const { modifiedCount: documents } = await surely(collection).updateMany(marked, {
      $unset: { [markField]: '' },
    });
    // What is done once can be done again.
    await runs.deleteMany({ run: { $in: ids } });
    for (const { document } of taken) {
      await new Work(join(tmpdir(), folderOf(document.run))).remove();
      await removeNoted(document);
    }
    return { documents };
  } finally {
    await Promise.all(taken.map((run) => run.release()));
  }
}
