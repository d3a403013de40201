/** Outputs whose name ends in `.gz`. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import { Folder, SAMPLE } from './cli-run';

const folder = new Folder();
beforeAll(async () => {
  await folder.run(['index', 'build', 'i', SAMPLE]);
});

test.each([
  ['dedup', SAMPLE],
  ['dedup', SAMPLE, '--mark'],
  ['clusters', SAMPLE],
  ['pairs', SAMPLE],
  ['match', SAMPLE, '--against', SAMPLE],
  ['index', 'query', 'i', SAMPLE],
])('%s writes gzip of the same bytes', async (...args) => {
  const plain = await folder.run([...args, '-o', 'out.jsonl']);
  const packed = await folder.run([...args, '-o', 'out.jsonl.gz']);
  expect([plain.status, packed.status]).toEqual([0, 0]);
  const bytes = readFileSync(folder.join('out.jsonl.gz'));
  // Deflate, no flags, no time, no operating system.
  expect(bytes.toString('hex', 0, 10)).toMatch(/^1f8b080000000000..ff$/);
  expect(gunzipSync(bytes).equals(readFileSync(folder.join('out.jsonl')))).toBe(true);
  // One member: its length is the last thing in it.
  expect(bytes.readUInt32LE(bytes.length - 4)).toBe(
    folder.read('out.jsonl').length === 0 ? 0 : readFileSync(folder.join('out.jsonl')).length,
  );
  await folder.run([...args, '-o', 'again.gz']);
  expect(readFileSync(folder.join('again.gz')).equals(bytes)).toBe(true);
  expect(folder.names().filter((name) => name.endsWith('.tmp'))).toEqual([]);
});

test('what was written is read again', async () => {
  await folder.run([
    'dedup',
    SAMPLE,
    '-o',
    'kept.jsonl.gz',
    '--clusters',
    'c.gz',
    '--rejects',
    'r.gz',
  ]);
  const { status, stderr } = await folder.run(['dedup', 'kept.jsonl.gz', '-o', 'kept']);
  expect(status).toBe(0);
  expect(stderr).toContain('duplicates 0 + rejected 0');
  expect(folder.read('kept')).toBe(
    gunzipSync(readFileSync(folder.join('kept.jsonl.gz'))).toString(),
  );
  expect(gunzipSync(readFileSync(folder.join('r.gz'))).length).toBe(0);
});

test('a gzip output appears whole or not at all', async () => {
  folder.write('precious.gz', 'old');
  folder.write('bad', 'x\n');
  const { status } = await folder.run(['pairs', 'bad', '-o', 'precious.gz']);
  expect({ status, left: folder.read('precious.gz') }).toEqual({ status: 3, left: 'old' });
  expect(folder.names().filter((name) => name.endsWith('.tmp'))).toEqual([]);
});
