// npm run test:long: what takes too long for every day. The doors on all of the real corpora, where they are.
import { spawnSync } from 'node:child_process';

const args = ['test', '--release', '-p', 'simhash-dedup', '--test', 'doors', '--', '--nocapture'];
const { status } = spawnSync('cargo', args, {
  stdio: 'inherit',
  env: { ...process.env, SIMHASH_LONG: '1' },
});
process.exitCode = status ?? 1;
