/** Where snapshots of a shared index are kept, for services that begin, or must begin again: a folder, or what a caller has. */
import { randomUUID } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SnapshotAbout, SnapshotStore } from '../log';

const ABOUT = 'snapshot.json';
const FILES = 'files';
/** What is being written begins so; it is no snapshot. */
const HIDDEN = '.making-';

/** Snapshots in a folder that all services reach, each in a folder of its own, which appears whole. */
export function folderStore(folder: string): SnapshotStore {
  return {
    async list() {
      await mkdir(folder, { recursive: true });
      const names = (await readdir(folder)).filter((name) => !name.startsWith('.'));
      const all = await Promise.all(names.map((name) => aboutOf(join(folder, name, ABOUT))));
      return all.filter((about) => about !== undefined);
    },
    async publish(about, from) {
      const making = join(folder, `${HIDDEN}${randomUUID()}`);
      await mkdir(folder, { recursive: true });
      try {
        await cp(from, join(making, FILES), { recursive: true });
        await writeFile(join(making, ABOUT), `${JSON.stringify(about)}\n`);
        await rename(making, join(folder, about.name));
      } catch (error) {
        // Somebody else has published the same position: it is the same snapshot.
        const { code } = error as NodeJS.ErrnoException;
        if (code !== 'ENOTEMPTY' && code !== 'EEXIST' && code !== 'EPERM') throw error;
        if ((await aboutOf(join(folder, about.name, ABOUT))) === undefined) throw error;
      } finally {
        await rm(making, { recursive: true, force: true });
      }
    },
    async fetch(name, to) {
      await cp(join(folder, name, FILES), to, { recursive: true, errorOnExist: true });
    },
    async remove(name) {
      // First out of sight, so that nobody begins to read what is being removed.
      const going = join(folder, `${HIDDEN}${randomUUID()}`);
      try {
        await rename(join(folder, name), going);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
        throw error;
      }
      await rm(going, { recursive: true, force: true });
    },
  };
}

async function aboutOf(file: string): Promise<SnapshotAbout | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch {
    return undefined;
  }
}
