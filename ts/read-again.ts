/** Whether what a path names can be read more than once. */
import { statSync } from 'node:fs';

/** Whether this is a file or folder, which can be read again. */
export function canBeReadAgain(path: string): boolean {
  const about = path === '-' ? undefined : statSync(path, { throwIfNoEntry: false });
  // What is not there by this name is a pattern of names.
  if (about === undefined) return path !== '-' && /[*?[]/.test(path);
  return about.isFile() || about.isDirectory();
}
