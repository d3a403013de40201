/** What the commands on a saved index share. */

import type { Settled } from '..';
import { given } from '../given';
import type { NativeDescribed, NativeFilled } from '../native';
import type { OPTIONS } from '../option-table';
import type { Values } from './command';
import { bytes, count, plural } from './format';
import {
  checkStreams,
  type execution,
  type fields,
  fieldsOf,
  type output,
  type rejects,
  type separating,
  separatingOf,
  type words,
  wordsOf,
} from './options';
import { named, pace, readings, run, type Watched } from './run';
import type { Terminal } from './terminal';

type Reading = Values<typeof fields & typeof execution & typeof rejects>;

/** What is read, as the addon takes it. */
export function readOf(inputs: readonly string[], values: Reading) {
  const { rejects, threads } = values;
  checkStreams(inputs, [rejects]);
  return { inputs, ...given({ rejects }), form: fieldsOf(values), threads };
}

/** Fills an index and tells of it; `about` is what the summary says beside the figures. */
export function fillIndex(
  index: string,
  start: (watched: Watched) => Promise<NativeFilled>,
  about: object,
  values: Reading,
  terminal: Terminal,
): Promise<number> {
  return run(
    {
      start,
      figures: ({ summary }) => summary,
      summary: ({ summary, index: made }) => {
        const { read, kept: documents, rejected, seconds, bytes } = summary;
        const figures = { read, documents, rejected, seconds, bytes };
        return {
          ...figures,
          index,
          ...described(made),
          ...given({ settled: made.settled }),
          ...about,
        };
      },
      sentences: ({ summary, index: made }) => {
        const { read, kept: documents, rejected } = summary;
        return [
          ...settling(made.settled),
          readings(read, { documents, rejected }),
          sentence(made),
          pace(summary),
        ];
      },
    },
    values,
    terminal,
  );
}

interface Query
  extends Reading,
    Values<typeof output>,
    Values<typeof separating>,
    Values<typeof words>,
    Values<{
      'max-distance': typeof OPTIONS.maxDistance;
      'min-similarity': typeof OPTIONS.minSimilarity;
    }> {
  readonly limit: number | undefined;
}

/** Writes what of an index is near the documents of files. */
export async function queryIndex(
  index: string,
  inputs: readonly string[],
  values: Query,
  terminal: Terminal,
): Promise<number> {
  const { limit, 'max-distance': maxDistance, 'min-similarity': minSimilarity } = values;
  const search = given({ limit, maxDistance, minSimilarity });
  const { records, separates, output } = separatingOf(values);
  const read = { ...readOf(inputs, values), records, ...given({ output }) };
  const files = await import('../index-files.js');
  return run(
    {
      output,
      start: ({ signal, onProgress }) =>
        files.queryIndex(index, wordsOf(values), search, read, {
          signal,
          onProgress: ({ found: matches, ...at }) => onProgress({ ...at, matches }),
        }),
      figures: ({ summary }) => summary,
      summary: ({ summary }) => {
        const { read, documents, rejected, matched, edges: matches, truncated } = summary;
        const { seconds, bytes, encodings, leftovers, sameIds } = summary;
        const figures = { read, documents, rejected, matched, matches, truncated };
        const options = { ...search, ...records, threads: values.threads };
        const rest = { encodings, leftovers, ...given({ sameIds }) };
        return { ...figures, seconds, bytes, ...rest, index, inputs, options };
      },
      sentences: ({ summary, index: asked }) => {
        const { read, documents, rejected, matched, edges, truncated } = summary;
        return [
          readings(read, { documents, rejected }),
          sentence(asked),
          `${plural(matched, 'document')} with ${count(edges)} matches, ${pace(summary)}`,
          ...(separates ? [`${plural(documents - matched, 'document')} without`] : []),
          ...(truncated > 0
            ? [`of ${plural(truncated, 'document')} a limit left something out`]
            : []),
          ...named(summary.sameIds),
        ];
      },
    },
    values,
    terminal,
  );
}

/** What opening an index for writing has found of a run that was killed. */
export function settling(settled: Settled | undefined): string[] {
  if (settled === undefined) return [];
  const { counts, outputs } = settled;
  const named = outputs.length > 0 ? ` (${outputs.join(', ')})` : '';
  return [
    counts
      ? `an earlier run was killed while it was about to count; it counts now, and its outputs stand${named}`
      : `an earlier run was killed while it was about to count, and its outputs are gone or changed${named}: the index holds nothing of it`,
  ];
}

/** An index in a sentence. */
export function sentence({ about, stats }: NativeDescribed): string {
  return `index of ${plural(stats.live, 'document')} by ${about.method}, ${bytes(stats.bytes)} in memory`;
}

/** An index in JSON. */
export function described({ about, madeBy, stats }: NativeDescribed) {
  const { method, verify, minSimilarity, texts } = about;
  return { ...given({ method, verify, minSimilarity }), texts, madeBy, stats };
}
