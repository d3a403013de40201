/** Progress for people: a bar on a terminal, a line now and then elsewhere. */
import { bytes, count, duration } from './format';
import type { Terminal } from './terminal';

/** How far a run is. */
export interface Position {
  readonly documents: number;
  /** Absent where what is read are no files. */
  readonly bytes?: number;
  /** What is done with them, where a run has several steps: `read`, `written`. */
  readonly done?: string;
  /** All of them, in this step, where that is known and they are no files. */
  readonly total?: number | undefined;
  /** Those that were done when the clock of this step began, where it has one of its own. */
  readonly before?: number;
  /** `undefined` where a stream is among the inputs: then there is no share and no time left. */
  readonly totalBytes?: number | undefined;
  /** So far, where they are looked for. */
  readonly duplicates?: number | undefined;
  readonly pairs?: number | undefined;
  readonly matches?: number | undefined;
}

/** Between two lines where nothing can be drawn over, so that a log stays short. */
const LINE_INTERVAL_MS = 10_000;
/** Between two looks at the clock, where nothing else tells of the work. */
const TICK_MS = 1_000;
const BAR_WIDTH = 20;
/** Between two fields. */
const GAP = '  ';

/** Begins when it is made. A step that tells no position is shown by its time alone. */
export class ProgressReport {
  readonly #terminal: Terminal;
  readonly #start = performance.now();
  readonly #timer: NodeJS.Timeout;
  #lastLine = this.#start;
  #position: Position | undefined;
  /** When the position was the end of the input for the first time. */
  #allRead: number | undefined;
  /** The step of a run that has several: its first position, and when that was. A run that goes on begins with what an earlier process has done. */
  #step: { readonly done: string; readonly documents: number; readonly since: number } | undefined;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    this.#timer = setInterval(() => this.#show(), TICK_MS);
    this.#timer.unref();
  }

  /** Shows a position; calls may be as frequent as they like where the caller already limits them. */
  update(position: Position): void {
    this.#position = position;
    const { done, documents } = position;
    // Fewer than before: known documents were read first.
    const isNew = done !== this.#step?.done || documents < (this.#step?.documents ?? 0);
    if (done !== undefined && isNew) {
      this.#step = { done, documents, since: performance.now() };
    }
    if (isAllRead(position)) this.#allRead ??= performance.now();
    this.#show();
  }

  #show(): void {
    const now = performance.now();
    if (this.#terminal.interactive) {
      // One less: a line that fills the last column moves the cursor to the next.
      this.#terminal.redraw(this.#line(now, this.#terminal.width - 1));
    } else if (now - this.#lastLine >= LINE_INTERVAL_MS) {
      this.#lastLine = now;
      this.#terminal.say(this.#line(now));
    }
  }

  #line(now: number, width?: number): string {
    const seconds = (now - this.#start) / 1000;
    const position = this.#position;
    if (position === undefined) return `working  ${duration(seconds)}`;
    const since = this.#allRead === undefined ? 0 : (now - this.#allRead) / 1000;
    const step = this.#step;
    if (step === undefined) return describe(position, seconds, width, since);
    const before = { ...position, before: step.documents };
    return describe(before, (now - step.since) / 1000, width);
  }

  /** Removes the bar, so that what follows starts on a clean line. */
  end(): void {
    clearInterval(this.#timer);
    if (this.#terminal.interactive) this.#terminal.redraw('');
  }
}

/** What comes then takes a time that nobody knows: documents are decided, and outputs written. */
function isAllRead({ bytes = 0, totalBytes }: Position): boolean {
  return totalBytes !== undefined && totalBytes > 0 && bytes >= totalBytes;
}

/** From 0 to 1: of bytes where files are read, else of documents. */
function shareOf({ documents, bytes, totalBytes, total }: Position): number | undefined {
  if (totalBytes && bytes !== undefined) return Math.min(1, bytes / totalBytes);
  return total ? Math.min(1, documents / total) : undefined;
}

/**
 * One line: share, documents and bytes read per second (as they lie in the file), duplicates so far, time left. Where it
 * would be wider than `width`, whole fields are left out, the least wanted first; the time left stays to the last. When all is
 * read, for `since` seconds, there is no time left to be told, and that is said in its place.
 */
export function describe(
  position: Position,
  seconds: number,
  width = Number.POSITIVE_INFINITY,
  since = 0,
): string {
  const { documents, bytes: read, done, total, before } = position;
  const share = shareOf(position);
  const rate = (amount: number) => (seconds > 0 ? amount / seconds : 0);
  // In the order of the line, each with its rank: of two that do not fit together, the one of the lower number stays.
  const fields: { text: string; rank: number }[] = [];
  const add = (rank: number, text: string) => fields.push({ text, rank });
  if (share !== undefined) {
    const filled = Math.round(share * BAR_WIDTH);
    add(4, `[${'#'.repeat(filled)}${'-'.repeat(BAR_WIDTH - filled)}]`);
    add(1, `${Math.floor(share * 100)}%`.padStart(4));
  }
  add(2, `${count(documents)} documents${done === undefined ? '' : ` ${done}`}`);
  if (read !== undefined) {
    add(5, `${count(Math.round(rate(documents)))}/s`);
    add(6, `read ${bytes(rate(read))}/s`);
  } else if (before !== undefined && documents > before) {
    add(3, `${count(Math.round(rate(documents - before)))}/s`);
  }
  for (const name of ['duplicates', 'pairs', 'matches'] as const) {
    const found = position[name];
    if (found !== undefined) add(3, `${count(found)} ${name}`);
  }
  const each = before === undefined ? 0 : rate(documents - before);
  if (isAllRead(position)) add(0, `all read, finishing for ${duration(since)}`);
  else if (total !== undefined) {
    if (each > 0) add(0, `${duration(Math.max(0, total - documents) / each)} left`);
  } else if (share !== undefined && share > 0) {
    add(0, `${duration((seconds / share) * (1 - share))} left`);
  }
  let used = -GAP.length;
  const kept = new Set<string>();
  for (const { text } of [...fields].sort((a, b) => a.rank - b.rank)) {
    if (used + GAP.length + text.length > width) continue;
    used += GAP.length + text.length;
    kept.add(text);
  }
  return fields.flatMap(({ text }) => (kept.has(text) ? [text] : [])).join(GAP);
}
