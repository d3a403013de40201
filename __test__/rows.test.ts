/** How batches in columns are printed and written as JSON. */
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { Fingerprinter, Fingerprints, Index, MinHasher } from '..';

const TEXT = '青禾市图书馆新馆昨日起试运行，读者可以凭证入内。';

test('fingerprints: rows without one stay apart from zeros', () => {
  const batch = new Fingerprints(BigUint64Array.of(0n, 255n, 0n), Uint8Array.of(0b011));
  expect(inspect(batch)).toBe('Fingerprints(3) [ 0n, 255n, undefined ]');
  expect(JSON.stringify(batch)).toBe('["0000000000000000","00000000000000ff",null]');
});

test('of many rows the first are printed, and how many there are', () => {
  const many = new Fingerprinter().fingerprintMany(Array(1000).fill(TEXT));
  const printed = inspect(many);
  expect(printed).toMatch(/^Fingerprints\(1000\) \[/);
  expect(printed.match(/\d+n/g)).toHaveLength(10);
  expect(printed).toContain('... 990 more');
  expect(inspect(many, { maxArrayLength: 2 }).match(/\d+n/g)).toHaveLength(2);
  expect(inspect({ a: { b: { many } } }, { depth: 1 })).not.toContain('n,');
  expect(inspect([many], { depth: 0 })).toBe('[ [Fingerprints(1000)] ]');
});

test('signatures, pairs and clusters', async () => {
  const signatures = new MinHasher({ hashes: 3 }).signatureMany([TEXT, '']);
  expect(inspect(signatures)).toMatch(/^Signatures\(2\) \[\s+Uint32Array\(3\) \[/);
  expect(JSON.parse(JSON.stringify(signatures))).toEqual([[...(signatures.get(0) ?? [])], []]);
  const index = new Index({ maxDistance: 1, texts: false });
  for (const fingerprint of [0n, 1n, 2n ** 63n]) index.add(fingerprint);
  const clusters = await index.clusters();
  const cluster = { representative: 0, members: [0, 1, 2] };
  expect(JSON.parse(JSON.stringify(clusters))).toEqual([cluster]);
  expect(inspect(clusters)).toBe(`Clusters(1) ${inspect([cluster])}`);
  for await (const batch of index.pairs()) {
    const pairs = [...batch];
    expect(pairs).toHaveLength(2);
    expect(JSON.parse(JSON.stringify(batch))).toEqual(pairs);
    expect(inspect(batch)).toBe(`PairBatch(2) ${inspect(pairs)}`);
  }
});
