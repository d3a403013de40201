/** A run by fingerprints that is stopped at one batch after the other, on any server. */
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  Collection,
  CommandStartedEvent,
  CommandSucceededEvent,
  Document,
  MongoClient,
} from 'mongodb';
import { expect } from 'vitest';
import { dedupCollection } from '../dist/connect/mongodb.js';
import { content } from './mongo-runs';

/** Batches that may be under way, and one that is read: who stops at one of the last of a run may find it at its end. */
const UNDER_WAY = 4;

/** What the record of a run says of how far it is. */
interface Noted {
  readonly counts: Document;
  readonly lastId: string;
}

/**
 * Stops a run when the server has taken the nth document, and sets its checkpoint back by as many batches as may be under way, as if it had been killed with
 * them; goes on with it, and compares what is left with that of an uninterrupted one: for each n, and for one that came to its end. A document is a
 * batch. The client must have been made with `monitorCommands`.
 *
 * @returns how many times it has stopped.
 */
export async function stoppedAtEachBatch(
  client: MongoClient,
  source: Collection,
  step = 1,
): Promise<number> {
  const db = client.db(source.dbName);
  const options = { texts: false, batch: 1, lease: 2000 } as const;
  const place = `${source.collectionName}.stopped`;
  const left = (name: string) =>
    Promise.all([db.collection(name), db.collection(`${name}.duplicates`)].map(content));
  const whole = await dedupCollection(source, db.collection(`${place}.whole`), options);
  const expected = await left(`${place}.whole`);
  const most = whole.kept + whole.duplicates - UNDER_WAY;
  const places = Array.from({ length: Math.ceil(most / step) }, (_, n) => 1 + n * step);
  for (const at of [...places, Number.POSITIVE_INFINITY]) {
    const name = `${place}.${at}`;
    const stopped = new AbortController();
    const [inserts, noted] = [new Set<number>(), [] as Noted[]];
    let written = 0;
    const started = ({ commandName, command, requestId }: CommandStartedEvent) => {
      const into = String(command['insert'] ?? command['update']);
      if (commandName === 'insert' && [name, `${name}.duplicates`].includes(into)) {
        inserts.add(requestId);
      }
      const { counts, lastId } = command['updates']?.[0]?.u?.$set ?? {};
      if (into === `${name}.runs` && counts !== undefined) noted.push({ counts, lastId });
    };
    const succeeded = ({ requestId }: CommandSucceededEvent) => {
      if (inserts.delete(requestId) && ++written === at) stopped.abort(new Error('enough'));
    };
    client.on('commandStarted', started).on('commandSucceeded', succeeded);
    try {
      const { signal } = stopped;
      const run = dedupCollection(source, db.collection(name), { ...options, signal });
      if (at <= most) await expect(run, `at ${at}`).rejects.toThrow('enough');
      else await run;
      // What is under way is written yet, and noted.
      const runs = db.collection(`${name}.runs`);
      while ((await runs.findOne({}))?.['lease'].until !== null) await sleep(5);
      const earlier = noted.at(-1 - UNDER_WAY);
      const gone = { summary: '', finished: '', countAtEnd: '' };
      await runs.updateOne(
        {},
        earlier === undefined
          ? { $set: { phase: 'read' }, $unset: { ...gone, counts: '', lastId: '' } }
          : { $set: { phase: 'pass', ...earlier }, $unset: gone },
      );
    } finally {
      client.off('commandStarted', started).off('commandSucceeded', succeeded);
    }
    const { read, kept, duplicates, rejected } = whole;
    expect(await dedupCollection(source, db.collection(name), options)).toMatchObject({
      ...{ repeated: false, read, kept, duplicates, rejected },
    });
    expect(await left(name)).toEqual(expected);
  }
  return places.length;
}
