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
}

/** Between two lines where nothing can be drawn over, so that a log stays short. */
const LINE_INTERVAL_MS = 10_000;
const BAR_WIDTH = 20;

export class ProgressReport {
  readonly #terminal: Terminal;
  readonly #start = performance.now();
  #lastLine = this.#start;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Shows a position; calls may be as frequent as they like where the caller already limits them. */
  update(position: Position): void {
    const now = performance.now();
    if (this.#terminal.interactive) {
      const line = describe(position, (now - this.#start) / 1000);
      this.#terminal.redraw(line.slice(0, this.#terminal.width - 1));
    } else if (now - this.#lastLine >= LINE_INTERVAL_MS) {
      this.#lastLine = now;
      this.#terminal.say(describe(position, (now - this.#start) / 1000));
    }
  }

  /** Removes the bar, so that what follows starts on a clean line. */
  end(): void {
    if (this.#terminal.interactive) this.#terminal.redraw('');
  }
}

/** One line: share, documents and bytes per second, time left, duplicates so far. */
export function describe(position: Position, seconds: number): string {
  const { documents, totalBytes, duplicates } = position;
  const share = totalBytes ? Math.min(1, position.bytes / totalBytes) : undefined;
  const rate = (amount: number) => (seconds > 0 ? amount / seconds : 0);
  const parts = [
    `${count(documents)} documents`,
    `${count(Math.round(rate(documents)))}/s`,
    `${bytes(rate(position.bytes))}/s`,
  ];
  if (duplicates !== undefined) parts.push(`${count(duplicates)} duplicates`);
  if (share === undefined) return parts.join('  ');
  const filled = Math.round(share * BAR_WIDTH);
  const bar = `[${'#'.repeat(filled)}${'-'.repeat(BAR_WIDTH - filled)}]`;
  if (share > 0) parts.push(`${duration((seconds / share) * (1 - share))} left`);
  return [bar, `${Math.floor(share * 100)}%`.padStart(4), ...parts].join('  ');
}
