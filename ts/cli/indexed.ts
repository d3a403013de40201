/** What the commands on a saved index share. */
import { given } from '../given';
import type { NativeDescribed, NativeFilled } from '../native';
import type { OPTIONS } from '../option-table';
import type { Values } from './command';
import { UsageError } from './exit';
import { bytes, count, plural } from './format';
import {
  checkStreams,
  type execution,
  type fields,
  fieldsOf,
  type output,
  type rejects,
  type words,
  wordsOf,
} from './options';
import { pace, readings, run, type Watched } from './run';
import type { Terminal } from './terminal';

type Reading = Values<typeof fields & typeof execution & typeof rejects>;

/** The path that `--index` gives. */
export function required(
  { index }: { readonly index: string | undefined },
  command: string,
): string {
  if (index === undefined) {
    throw new UsageError(`${command} needs --index INDEX`, 'index build makes one');
  }
  return index;
}

/** What is read, as the addon takes it. */
export function readOf(inputs: readonly string[], values: Reading) {
  const { rejects, threads } = values;
  checkStreams(inputs, [rejects]);
  return { inputs, ...given({ rejects }), ...fieldsOf(values), threads };
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
        return { ...figures, index, ...described(made), ...about };
      },
      sentences: ({ summary, index: made }) => {
        const { read, kept: documents, rejected } = summary;
        return [readings(read, { documents, rejected }), sentence(made), pace(summary)];
      },
    },
    values,
    terminal,
  );
}

interface Query
  extends Reading,
    Values<typeof output>,
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
  const { output, limit, 'max-distance': maxDistance, 'min-similarity': minSimilarity } = values;
  const search = given({ limit, maxDistance, minSimilarity });
  const read = { ...readOf(inputs, values), output };
  const { queryIndexFile } = await import('../index-files.js');
  return run(
    {
      output,
      start: ({ signal, onProgress }) =>
        queryIndexFile(index, wordsOf(values), search, read, {
          signal,
          onProgress: ({ found: matches, ...at }) => onProgress({ ...at, matches }),
        }),
      figures: ({ summary }) => summary,
      summary: ({ summary }) => {
        const { read, documents, rejected, matched, edges: matches, truncated } = summary;
        const { seconds, bytes } = summary;
        const figures = { read, documents, rejected, matched, matches, truncated };
        const options = { ...search, threads: values.threads };
        return { ...figures, seconds, bytes, index, inputs, options };
      },
      sentences: ({ summary, index: asked }) => {
        const { read, documents, rejected, matched, edges, truncated } = summary;
        return [
          readings(read, { documents, rejected }),
          sentence(asked),
          `${plural(matched, 'document')} with ${count(edges)} matches, ${pace(summary)}`,
          ...(truncated > 0
            ? [`of ${plural(truncated, 'document')} a limit left something out`]
            : []),
        ];
      },
    },
    values,
    terminal,
  );
}

/** An index in a sentence. */
function sentence({ about, stats }: NativeDescribed): string {
  return `index of ${plural(stats.live, 'document')} by ${about.method}, ${bytes(stats.bytes)} in memory`;
}

/** An index in JSON. */
export function described({ about, madeBy, stats }: NativeDescribed) {
  const { method, verify, minSimilarity, texts } = about;
  return { ...given({ method, verify, minSimilarity }), texts, madeBy, stats };
}
