/** What the stages of a run over a collection work with. */
import type { Collection } from 'mongodb';
import type { CollectionProgress } from '../mongodb';
import type { Driver } from './open';
import type { Run } from './run';
import type { Settings } from './settings';
import type { Sink } from './sink';
import type { Work } from './work';

/** Milliseconds that a lease lasts by default. */
export const LEASE = 30_000;
/** The field of marks by default. */
export const FIELD = 'dedup';
/** Documents per command by default. */
export const BATCH = 2048;
/** Batches that are under way at a time. */
export const IN_FLIGHT = 3;
/** Begins the ids of known documents where they stand beside those of the source. */
export const KNOWN = 'known:';
/** Rejected documents that are named. */
export const FIRST = 10;

/** Everything that the stages work with. */
export interface Stage {
  readonly settings: Settings;
  readonly source: Collection;
  /** Where documents go; none where they are marked. */
  readonly targets: readonly [kept: Collection, duplicates: Collection] | undefined;
  readonly known: Collection | undefined;
  readonly run: Run;
  readonly work: Work;
  readonly sink: Sink;
  /** The server takes documents of fewer bytes than this. */
  readonly room: number;
  /** A collection of the run that compares texts by a collation, if there is one. */
  readonly collated: string | undefined;
  /** Throws where the target holds what is not of this run, which was empty when it began. */
  readonly refuse: () => Promise<void>;
  readonly bson: Driver['BSON'];
  readonly report: (progress: CollectionProgress) => void;
}

/** The name of the folder of a run. */
export const folderOf = (run: string): string => `simhash-mongodb-${run}`;
