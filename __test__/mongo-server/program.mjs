// The program of a server of MongoDB's protocol, for tests and benches.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCE = dirname(fileURLToPath(import.meta.url));
const CACHE = join(SOURCE, '..', '..', 'node_modules', '.cache', 'mongo-server');

/** Why there is no server of our own; `undefined`: there is. */
export const missing = (() => {
  try {
    execFileSync('go', ['version'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'MongoDB: skipped, a server is built with Go (https://go.dev), which is not installed';
  }
})();

/** The program, built where it is not there yet. */
export function program() {
  const files = ['main.go', 'go.mod', 'go.sum'].map((name) => readFileSync(join(SOURCE, name)));
  const name = createHash('sha256').update(Buffer.concat(files)).digest('hex').slice(0, 16);
  const path = join(CACHE, name);
  if (existsSync(path)) return path;
  mkdirSync(CACHE, { recursive: true });
  const made = `${path}.${process.pid}`;
  const flags = ['-tags', 'ferretdb_no_postgresql', '-trimpath', '-ldflags', '-s -w'];
  const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false' };
  const options = { cwd: SOURCE, env, stdio: ['ignore', 'ignore', 'inherit'] };
  execFileSync('go', ['build', ...flags, '-o', made, '.'], options);
  // Another process may have built it meanwhile: it is the same.
  renameSync(made, path);
  return path;
}
