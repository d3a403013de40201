// An index of sentences kept in a store of one's own: a LevelDB, or a Map.
import { KeptIndex } from '@x/simhash-native/level';
import { MemoryLevel } from 'memory-level';

/** The five methods of a store, over a Map. */
function storeOf(map) {
  const between = (first, last) => [...map].filter(([key]) => first <= key && key <= last);
  const byKey = ([a], [b]) => (a < b ? -1 : 1);
  return {
    get: async (key) => map.get(key),
    async *entries(first, last) {
      yield* between(first, last).sort(byKey);
    },
    put: async (entries) => entries.forEach(([key, value]) => map.set(key, value.slice())),
    delete: async (first, last) => between(first, last).forEach(([key]) => map.delete(key)),
    close: async () => {},
  };
}

const text = '望海港本月开通了一条直达南美西海岸的集装箱航线。单程二十三天，比绕行缩短一周。';
const [map, level] = [new Map(), new MemoryLevel()];
for (const [name, store] of [['Map', storeOf(map)], ['LevelDB', level]]) {
  const first = await KeptIndex.open(store);
  first.index.add(text);
  await first.flush();
  await first.close();
  // Another process opens what the store has.
  const again = await KeptIndex.open(store);
  console.log(name, again.index.search(`${text}（转载）`));
  await again.close();
}
