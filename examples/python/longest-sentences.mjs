// Texts that share one of their five longest sentences, verified, in a folder. node longest-sentences.mjs IN FOLDER
import { readFileSync } from 'node:fs';
import { Index } from '@x/simhash-native';

const [, , input, folder] = process.argv;
const index = await Index.open(folder, { sentences: 5, keys: true });
for (const line of readFileSync(input, 'utf8').trim().split('\n')) {
  const { id, text } = JSON.parse(line);
  const checked = index.checkAndAdd(text, { key: id });
  if (checked.duplicateOf !== undefined) console.log(id, checked.key);
}
await index.close();
