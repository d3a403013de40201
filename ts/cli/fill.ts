/** Documents of an intake into an index, with their ids to where these are kept. */
import type { Index } from '..';
import type { Intake } from './intake';
import type { Document } from './records';

/** Adds all documents; `keep` is called with each batch before the next is read. */
export async function fill(
  index: Index<'simhash', false>,
  intake: Intake,
  keep: (batch: readonly Document[]) => void | Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  // While one batch is fingerprinted on the pool, this thread reads the next.
  let adding: Promise<unknown> = Promise.resolve();
  for await (const batch of intake.batches()) {
    await adding;
    adding = index.addManyAsync(
      batch.map(({ text }) => text),
      { signal },
    );
    // Awaited above or below; if reading fails before, that is the error that counts.
    adding.catch(() => {});
    await keep(batch);
  }
  await adding;
}
