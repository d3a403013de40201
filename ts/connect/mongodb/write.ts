/** Writing: decisions from a file, into the target. */
import { given } from '../../given';
import { type Line, reasonAt } from './copy';
import { Overlap } from './overlap';
import type { Decided } from './sink';
import { BATCH, FIRST, IN_FLIGHT, KNOWN, type Stage } from './stage';
import { linesFrom } from './work';

/** Writes what was decided, from where an earlier process came to. */
export async function write(stage: Stage): Promise<void> {
  const { settings, run, work, sink, report, bson } = stage;
  const { signal, batch = BATCH } = settings;
  const { summary } = run.document;
  const total = (summary?.kept ?? 0) + (summary?.duplicates ?? 0);
  const idOf = (json: string) => bson.EJSON.parse(json, { relaxed: false });
  const parse = (line: string): Decided => {
    const { id, text, duplicateOf, similarity, distance } = JSON.parse(line) as Line;
    if (duplicateOf === undefined) return { id: idOf(id), text };
    const known = duplicateOf.startsWith(KNOWN);
    const of = idOf(known ? duplicateOf.slice(KNOWN.length) : duplicateOf);
    return { id: idOf(id), text, duplicate: { of, known, ...given({ similarity, distance }) } };
  };
  const behind = (from: number) => linesFrom(work.path('decided'), from, batch);
  // What may have been written behind the checkpoint.
  let begun = 0;
  for await (const { lines } of behind(run.document.offset)) {
    if (begun === IN_FLIGHT) break;
    begun += 1;
    await run.hold();
    await sink.forget(lines.map((line) => parse(line).id));
  }
  let { position, unmarked = 0, firstUnmarked = [] } = run.document;
  const overlap = new Overlap(IN_FLIGHT);
  try {
    for await (const { lines, end } of behind(run.document.offset)) {
      signal?.throwIfAborted();
      await run.hold();
      position += lines.length;
      const upTo = position;
      await overlap.push(
        () => sink.write(lines.map(parse)),
        async (left) => {
          unmarked += left.length;
          const named = left.slice(0, FIRST - firstUnmarked.length);
          const first = named.map(({ id, reason }) => {
            return reasonAt(bson.EJSON.stringify(id, { relaxed: false }), reason);
          });
          firstUnmarked = [...firstUnmarked, ...first];
          await run.note({ position: upTo, offset: end, unmarked, firstUnmarked });
          report({ stage: 'write', documents: upTo, total });
        },
      );
    }
  } finally {
    // Nothing is written any more when the run has failed.
    await overlap.settled();
  }
  await overlap.end();
}
