/** A corpus in memory that is searched: fingerprints propose, texts decide. */
import type { FingerprinterOptions, Text } from '..';
import { fill } from './fill';
import type { Intake } from './intake';
import type { Near, Search } from './near';
import { ALMOST_ONE } from './verdict';

export interface CorpusSearch {
  /** How texts become features. */
  readonly made: FingerprinterOptions;
  readonly maxDistance: number;
  /** Least similarity, by the default measure; 0 verifies nothing, and texts are not kept. */
  readonly minSimilarity: number;
  readonly limit: number | undefined;
  readonly threads: number;
}

/** Reads a corpus; what is near a text comes by falling similarity, then distance, then in the order of the corpus. */
export async function searchCorpus(
  intake: Intake,
  { made, maxDistance, minSimilarity, limit, threads }: CorpusSearch,
  signal: AbortSignal,
): Promise<Search> {
  const { Fingerprinter, Index, similarity: measure } = await import('../index.js');
  const fingerprinter = new Fingerprinter({ ...made, threads });
  const index = new Index({ ...made, maxDistance, verify: false, texts: false, threads });
  const verifies = minSimilarity > 0;
  const [ids, texts]: [string[], Text[]] = [[], []];
  const keep = ({ id, text }: { id: string; text: Text }) => {
    ids.push(id);
    if (verifies) texts.push(text);
  };
  await fill(index, intake, (batch) => batch.forEach(keep), signal);
  const name = (id: number) => ids[id] ?? `${id}`;
  return async (batch) => {
    const items = batch.map(({ text }) => text);
    // Verification decides who is nearest, so all candidates are needed.
    const most = verifies ? undefined : limit;
    const found = await index.searchManyAsync(items, { limit: most, signal });
    return items.map((text, row) => {
      const candidates = found.get(row);
      if (!verifies) {
        const matches = candidates.map(({ id, distance }) => ({ id: name(id), distance }));
        return { matches, truncated: found.isTruncated(row) };
      }
      const near: (Near & { similarity: number })[] = candidates
        .map(({ id, distance }) => {
          const similarity = measure(text, texts[id] ?? '', fingerprinter);
          return { id: name(id), similarity, distance };
        })
        .filter(({ similarity }) => similarity >= Math.min(minSimilarity, ALMOST_ONE));
      // Stable: candidates come by distance, then id.
      near.sort((a, b) => b.similarity - a.similarity);
      const matches = near.slice(0, limit);
      return { matches, truncated: matches.length < near.length };
    });
  };
}
