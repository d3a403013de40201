// The documents of IN without near-duplicates, into OUT. node minhash-script.mjs IN OUT
import { readFileSync } from 'node:fs';
import { dedupFiles } from '@x/simhash-native';

const [, , input, output] = process.argv;
await dedupFiles(input, output, { clusters: `${output}.clusters` });
for (const line of readFileSync(`${output}.clusters`, 'utf8').trim().split('\n')) {
  const { representative, members } = JSON.parse(line);
  for (const { id } of members.slice(1)) console.log(id, representative);
}
