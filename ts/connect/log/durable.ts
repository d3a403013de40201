/** Files that appear whole, and that a loss of power does not take away again. */
import { open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Puts a file in place of what is there under its name, if anything is, by one writer at a time. Resolves when the disk has it. */
export async function putFile(path: string, text: string): Promise<void> {
  const making = `${path}.new`;
  try {
    const file = await open(making, 'w', 0o600);
    await file
      .writeFile(text)
      .then(() => file.sync())
      .finally(() => file.close());
    await rename(making, path);
  } catch (error) {
    await rm(making, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/** The fields of what should be JSON; none where it is not: a file was torn, or is another one. */
export function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

/**
 * Gives a folder, all of whose files are written, its name. Resolves when the disk has it.
 *
 * @throws Error ENOTEMPTY or EEXIST (on Windows EPERM) where there is something under that name, which stays as it is
 */
export async function putFolder(making: string, path: string): Promise<void> {
  await syncAll(making);
  await rename(making, path);
  await syncFolder(dirname(path));
}

/** Resolves when the disk has all that is in a folder. */
export async function syncAll(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await syncAll(path);
    else await synced(path, 'r+');
  }
  await syncFolder(folder);
}

/** Resolves when the disk has the names in a folder. Windows has no such thing, and writes them by itself. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform !== 'win32') await synced(folder, 'r');
}

async function synced(path: string, flags: string): Promise<void> {
  const file = await open(path, flags);
  await file.sync().finally(() => file.close());
}
