/** What an index will cost, before anything is built. */
import { binding } from './binding';
import { native } from './errors';
import * as check from './options';

/** What to plan for. */
export interface PlanOptions {
  /** Largest Hamming distance, inclusive, 0 to 16. Default 3. */
  maxDistance?: number | undefined;
  /** Number of distinct fingerprints, 0 to 2^53 - 1. Default 1,000,000. */
  capacity?: number | undefined;
  /** `'auto'` (default), `'classic'` (k + 1 blocks), or a plan's name such as `'k3-t6'`. */
  plan?: 'auto' | 'classic' | (string & {}) | undefined;
}

/** A plan, and the expected cost of searching uniform fingerprints that lie in one segment. */
export interface PlanEstimate {
  /** Name of the plan. */
  plan: string;
  /** Distance assumed. */
  maxDistance: number;
  /** Distinct fingerprints assumed. */
  capacity: number;
  /** Sorted copies of the fingerprints. */
  tables: number;
  /** Bits of each table's prefix. */
  tableBits: Uint32Array;
  /** Bits of the shortest prefix. */
  prefixBits: number;
  /** Bits of a prefix, on average. */
  meanPrefixBits: number;
  /** Bytes per fingerprint of tables and directories. */
  tableBytes: number;
  /** Bytes per fingerprint of records and the map from fingerprints to ids. */
  idBytes: number;
  /** Bytes per fingerprint, all in all. A window adds 12 per document. */
  bytesPerFingerprint: number;
  /** Look-ups (probes) per search; 0 where it scans. */
  lookups: number;
  /** Fingerprints read per search. */
  candidates: number;
  /** Whether a search reads every fingerprint, because that is cheaper. */
  scans: boolean;
}

const PLAN: check.Checks<PlanOptions> = {
  maxDistance: check.integer(0, 16),
  capacity: check.id,
  plan: check.string,
};

/** Chooses a plan as an index would, and estimates it. */
export function plan(options: PlanOptions | undefined): PlanEstimate {
  const { maxDistance = 3, capacity = 1_000_000, plan = 'auto' } = check.checked(options, PLAN);
  const estimate = native(() => binding.plan(maxDistance, capacity, plan));
  return { ...estimate, bytesPerFingerprint: estimate.tableBytes + estimate.idBytes };
}
