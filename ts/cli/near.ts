/** For each document of an intake the documents near it, a JSON line each: what `match` and `index query` write. */
import { count, plural } from './format';
import { Intake, type IntakeOptions } from './intake';
import { openOutput } from './output';
import type { Document } from './records';
import { conclude, type Told } from './summary';
import type { Terminal } from './terminal';

/** A document near another. */
export interface Near {
  readonly id: string;
  readonly similarity?: number;
  readonly distance?: number;
}

/** What is near one document. */
export interface Neighbours {
  /** The nearest first. */
  readonly matches: readonly Near[];
  /** A limit left some out. */
  readonly truncated: boolean;
}

/** Finds what is near each document of a batch. */
export type Search = (batch: readonly Document[]) => Promise<readonly Neighbours[]>;

export interface NearOptions extends IntakeOptions, Told {
  readonly output: string;
}

/**
 * Writes a line per document of `inputs`. `open` is called once before the first is read; `sources` are the files that it
 * reads, which the output must not replace; `about` is what the summary says of them.
 */
export async function writeNear(
  inputs: readonly string[],
  sources: readonly string[],
  values: NearOptions,
  terminal: Terminal,
  signal: AbortSignal,
  about: object,
  open: () => Promise<Search>,
): Promise<number> {
  const intake = new Intake(inputs, values, terminal, signal);
  const out = openOutput(values.output, [...inputs, ...sources], terminal, signal);
  try {
    const search = await open();
    let [matched, matches] = [0, 0];
    for await (const batch of intake.batches()) {
      const found = await search(batch);
      let lines = '';
      for (const [row, { id }] of batch.entries()) {
        const { matches: near = [], truncated } = found[row] ?? {};
        lines += `${JSON.stringify({ id, matches: near, truncated: truncated || undefined })}\n`;
        matches += near.length;
        if (near.length > 0) matched++;
      }
      await out.write(lines);
    }
    await out.commit();
    const streamed = values.output === '-';
    const summary = { ...about, matched, matches, inputs };
    return await conclude(intake, { ...values, streamed }, terminal, summary, [
      `${plural(matched, 'document')} with ${count(matches)} matches`,
    ]);
  } finally {
    out.discard();
  }
}
