/** All commands, in the order of help. */
import type { Command } from '../command';
import { dedup } from './dedup';
import { explain } from './explain';
import { fingerprint } from './fingerprint';
import { help } from './help';
import { version } from './version';

export const commands: readonly Command[] = [dedup, fingerprint, explain, help, version];
