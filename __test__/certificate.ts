/** A certificate of one's own for servers on loopback, which nobody trusts who is not told to. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Folder } from './cli-run';

/** Why there is none. */
export const missing =
  spawnSync('openssl', ['version']).status === 0
    ? undefined
    : 'tests of the log over TLS are skipped: openssl is not installed (apt-get install openssl)';

// Reporters do not name what is skipped.
if (missing !== undefined) console.warn(missing);

/** Paths of a new certificate and its key. */
export function certified(folder: Folder): { readonly cert: string; readonly key: string } {
  const [cert, key] = [join(folder.path, 'cert.pem'), join(folder.path, 'key.pem')];
  const names = 'subjectAltName=DNS:localhost,IP:127.0.0.1';
  const how = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost'];
  const made = ['req', ...how, '-addext', names, '-keyout', key, '-out', cert];
  const { status, stderr } = spawnSync('openssl', made, { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return { cert, key };
}
