/** How a service publishes a snapshot while it goes on. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SimHashError } from '../../errors';
import type { SnapshotAbout, SnapshotStore } from '../log';
import { forked } from './applier';
import type { Service } from './options';
import type { Read } from './reach';
import { mustFollow, tidied } from './recent';
import type { State } from './state';

/** What a service has and does, as far as it is needed here. */
interface Publishing {
  readonly state: State;
  readonly service: Service;
  readonly read: Read;
  /** @throws Error where the service takes nothing now */
  readonly mustTake: () => void;
  /** Does something between two batches. */
  readonly atRest: <T>(work: () => T) => Promise<T>;
  readonly trim: (before: number) => Promise<void>;
}

/** Publishes the index as it is between two entries, and lets go of older snapshots and of the entries before them. */
export async function published(
  snapshots: SnapshotStore,
  publishing: Publishing,
): Promise<SnapshotAbout> {
  const { state, service, read, mustTake, atRest, trim } = publishing;
  // Beside the index, for elsewhere there may be less room, and there it is removed at the next start if it stays.
  const folder = await state.copying();
  try {
    const copy = () => {
      mustTake();
      return copied(state, folder);
    };
    const { link, log, history, written } = await atRest(copy);
    await written;
    await writeFile(join(folder, 'chain'), history, { mode: 0o600 });
    const name = `${String(link.position).padStart(16, '0')}-${link.hash.slice(0, 8)}`;
    const about = { name, ...link, log, recipe: service.recipe };
    await mustFollow(about, read);
    mustTake();
    await snapshots.publish(about, folder, state.owner);
    await trim(await tidied(about, service, read));
    return about;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Begins to copy the index, and says of which history it is. */
function copied({ chain, index, identity }: State, folder: string) {
  const { position } = chain.head;
  if (identity === undefined || position === 0) {
    throw new SimHashError('ERR_SIMHASH_LOG_LOST', 'nothing of the log was read yet');
  }
  if (index.position !== position) {
    // A batch that failed between the chain and the index.
    throw forked(`the index is at position ${index.position}, and its history at ${position}`);
  }
  const written = index.snapshot(join(folder, 'index'));
  return { link: chain.head, log: identity, history: chain.text(), written };
}
