/** All commands, in the order of help. */
import type { Command } from '../command';
import { clusters } from './clusters';
import { dedup } from './dedup';
import { evaluation } from './eval';
import { explain } from './explain';
import { fingerprint } from './fingerprint';
import { help } from './help';
import { indexAdd } from './index-add';
import { indexBuild } from './index-build';
import { indexQuery } from './index-query';
import { indexStats } from './index-stats';
import { match } from './match';
import { pairs } from './pairs';
import { plan } from './plan';
import { tuning } from './tune';
import { version } from './version';

export const commands: readonly Command[] = [
  dedup,
  clusters,
  pairs,
  match,
  indexBuild,
  indexAdd,
  indexQuery,
  indexStats,
  plan,
  fingerprint,
  explain,
  evaluation,
  tuning,
  help,
  version,
];
