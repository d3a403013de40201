/** What `serve` says on stderr when the state of a shared window changes. No text, no key and no password is in it. */
import type { SharedState } from '../connect/log';
import { redacted } from '../connect/url';

/** Each state with its error, and without. */
const SAID: Readonly<Record<SharedState, readonly [withError: string, without: string]>> = {
  ready: ['ready', 'ready: all entries of the log are applied, and checks are answered'],
  'catching-up': [
    'the log is not what it was; starting over from a snapshot or from its first entry',
    'catching up with the log; checks are answered late',
  ],
  lost: ['lost the log; checks are not answered until it is back', 'lost the log'],
  full: ['the disk is full; checks are refused, searches are answered', 'the disk is full'],
  broken: [
    'stopped; checks are refused until this is repaired and the server restarted',
    'stopped',
  ],
  closed: ['closed', 'closed'],
};

/** A line for a change; `undefined`: nothing needs to be said. */
export function sharedStateLine(state: SharedState, error: Error | undefined): string | undefined {
  if (state === 'closed') return undefined;
  const [withError, without] = SAID[state];
  if (error === undefined) return `shared window: ${without}`;
  const { code } = error as { code?: string };
  // The message of an error of another kind may quote what it is about.
  const isOurs = code?.startsWith('ERR_SIMHASH_') === true;
  const why = isOurs ? ` (${code}: ${redacted(error.message)})` : '';
  return `shared window: ${withError}${why}`;
}
