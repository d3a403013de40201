/** Progress for people: a bar on a terminal, a line now and then elsewhere. */
import { bytes, count, duration } from './format';
import type { Terminal } from './terminal';

/** How far a run is. */
export interface Position {
  readonly documents: number;
  readonly bytes: number;
  /** `undefined` where a stream is among the inputs: then there is no share and no time left. */
  readonly totalBytes?: number | undefined;
  /** So far, where they are looked for. */
  readonly duplicates?: number | undefined;
  readonly pairs?: number | undefined;
  readonly matches?: number | undefined;
}

/** Between two lines where nothing can be drawn over, so that a log stays short. */
const LINE_INTERVAL_MS = 10_000;
const BAR_WIDTH = 20;
/** Between two fields. */
const GAP = '  ';

export class ProgressReport {
  readonly #terminal: Terminal;
  readonly #start = performance.now();
  #lastLine = this.#start;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Shows a position; calls may be as frequent as they like where the caller already limits them. */
  update(position: Position): void {
    this.#show((seconds, width) => describe(position, seconds, width));
  }

  #show(line: (seconds: number, width?: number) => string): void {
    const now = performance.now();
    const seconds = (now - this.#start) / 1000;
    if (this.#terminal.interactive) {
      // One less: a line that fills the last column moves the cursor to the next.
      this.#terminal.redraw(line(seconds, this.#terminal.width - 1));
    } else if (now - this.#lastLine >= LINE_INTERVAL_MS) {
      this.#lastLine = now;
      this.#terminal.say(line(seconds));
    }
  }

  /** Removes the bar, so that what follows starts on a clean line. */
  end(): void {
    if (this.#terminal.interactive) this.#terminal.redraw('');
  }
}

/**
 * One line: share, documents and bytes read per second (as they lie in the file), duplicates so far, time left. Where it
 * would be wider than `width`, whole fields are left out, the least wanted first; the time left stays to the last.
 */
export function describe(
  position: Position,
  seconds: number,
  width = Number.POSITIVE_INFINITY,
): string {
  const { documents, totalBytes } = position;
  const share = totalBytes ? Math.min(1, position.bytes / totalBytes) : undefined;
  const rate = (amount: number) => (seconds > 0 ? amount / seconds : 0);
  // In the order of the line, each with its rank: of two that do not fit together, the one of the lower number stays.
  const fields: { text: string; rank: number }[] = [];
  const add = (rank: number, text: string) => fields.push({ text, rank });
  if (share !== undefined) {
    const filled = Math.round(share * BAR_WIDTH);
    add(4, `[${'#'.repeat(filled)}${'-'.repeat(BAR_WIDTH - filled)}]`);
    add(1, `${Math.floor(share * 100)}%`.padStart(4));
  }
  add(2, `${count(documents)} documents`);
  add(5, `${count(Math.round(rate(documents)))}/s`);
  add(6, `read ${bytes(rate(position.bytes))}/s`);
  for (const name of ['duplicates', 'pairs', 'matches'] as const) {
    const found = position[name];
    if (found !== undefined) add(3, `${count(found)} ${name}`);
  }
  if (share !== undefined && share > 0) {
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
