/** `explain --open`: two texts in a page of the browser. */
import type { ComparisonOptions } from '..';
import { type Browsing, browse } from '../explain/browse';
import { page } from '../explain/page';
import { type PairOptions, serve } from '../explain/server';
import type { Terminal } from './terminal';
import { versions } from './version';

/** Serves the page until it is closed or the signal comes. */
export async function opened(
  { about, ...options }: Omit<PairOptions, 'page'> & { readonly about: string },
  terminal: Terminal,
): Promise<void> {
  const { url, closed, end } = await serve({ ...options, page: page(about) });
  let browsing: Browsing | undefined;
  try {
    terminal.say(url);
    terminal.say('open this in a browser of this machine; closing the page ends the command');
    if (!options.signal.aborted) {
      browsing = browse(url, ({ message }) => terminal.say(`no browser was opened: ${message}`));
    }
    await closed;
  } finally {
    browsing?.forget();
    end();
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
