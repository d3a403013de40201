// An Arrow table without its near-duplicates: its rows are what `for` goes through. node examples/arrow.mjs [FILE]
import { readFileSync } from 'node:fs';
import { dedup } from '@x/simhash-native';
import { tableFromArrays, tableFromIPC } from 'apache-arrow';

const file = process.argv[2];
const table = file
  ? tableFromIPC(readFileSync(file))
  : tableFromArrays({
      id: BigInt64Array.of(1n, 2n, 3n),
      text: [
        '望海港本月开通了一条直达南美西海岸的集装箱航线，单程二十三天。',
        '【转载】望海港本月开通了一条直达南美西海岸的集装箱航线，单程二十三天。',
        '市图书馆周末延长开放时间到晚上九点。',
      ],
    });

const kept = [];
const decisions = dedup(table, { text: 'text', key: (row) => String(row.id) });
for await (const { index, status, key, duplicateKey } of decisions) {
  if (status === 'kept') kept.push(index);
  else console.log(`${key} is a duplicate of ${duplicateKey}`);
}
console.log(`${kept.length} of ${table.numRows} rows:`);
for (const index of kept) console.log(table.get(index).toJSON());
