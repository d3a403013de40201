/** `explain --open`: two texts in a page of the browser. */
import type { ComparisonOptions, Explanation } from '..';
import { browse } from '../pair/browse';
import { page } from '../pair/page';
import { type PairOptions, serve } from '../pair/server';
import type { PairTold } from '../pair/told';
import type { Terminal } from './terminal';
import { versions } from './version';

/** Serves the page until it is closed or the signal comes. */
export async function opened(
  { about, ...options }: Omit<PairOptions, 'page'> & { readonly about: string },
  terminal: Terminal,
): Promise<void> {
  const { url, closed } = await serve({ ...options, page: page(about) });
  const browsing = browse(url);
  try {
    terminal.say(url);
    terminal.say(
      `${browsing.isTried ? 'opening the browser' : 'open this in a browser of this machine'}; closing the page ends the command`,
    );
    await closed;
  } finally {
    browsing.forget();
  }
  options.signal.throwIfAborted();
}

/** What texts are compared by, in a line. */
export function about(options: ComparisonOptions): string {
  const { method, minSimilarity, maxDistance } = options;
  const by = [
    `method ${method}`,
    minSimilarity === undefined ? undefined : `similarity from ${minSimilarity}`,
    maxDistance === undefined ? undefined : `distance up to ${maxDistance}`,
  ];
  const { 'simhash-native': version } = versions();
  return `simhash-native ${version} · ${by.filter((part) => part !== undefined).join(', ')}`;
}

/** What the page shows. */
export function pairTold(
  { fingerprints, distance, similarity, shared, onlyA, onlyB, differingBits }: Explanation,
  duplicates: boolean,
  reason: string,
): PairTold {
  return {
    duplicates,
    reason,
    similarity,
    ...(distance === undefined ? {} : { distance }),
    fingerprints: fingerprints.map((one) => one?.toString(16).padStart(16, '0') ?? null),
    shared: shared.length,
    onlyA: onlyA.map(({ token }) => token),
    onlyB: onlyB.map(({ token }) => token),
    differingBits,
  };
}
