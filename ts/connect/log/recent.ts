/** Which snapshots belong to a log as it is now: from which one a service begins, and which of them stay. */
import type { SnapshotAbout, SnapshotStore } from '../log';
import { Applier, forked } from './applier';
import type { Service } from './options';
import { lost, type Read } from './reach';
import { isFull } from './room';
import type { Fetched, State } from './state';

/**
 * Fetches the newest snapshot from which the log goes on; nothing of it stays where the signal comes before it is whole. One that cannot be fetched, because it was removed meanwhile or for any other reason,
 * is passed by.
 *
 * @throws SimHashError `ERR_SIMHASH_LOG_LOST`: there are some, and none could be fetched; try again. Error: the disk of this service is full
 */
export async function newest(
  state: State,
  { snapshots, recipe }: Service,
  read: Read,
  signal: AbortSignal,
): Promise<Fetched | undefined> {
  if (snapshots === undefined) return undefined;
  const { identity } = state;
  let unfetched: unknown;
  for (const about of await listed(snapshots)) {
    const isOurs = about.recipe === recipe && (about.log === identity || identity === undefined);
    if (!isOurs || !(await follows(about, read))) continue;
    try {
      return await state.fetch(about, signal);
    } catch (error) {
      if (isFull(error) || signal.aborted) throw error;
      // What was fetched and is no such index will not be one the next time.
      const { code } = error as { code?: string };
      if (code?.startsWith('ERR_SIMHASH_INDEX_') !== true) unfetched = error;
    }
  }
  if (unfetched !== undefined) throw lost('a snapshot', unfetched);
  return undefined;
}

/**
 * Lets go of the snapshots beyond those that are kept; the position before which the log may be trimmed. One of a history that the log has
 * forgotten is newer by its position alone: it counts for nothing.
 */
export async function tidied(
  own: SnapshotAbout,
  { snapshots, keepSnapshots }: Service,
  read: Read,
): Promise<number> {
  if (snapshots === undefined) return 0;
  const kept: SnapshotAbout[] = [];
  const gone: SnapshotAbout[] = [];
  for (const one of await listed(snapshots)) {
    if (one.log !== own.log) continue;
    // Where the log cannot be read this throws, and nothing is removed.
    if (await follows(one, read)) {
      (kept.length < keepSnapshots || one.name === own.name ? kept : gone).push(one);
    } else if (one.position <= own.position) {
      // One that is beyond may belong to what the log has not shown here yet.
      gone.push(one);
    }
  }
  await mustFollow(own, read);
  for (const { name } of gone) await snapshots.remove(name);
  return Math.min(own.position, ...kept.map(({ position }) => position));
}

/** @throws SimHashError `ERR_SIMHASH_LOG_CHAIN` where the log was restored from an older copy meanwhile */
export async function mustFollow(about: SnapshotAbout, read: Read): Promise<void> {
  if (await follows(about, read)) return;
  throw forked(`the log does not go on from position ${about.position} any more`);
}

const follows = async (about: SnapshotAbout, read: Read) =>
  Applier.follows(about, await read(about.position, 0, 2));

/** Snapshots, the newest first. */
async function listed(snapshots: SnapshotStore): Promise<SnapshotAbout[]> {
  try {
    return [...(await snapshots.list())].sort((a, b) => b.position - a.position);
  } catch (cause) {
    // That does not go away by itself.
    if ((cause as { code?: string }).code === 'ERR_SIMHASH_INDEX_DAMAGED') throw cause;
    throw lost('the list of snapshots', cause);
  }
}
