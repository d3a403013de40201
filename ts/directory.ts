/** An index in a folder: how it is opened, and what there is on the disk. */
import type { Settled } from './comparison';
import { about, typeError } from './errors';
import { given } from './given';
import type { NativeIndexOptions } from './native';
import * as check from './options';

/** How the folder of an index is opened. */
export interface DirectoryOptions {
  /**
   * When a change counts as kept. `'commit'`: when the disk has it; it survives the end of the process and a power cut, a call waits for two
   * flushes, which calls at the same time share, and has to be one that returns a promise. `'interval'` (default): when the operating system has it; it survives the
   * end of the process, `kill -9` too, and the disk has it at the end of the next flush, which begins `flushInterval` after the last one has ended. `'none'`: the same, and the disk has it when the
   * system likes. After a crash what is left is always a prefix of the changes, in order.
   */
  durability?: 'commit' | 'interval' | 'none' | undefined;
  /** Milliseconds from the end of a flush to the next one, 1 to 3,600,000. Default 1,000. Only with `durability: 'interval'`. */
  flushInterval?: number | undefined;
  /** Whether an index is made where there is none. Default true. */
  create?: boolean | undefined;
  /**
   * Opens the index only to ask it, while this process or another one writes to it: `refresh` shows what the writer has changed since. Changes
   * throw `ERR_SIMHASH_READ_ONLY`. Default false.
   */
  readOnly?: boolean | undefined;
  /**
   * Whether what method `'simhash'` looks up stays in the file of the checkpoint, which is mapped: an index of 50 million fingerprints answers a
   * few seconds after it was opened, and several readers share its memory. Each block of 64 KiB is checked when it is first touched; damage is an error of that call.
   * `false` (default) reads and checks everything at once, and is for file systems where others may cut files. Other methods refuse `true`.
   */
  mmap?: boolean | undefined;
}

/** What there is on the disk. */
export interface DurableStats {
  /** The folder. */
  path: string;
  /** Bytes of the checkpoint: the index as a whole, as it once was. */
  checkpointBytes: number;
  /** Bytes of the changes since, which who opens the folder makes again. */
  logBytes: number;
  /** Bytes of changes for which the next checkpoint is written. */
  logBytesLimit: number;
  /** Bytes that opening cut off: an incomplete last change, which a crash had interrupted, and changes behind it, which do not count without it. */
  tornBytes: number;
  /** Why the last checkpoint could not be written; changes go on into the log. */
  checkpointError?: string;
  /** What opening found of a run of `dedupFiles` with `index` whose process was killed while it was about to count. */
  settled?: Settled;
}

export const DIRECTORY: check.Checks<DirectoryOptions> = {
  durability: check.choice('commit', 'interval', 'none'),
  flushInterval: check.integer(1, 3_600_000),
  create: check.boolean,
  readOnly: check.boolean,
  mmap: check.boolean,
};

/** Those of a new index in memory: a folder's options are refused. */
const openOnly = check.notHere('is for Index.open: an index that is made in memory has no folder');
export const NO_DIRECTORY = {
  durability: openOnly,
  flushInterval: openOnly,
  create: openOnly,
  readOnly: openOnly,
  mmap: openOnly,
};

/** Checked options as the addon takes them. */
export function nativeDirectory(options: DirectoryOptions): Partial<NativeIndexOptions> {
  const { durability, flushInterval, create, readOnly, mmap } = options;
  if (flushInterval !== undefined && (durability ?? 'interval') !== 'interval') {
    const why = "must be left out unless durability is 'interval'";
    throw about(typeError(`flushInterval ${why}`, 'ERR_INVALID_ARG_VALUE'), 'flushInterval');
  }
  if (readOnly && durability !== undefined) {
    const why = 'must be left out beside readOnly: true, which writes nothing';
    throw about(typeError(`durability ${why}`, 'ERR_INVALID_ARG_VALUE'), 'durability');
  }
  return given({ durability, flushInterval, create, readOnly, mmap });
}
