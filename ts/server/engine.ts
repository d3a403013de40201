/** What the routes ask: an index of this process, or one that several services share. */
import type { Checked, Found, Match } from '..';

/** A document to be checked. */
export interface Item {
  readonly text: string;
  readonly key?: string;
  /** Milliseconds since 1970. */
  readonly at?: number;
}

/** What became of an item: an outcome, or why there is none. */
export type Decided = Checked | Error;

/** A document that is there already. */
export type Named = { readonly id: number } | { readonly key: string };

/** What a search is limited to. */
export interface Asked {
  readonly limit: number;
  readonly minSimilarity?: number;
}

export interface Engine {
  /** Whether documents have keys, and whether the caller may say their times. */
  readonly takes: { readonly keys: boolean; readonly times: boolean };
  /** Checks and adds items in their order; a group is answered whole. */
  check(items: readonly Item[]): Promise<readonly Decided[]>;
  search(text: string, asked: Asked): Promise<Found<Match>>;
  /** Whether there was such a document. */
  delete(named: Named): Promise<boolean>;
  stats(): object;
  /** Numbers for the metrics, by name. */
  gauges(): Readonly<Record<string, number>>;
  /** Why it takes no documents now, in words that are stable; empty: it does. */
  reasons(): Promise<readonly string[]>;
  /** Ends when all that was asked before is done, and the disk has it. */
  close(): Promise<void>;
}
