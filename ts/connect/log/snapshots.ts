/** Where snapshots of a shared index are kept, for services that begin, or must begin again: a folder, or what a caller has. */
import { randomUUID } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { SimHashError } from '../../errors';
import type { SnapshotAbout, SnapshotStore } from '../log';
import { parsed, putFile, putFolder } from './durable';

const ABOUT = 'snapshot.json';
const FILES = 'files';
/** What is being written or removed begins so, and then says by whom; it is no snapshot. */
const HIDDEN = '.making-';

const hidden = (owner: string) => `${HIDDEN}${owner}-`;

/** Snapshots in a folder that all services reach, each in a folder of its own, which appears whole. */
export function folderStore(folder: string): SnapshotStore {
  return {
    async list() {
      await mkdir(folder, { recursive: true });
      const names = (await readdir(folder)).filter((name) => !name.startsWith('.'));
      const all = await Promise.all(names.map((name) => aboutOf(folder, name)));
      const whole = all.filter((about) => about !== undefined && !(about instanceof Error));
      const damaged = all.find((about) => about instanceof Error);
      // With another one that is whole a service can begin.
      if (whole.length === 0 && damaged !== undefined) throw damaged;
      return whole as SnapshotAbout[];
    },
    async publish(about, from, owner = 'unknown') {
      const making = join(folder, `${hidden(owner)}${randomUUID()}`);
      await mkdir(folder, { recursive: true });
      try {
        await cp(from, join(making, FILES), { recursive: true });
        await putFile(join(making, ABOUT), `${JSON.stringify(about)}\n`);
        await putFolder(making, join(folder, about.name));
      } catch (error) {
        // Somebody else has published the same position: it is the same snapshot.
        const { code } = error as NodeJS.ErrnoException;
        if (code !== 'ENOTEMPTY' && code !== 'EEXIST' && code !== 'EPERM') throw error;
        const own = await aboutOf(folder, about.name);
        if (own === undefined || own instanceof Error) throw own ?? error;
      } finally {
        await rm(making, { recursive: true, force: true });
      }
    },
    async fetch(name, to) {
      await cp(join(folder, name, FILES), to, { recursive: true, errorOnExist: true });
    },
    async remove(name) {
      // First out of sight, so that nobody begins to read what is being removed.
      const going = join(folder, `${hidden('removed')}${randomUUID()}`);
      try {
        await rename(join(folder, name), going);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
        throw error;
      }
      await rm(going, { recursive: true, force: true });
    },
    async tidy(owner) {
      await mkdir(folder, { recursive: true });
      // What is to be removed is nobody's, and whoever comes may do it.
      const own = [hidden(owner), hidden('removed')];
      for (const name of await readdir(folder)) {
        if (!own.some((start) => name.startsWith(start))) continue;
        await rm(join(folder, name), { recursive: true, force: true });
      }
    },
  };
}

/** What a snapshot says of itself, or that it is damaged; `undefined`: it is no snapshot, or is gone. */
async function aboutOf(folder: string, name: string): Promise<SnapshotAbout | Error | undefined> {
  const file = join(folder, name, ABOUT);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch {
    return undefined;
  }
  const about = parsed(text) as Partial<SnapshotAbout>;
  const { position, hash, previous, log, recipe } = about;
  const isWhole = [hash, previous, log, recipe].every((part) => typeof part === 'string');
  if (isWhole && about.name === name && Number.isSafeInteger(position)) {
    return about as SnapshotAbout;
  }
  const then = `remove the folder ${join(folder, name)}: the next snapshot takes its place`;
  const why = `${file} is not whole, and does not say of which position it is; ${then}`;
  return new SimHashError('ERR_SIMHASH_INDEX_DAMAGED', why);
}
