/** All commands, in the order of help. */
import type { Command } from '../command';
import { clusters } from './clusters';
import { completion } from './completions';
import { dedup } from './dedup';
import { doctor } from './doctor';
import { evaluation } from './eval';
import { explain } from './explain';
import { fingerprint } from './fingerprint';
import { help } from './help';
import { indexAdd } from './index-add';
import { indexBuild } from './index-build';
import { indexCompact } from './index-compact';
import { indexConvert } from './index-convert';
import { indexExport } from './index-export';
import { indexQuery } from './index-query';
import { indexSnapshot } from './index-snapshot';
import { indexStats } from './index-stats';
import { indexVerify } from './index-verify';
import { match } from './match';
import { pairs } from './pairs';
import { plan } from './plan';
import { reporting } from './report';
import { segment } from './segment';
import { serving } from './serve';
import { sparkDedup } from './spark-dedup';
import { sparkMatch } from './spark-match';
import { tuning } from './tune';
import { unmarking } from './unmark';
import { version } from './version';

/** Commands that belong together, in the order of help. */
export interface Section {
  readonly title: string;
  readonly commands: readonly Command[];
}

export const sections: readonly Section[] = [
  { title: 'Near-duplicates', commands: [dedup, clusters, pairs, match, explain, unmarking] },
  {
    title: 'An index that stays',
    commands: [
      ...[indexBuild, indexAdd, indexQuery, indexStats, indexConvert, indexVerify],
      ...[indexCompact, indexSnapshot, indexExport],
    ],
  },
  { title: 'A server', commands: [serving] },
  { title: 'More than one machine', commands: [sparkDedup, sparkMatch] },
  { title: 'One text at a time', commands: [fingerprint, segment] },
  { title: 'Choosing options', commands: [plan, tuning, evaluation, reporting] },
  { title: 'This program', commands: [completion, doctor, help, version] },
];

export const commands: readonly Command[] = sections.flatMap(({ commands }) => commands);
