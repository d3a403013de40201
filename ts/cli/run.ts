/** One run over files: its progress, how it is stopped, and what it says at its end. */
import { codeOf, EXIT } from './exit';
import { bytes, count, oneLine, plural } from './format';
import { interruptible } from './interrupt';
import { type Position, ProgressReport } from './progress';
import type { Terminal } from './terminal';
import { versions } from './version';

/** How a run is told of. */
export interface Told {
  readonly json: boolean;
  readonly quiet: boolean;
}

/** What every run counts. */
export interface Figures {
  readonly rejected: number;
  readonly firstRejected: readonly { file: string; line: number; reason: string }[];
  readonly leftovers?: readonly string[];
}

/** What a run is given to be stopped by, and to report to. */
export interface Watched {
  readonly signal: AbortSignal;
  readonly onProgress: (position: Position) => void;
}

/** One run. */
export interface Run<S> {
  /** Where data goes: `-` is standard output, and then the JSON goes to standard error. Absent: there is no data. */
  readonly output?: string | undefined;
  readonly start: (watched: Watched) => Promise<S>;
  /** The figures in what came back. */
  readonly figures: (result: S) => Figures;
  /** What the JSON summary says, beside the versions. */
  readonly summary: (result: S) => object;
  /** The summary for people. */
  readonly sentences: (result: S) => readonly string[];
}

/** Runs to the end; the result is the exit status. */
export function run<S>(
  { output, start, figures, summary, sentences }: Run<S>,
  { json, quiet }: Told,
  terminal: Terminal,
): Promise<number> {
  return interruptible(terminal, output, async (signal) => {
    const progress = quiet ? undefined : new ProgressReport(terminal);
    let result: S;
    try {
      result = await start({ signal, onProgress: (position) => progress?.update(position) });
    } catch (error) {
      // The reader of standard output, such as `head`, has what it wants.
      if (output === '-' && codeOf(error) === 'ERR_SIMHASH_PIPE') return EXIT.done;
      throw error;
    } finally {
      progress?.end();
    }
    const told = figures(result);
    rejections(told, terminal);
    if (json) {
      const text = JSON.stringify({ ...summary(result), versions: versions() });
      if (output === '-') terminal.say(text);
      else await terminal.write(`${text}\n`);
    } else if (!quiet) {
      for (const line of sentences(result)) terminal.say(line);
      for (const path of told.leftovers ?? [])
        terminal.say(`removed ${path}, which a killed run had left`);
    }
    return told.rejected > 0 ? EXIT.rejected : EXIT.done;
  });
}

/** Names the first rejected records, and says how many others there are. */
export function rejections({ rejected, firstRejected }: Figures, terminal: Terminal): void {
  for (const { file, line, reason } of firstRejected)
    terminal.say(`${file}:${line}: ${oneLine(reason)}`);
  const unnamed = rejected - firstRejected.length;
  if (unnamed > 0) terminal.say(`and ${plural(unnamed, 'more rejected record')}`);
}

/** How much was read, in what time. */
export function pace(summary: { readonly bytes: number; readonly seconds: number }): string {
  const { seconds } = summary;
  const rate = seconds > 0 ? summary.bytes / seconds : 0;
  return `${bytes(summary.bytes)} of lines in ${seconds.toFixed(2)} s (${bytes(rate)}/s)`;
}

/** What was read. */
export function readings(read: number, parts: Readonly<Record<string, number>>): string {
  const sum = Object.entries(parts).map(([name, part]) => `${name} ${count(part)}`);
  return `read ${count(read)} = ${sum.join(' + ')}`;
}

/** Which answers a limit cut. */
export function cut(truncated: number): string[] {
  return truncated > 0
    ? [`${plural(truncated, 'text')} had more candidates than were looked at`]
    : [];
}
