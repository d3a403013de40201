// Check-and-add of fingerprints under commit, beside the same tables in SQLite.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const BATCH = 1000;
const peer = fileURLToPath(new URL('peers/sqlite.py', import.meta.url));

export async function bench(options) {
  const { Index } = await import('../dist/index.mjs');
  const at = options.indexOf('--size');
  const size = at >= 0 ? Number(options[at + 1].replaceAll('_', '')) : 200_000;
  const folder = mkdtempSync(join(tmpdir(), 'simhash-stores-'));
  const rows = [];
  let missing;
  try {
    const path = join(folder, 'index');
    const index = await Index.open(path, { maxDistance: 3, texts: false, durability: 'commit' });
    const before = process.cpuUsage();
    const begin = performance.now();
    for (let from = 0; from < size; from += BATCH) {
      const values = new BigUint64Array(Math.min(BATCH, size - from));
      await index.checkAndAddManyAsync(crypto.getRandomValues(values));
    }
    const seconds = (performance.now() - begin) / 1000;
    const { user, system } = process.cpuUsage(before);
    await index.close();
    const bytes = readdirSync(path).reduce((sum, name) => sum + statSync(join(path, name)).size, 0);
    const own = { rate: size / seconds, processor: (user + system) / size, bytes: bytes / size };
    const other = sqlite(join(folder, 'sqlite'), size);
    const row = (what, name, unit, goal) =>
      rows.push({
        what,
        value: own[name],
        unit,
        ...(other.missing === undefined && {
          against: { what: 'SQLite', value: other[name], ratio: own[name] / other[name], goal },
        }),
      });
    missing = other.missing;
    row('acknowledged under commit', 'rate', 'documents/s', '>= 10');
    row('processor time', 'processor', 'us/document', '<= 0.1');
    row('disk', 'bytes', 'bytes/document');
  } finally {
    rmSync(folder, { recursive: true });
  }
  const without = missing === undefined ? '' : `; SQLite not measured: ${missing}`;
  const setup = `${size} fingerprints, k = 3, commits of ${BATCH}${without}`;
  return { bench: 'stores', setup, rows };
}

/** What Python's SQLite does, or why it could not be asked. */
function sqlite(path, size) {
  try {
    const said = execFileSync('python3', [peer, path, size, BATCH], { encoding: 'utf8' });
    const { seconds, processor, bytes } = JSON.parse(said);
    return { rate: size / seconds, processor: (processor * 1e6) / size, bytes: bytes / size };
  } catch (error) {
    return { missing: error.message.split('\n')[0] };
  }
}
