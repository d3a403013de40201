// Is each text, as it comes, a near-duplicate of one of the last two days?
import { Index } from '@x/simhash-native';

const DAY = 86_400_000;
const index = new Index({ keys: true, window: { maxAge: 2 * DAY } });

const news = [
  { at: Date.UTC(2026, 0, 1), key: 'a', text: '望海港本月开通了一条直达南美西海岸的集装箱航线，单程二十三天。' },
  { at: Date.UTC(2026, 0, 2), key: 'b', text: '望海港本月开通了一条直达南美西海岸的集装箱航线，单程二十三天！' },
  { at: Date.UTC(2026, 0, 9), key: 'c', text: '望海港本月开通了一条直达南美西海岸的集装箱航线，单程二十三天。' },
];
for (const { at, key, text } of news) {
  const checked = index.checkAndAdd(text, { at, key });
  const what = checked.duplicateOf === undefined ? 'new' : `a duplicate of ${checked.key}`;
  console.log(`${new Date(at).toISOString().slice(0, 10)} ${key}: ${what}, ${index.size} in the window`);
}
