/** The ids of a batch that was added. */
import type { NativeAdded } from './native';

/** Ids of a batch: ascending, but for those of items whose key was there (`onSameKey: 'repeat'`). */
export interface Added {
  /** Id of the first item; of an empty batch the id that the next addition gets. */
  first: number;
  /** How many items were added, with `onSameKey: 'repeat'` those whose key was there among them. */
  count: number;
  /**
   * Id of each item, in order: `first`, `first + 1`, … `first + count - 1`, unless another call added something between two
   * items, as it may while an `…Async` batch is under way or where workers share an index, or the key of an item was there and
   * its first id is repeated. Made when it is first read, 8 bytes
   * for each; not enumerable.
   */
  readonly ids: Float64Array;
}

/** What the addon says of a batch, with its ids at hand. */
export function added({ first, count, ranges }: NativeAdded): Added {
  let made: Float64Array | undefined;
  const ids = () => {
    const all = new Float64Array(count);
    const stretches = ranges ?? [first, count];
    for (let [stretch, at] = [0, 0]; stretch < stretches.length; stretch += 2) {
      const [start = 0, length = 0] = stretches.slice(stretch, stretch + 2);
      for (let row = 0; row < length; row++) all[at++] = start + row;
    }
    return all;
  };
  return Object.defineProperty({ first, count } as Added, 'ids', {
    get: () => {
      made ??= ids();
      return made;
    },
  });
}
