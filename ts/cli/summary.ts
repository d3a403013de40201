/** What a command on an index says at its end: a sentence or two for people, or everything as JSON. */
import { EXIT } from './exit';
import { bytes, count } from './format';
import type { Intake } from './intake';
import type { Terminal } from './terminal';
import { versions } from './version';

export interface Told {
  readonly json: boolean;
  readonly quiet: boolean;
  /** Data goes to standard output, so that the JSON goes to standard error. */
  readonly streamed?: boolean;
}

/** Tells the summary; the result is the exit status. */
export async function conclude(
  intake: Intake,
  told: Told,
  terminal: Terminal,
  summary: object,
  sentences: readonly string[],
): Promise<number> {
  const { figures } = intake;
  if (told.json) {
    const text = JSON.stringify({ ...figures, ...summary, versions: versions() });
    if (told.streamed) terminal.say(text);
    else await terminal.write(`${text}\n`);
  } else if (!told.quiet) {
    const { read, documents, rejected, seconds } = figures;
    const rate = seconds > 0 ? figures.bytes / seconds : 0;
    terminal.say(
      `read ${count(read)} = documents ${count(documents)} + rejected ${count(rejected)}`,
    );
    for (const sentence of sentences) terminal.say(sentence);
    terminal.say(`${bytes(figures.bytes)} of lines in ${seconds.toFixed(2)} s (${bytes(rate)}/s)`);
  }
  return figures.rejected > 0 ? EXIT.rejected : EXIT.done;
}
