/** Taking marks out of a collection. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Collection } from 'mongodb';
import { given } from '../../given';
import type { Unmarked } from '../mongodb';
import { beside, Connections, surely, withoutUser } from './open';
import { Run, type RunDocument } from './run';
import { FIELD, folderOf, LEASE } from './stage';
import { Work } from './work';

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
      for (const id of ids) await new Work(join(tmpdir(), folderOf(id))).remove();
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
