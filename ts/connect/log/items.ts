/** Documents as they are checked: given by a caller, weighed as the log takes them, and grouped into entries. */
import { rangeError } from '../../errors';
import { keyString } from '../../index-calls';
import * as check from '../../options';
import type { Checking } from './entry';
import { LONG, type Sketcher } from './sketch';

/** A document as it was given. */
type Own = readonly [text: string, key?: string];

/** A document as the log takes it, and its bytes there. */
export interface Weighed {
  readonly item: Checking;
  readonly weight: number;
}

/** Errors of documents that are longer than an entry may be: what they say, without the name of the document. */
const TOO_LONG = new WeakMap<object, string>();

/** What an error says of a document that is longer than an entry may be; none of others. */
export const tooLong = (error: unknown): string | undefined =>
  typeof error === 'object' && error !== null ? TOO_LONG.get(error) : undefined;

/** @throws TypeError for what is no text or no key */
export function given(
  texts: readonly string[],
  keys: readonly (string | undefined)[] | undefined,
): readonly Own[] {
  return texts.map((text, row) => {
    const own = check.string(text, `texts[${row}]`);
    const key = keys?.[row];
    return key === undefined ? [own] : [own, keyString(key, `keys[${row}]`)];
  });
}

/**
 * Long texts become sketches, where there are any.
 *
 * @throws RangeError for a document of more than `most` bytes
 */
export async function weighed(
  own: readonly Own[],
  sketch: Sketcher | undefined,
  most: number,
): Promise<Weighed[]> {
  const items = own.map(weigh);
  const rows = [...items.keys()].filter((row) => (items[row]?.weight ?? 0) > LONG);
  if (sketch !== undefined && rows.length > 0) {
    const sketches = await sketch(rows.map((row) => own[row]?.[0] ?? ''));
    for (const [at, row] of rows.entries()) {
      const [made, key] = [sketches[at], own[row]?.[1]];
      if (made !== undefined) items[row] = weigh(key === undefined ? [made] : [made, key]);
    }
  }
  for (const [row, { weight }] of items.entries()) {
    if (weight <= most) continue;
    const must = `must be of at most ${most} bytes as JSON with its key, got ${weight}`;
    const error = rangeError(`texts[${row}] ${must}`);
    TOO_LONG.set(error, must);
    throw error;
  }
  return items;
}

function weigh(item: Checking): Weighed {
  return { item, weight: Buffer.byteLength(JSON.stringify(item)) + 1 };
}

/** Parts of a call, each of which is one group of the batcher, and one entry at most. */
export function grouped(
  items: readonly Weighed[],
  { most, heaviest }: { readonly most: number; readonly heaviest: number },
): { items: Checking[]; weight: number }[] {
  const groups: { items: Checking[]; weight: number }[] = [];
  for (let from = 0; from < items.length; ) {
    let [to, weight] = [from, 0];
    while (to < items.length && to - from < most) {
      const more = items[to]?.weight ?? 0;
      if (to > from && weight + more > heaviest) break;
      weight += more;
      to += 1;
    }
    groups.push({ items: items.slice(from, to).map(({ item }) => item), weight });
    from = to;
  }
  return groups;
}
