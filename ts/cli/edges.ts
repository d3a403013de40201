/** One run of `pairs` or `match` over files, and what it says at its end. */
import type { EdgeProgress, MatchSummary, PairsSummary } from '..';
import { rejections } from './deduplicate';
import { codeOf, EXIT } from './exit';
import { interruptible } from './interrupt';
import { ProgressReport } from './progress';
import type { Told } from './summary';
import type { Terminal } from './terminal';
import { versions } from './version';

/** What a run is given to be stopped by, and to report to. */
export interface Watched {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: EdgeProgress) => void;
}

/** One run. */
export interface EdgeRun<S> {
  readonly output: string;
  /** What is looked for. */
  readonly what: 'pairs' | 'matches';
  /** What the JSON summary says beside the figures. */
  readonly about: object;
  readonly start: (watched: Watched) => Promise<S>;
  /** The summary for people. */
  readonly sentences: (summary: S) => readonly string[];
}

/** Runs to the end; the result is the exit status. */
export function seek<S extends PairsSummary | MatchSummary>(
  { output, what, about, start, sentences }: EdgeRun<S>,
  { json, quiet }: Told,
  terminal: Terminal,
): Promise<number> {
  return interruptible(terminal, output, async (signal) => {
    const progress = quiet ? undefined : new ProgressReport(terminal);
    const onProgress = ({ found, ...position }: EdgeProgress) =>
      progress?.update({ ...position, [what]: found });
    let summary: S;
    try {
      summary = await start({ signal, onProgress });
    } catch (error) {
      // The reader of standard output, such as `head`, has what it wants.
      if (output === '-' && codeOf(error) === 'ERR_SIMHASH_PIPE') return EXIT.done;
      throw error;
    } finally {
      progress?.end();
    }
    rejections(summary, terminal);
    if (json) {
      const text = JSON.stringify({ ...summary, ...about, versions: versions() });
      if (output === '-') terminal.say(text);
      else await terminal.write(`${text}\n`);
    } else if (!quiet) {
      for (const line of sentences(summary)) terminal.say(line);
    }
    return summary.rejected > 0 ? EXIT.rejected : EXIT.done;
  });
}
