/** What a report is made of: JSON in the page, written by the addon (`figures`) and by the library (`run`). */
import type { RunAbout } from '../about';
import type { Unit } from './ticks';

export interface Share {
  readonly documents: number;
  readonly duplicates: number;
}

export interface Bar<N> extends Share {
  readonly name: N;
}

export interface Member {
  readonly similarity?: number;
  readonly distance?: number;
  /** Absent with all that follows where no input has the document. */
  readonly id?: string;
  readonly input?: number;
  readonly line?: number;
  /** Characters of the whole text. */
  readonly length?: number;
  /** As much of the text as is shown. */
  readonly text?: string;
}

export interface Example {
  readonly why: 'large' | 'near' | 'chance';
  readonly size: number;
  readonly members: readonly Member[];
}

export interface Figures {
  readonly areMatches: boolean;
  readonly all: Share;
  readonly others: number;
  readonly rejected: number;
  readonly unknown: number;
  readonly found: {
    readonly groups: number;
    readonly duplicates: number;
    readonly sizes: readonly (readonly [size: number, groups: number])[];
    readonly similarities: readonly number[];
    readonly distances: readonly number[];
    readonly unmeasured: number;
  };
  readonly inputs: {
    readonly bars: readonly Bar<string>[];
    readonly more: number;
    readonly others: Share;
  };
  readonly lengths: readonly Bar<number>[];
  readonly dates?: {
    readonly unit: Unit;
    readonly bars: readonly Bar<string>[];
    readonly undated: Share;
  };
  /** Of the inputs that examples are from, by number. */
  readonly names: Readonly<Record<number, string>>;
  readonly examples: readonly Example[];
}

export type Run = RunAbout;

/** The data of the page. */
export function read<T>(id: string): T {
  return JSON.parse(document.getElementById(id)?.textContent ?? 'null') as T;
}

/** A number that differs from report to report: FNV-1a of the data. What a browser stores is shared by all pages that are files. */
export function digest(id: string): string {
  let hash = 0x811c9dc5;
  for (const unit of document.getElementById(id)?.textContent ?? '') {
    hash = Math.imul(hash ^ (unit.codePointAt(0) ?? 0), 0x01000193);
  }
  return (hash >>> 0).toString(16);
}
