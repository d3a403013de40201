// node npm_minhash.cjs PEERS SETS SECONDS: documents per second of processor time of npm `minhash`, which hashes strings.
const { createRequire } = require('node:module');
const { readFileSync } = require('node:fs');

const [folder, file, seconds] = process.argv.slice(2);
const { Minhash } = createRequire(`${folder}/package.json`)('minhash');
const sets = readFileSync(file, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));

const spent = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

let [done, features] = [0, 0];
const start = spent();
for (const set of sets) {
  const signature = new Minhash({ numPerm: 128, seed: 1 });
  for (const feature of set) signature.update(feature);
  done++;
  features += set.length;
  if (spent() - start > Number(seconds)) break;
}
console.log(
  JSON.stringify([
    {
      what: 'npm minhash, strings',
      nanoseconds: ((spent() - start) * 1e9) / features,
      documents: done,
    },
  ]),
);
