// Near-duplicates of the last two days. node window.mjs IN [MEASURE]
import { readFileSync } from 'node:fs';
import { Index } from '@x/simhash-native';

const [, , input, verify] = process.argv;
const index = new Index({ keys: true, verify, window: { maxAge: 2 * 86_400_000 } });
for (const line of readFileSync(input, 'utf8').trim().split('\n')) {
  const { id, text, time } = JSON.parse(line);
  const checked = index.checkAndAdd(text, { key: id, at: new Date(time) });
  if (checked.duplicateOf !== undefined) console.log(id, checked.key);
}
