/** How the routes search an index. */
import type { Found, Match } from '..';
import type { Asked } from './engine';

/** Code units of the longest text that is searched for on the event loop: below it takes less than a millisecond or two. */
const SHORT = 4096;

export interface Searched {
  search(text: string, options: Asked): Found<Match>;
  searchManyAsync(
    texts: readonly string[],
    options: Asked,
  ): Promise<{ get(row: number): Found<Match> }>;
}

/** The documents near a text; other requests are answered meanwhile. */
export async function searched(index: Searched, text: string, asked: Asked): Promise<Found<Match>> {
  if (text.length <= SHORT) return index.search(text, asked);
  return (await index.searchManyAsync([text], asked)).get(0);
}
