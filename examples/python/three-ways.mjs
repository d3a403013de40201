// SimHash, MinHash and all pairs, each verified, side by side. node three-ways.mjs IN
import { readFileSync } from 'node:fs';
import { dedup } from '@x/simhash-native';

const docs = readFileSync(process.argv[2], 'utf8').trim().split('\n').map((line) => JSON.parse(line));
for (const method of ['simhash', 'minhash', 'brute-force'])
  for await (const { key, duplicateKey } of dedup(docs, { method, text: 'text', key: 'id' }))
    if (duplicateKey !== undefined) console.log(method, key, duplicateKey);
