/** One run over files: its progress, how it is stopped, and what it says at its end. */
import type { ReadAs, SameIds } from '../comparison';
import { codeOf, EXIT } from './exit';
import { bytes, count, oneLine, plural } from './format';
import { interruptible, type Stopped } from './interrupt';
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
  readonly stopped?: readonly string[];
  readonly encodings?: readonly ReadAs[];
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
  /** What people are told where it was stopped; absent: it begins anew. */
  readonly stopped?: Partial<Stopped> | undefined;
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
  { output, stopped, start, figures, summary, sentences }: Run<S>,
  { json, quiet }: Told,
  terminal: Terminal,
): Promise<number> {
  const work = async (signal: AbortSignal) => {
    const hidden = quiet || (output === '-' && terminal.isShared);
    const progress = hidden ? undefined : new ProgressReport(terminal);
    let result: S;
    try {
      result = await start({ signal, onProgress: (position) => progress?.update(position) });
    } catch (error) {
      // The reader of standard output, such as `head`, has what it wants.
      const code = codeOf(error);
      if (output === '-' && code === 'ERR_SIMHASH_PIPE') return EXIT.done;
      if (stopped?.next && code !== undefined && RESUMABLE.includes(code)) {
        terminal.say(stopped.next);
      }
      throw error;
    } finally {
      progress?.end();
    }
    const told = figures(result);
    if (!quiet) {
      for (const line of encodings(told.encodings ?? [])) terminal.say(line);
    }
    rejections(told, terminal);
    if (json) {
      const text = JSON.stringify({ ...summary(result), versions: versions() });
      if (output === '-') terminal.say(text);
      else await terminal.write(`${text}\n`);
    } else if (!quiet) {
      for (const line of sentences(result)) terminal.say(line);
      for (const path of told.leftovers ?? [])
        terminal.say(`removed ${path}, which a killed run had left`);
      for (const path of told.stopped ?? [])
        terminal.say(
          `${path} was left by another run, which stopped: run its command again with --resume, or delete the folder`,
        );
    }
    return told.rejected > 0 ? EXIT.rejected : EXIT.done;
  };
  return interruptible(terminal, output, work, stopped);
}

/** Errors after which a run can go on, once their cause is gone. */
const RESUMABLE: readonly string[] = [
  'ERR_SIMHASH_DISK_FULL',
  'ERR_SIMHASH_OUTPUT',
  'ERR_SIMHASH_MEMORY',
];

/** Inputs of one encoding that are named; more of them tell nothing new. */
const NAMED_INPUTS = 3;

/** Which inputs are not in UTF-8: a line for each folder, and one for all other inputs of an encoding. */
export function encodings(read: readonly ReadAs[]): string[] {
  const lines: string[] = [];
  const byEncoding = new Map<string, string[]>();
  for (const { file, encoding, files } of read) {
    if (files !== undefined) {
      const are = files === 1 ? 'is' : 'are';
      lines.push(`${plural(files, 'file')} of ${file} ${are} read as ${encoding}`);
    } else byEncoding.set(encoding, [...(byEncoding.get(encoding) ?? []), file]);
  }
  for (const [encoding, all] of byEncoding) {
    const named = all.slice(0, NAMED_INPUTS).join(', ');
    const [first, ...others] = all;
    lines.push(
      others.length === 0
        ? `${first} is read as ${encoding}`
        : `${plural(all.length, 'input')} are read as ${encoding}: ${named}${all.length > NAMED_INPUTS ? ', …' : ''}`,
    );
  }
  return lines;
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

/** Which documents cannot be told apart by their ids. */
export function named(sameIds: SameIds | undefined): string[] {
  if (sameIds === undefined) return [];
  const { documents, first } = sameIds;
  const has = documents === 1 ? 'has' : 'have';
  return [
    `${plural(documents, 'document')} ${has} the id of an earlier one; what names ids does not say which it means:`,
    ...first.map(
      ({ file, line, firstFile, firstLine }) =>
        `  ${file}:${line} that of ${firstFile}:${firstLine}`,
    ),
  ];
}

/** A run that tells no position: its time is shown while it takes. */
export function watched(
  terminal: Terminal,
  output: string | undefined,
  work: (signal: AbortSignal) => Promise<number>,
  hidden = false,
): Promise<number> {
  return interruptible(terminal, output, async (signal) => {
    const progress = hidden ? undefined : new ProgressReport(terminal);
    try {
      return await work(signal);
    } finally {
      progress?.end();
    }
  });
}
