import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { Folder, jsonLines, ROOT, SAMPLE } from './cli-run';

const A = '望海市地铁四号线二期工程今天贯通，线路全长十六点七公里，设站十二座。';
const A2 = `【转载】${A}`;
const B = '白石镇中心小学的学生本周吃上了自己种的萝卜，一共收了六百多斤。';

interface Summary {
  read: number;
  kept: number;
  duplicates: number;
  rejected: number;
  clusters: number;
  options: Record<string, unknown>;
  versions: { readonly node: string };
}

const record = (id: string, text: string) => `${JSON.stringify({ id, text })}\n`;
const THREE = record('a', A) + record('a2', A2) + record('b', B);

function folderWith(files: Record<string, string | Uint8Array>): Folder {
  const folder = new Folder();
  for (const [name, content] of Object.entries(files)) folder.write(name, content);
  return folder;
}

function addsUp(summary: Summary): void {
  expect(summary.read).toBe(summary.kept + summary.duplicates + summary.rejected);
}

describe('outputs', () => {
  test('the first of near-duplicates is kept, byte for byte and in order', async () => {
    const odd = `{ "id":"b" , "text":${JSON.stringify(B)}, "n": 1.50 }\n`;
    const folder = folderWith({ 'in.jsonl': record('a', A) + record('a2', A2) + odd });
    const { status, stdout, stderr } = await folder.run(['dedup', 'in.jsonl', '-o', 'out.jsonl']);
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
    expect(stderr).toContain('read 3 = kept 2 + duplicates 1 + rejected 0');
    expect(folder.read('out.jsonl')).toBe(record('a', A) + odd);
  });

  test('--clusters names the representative first, with the similarity of the others', async () => {
    const folder = folderWith({ in: THREE });
    await folder.run(['dedup', 'in', '-o', 'out', '--clusters', 'clusters']);
    expect(folder.records('clusters')).toEqual([
      {
        representative: 'a',
        members: [{ id: 'a' }, { id: 'a2', similarity: expect.closeTo(0.9, 1) }],
      },
    ]);
    await folder.run(['dedup', 'in', '-o', 'out', '--clusters', 'clusters', '--method', 'simhash']);
    expect(folder.records('clusters')).toMatchObject([
      { members: [{ id: 'a' }, { similarity: expect.any(Number), distance: expect.any(Number) }] },
    ]);
  });

  test('--mark keeps every record and marks the duplicates', async () => {
    const folder = folderWith({ in: THREE });
    await folder.run(['dedup', 'in', '-o', 'out', '--mark']);
    const marked = folder.records<{ id: string; duplicateOf?: string }>('out');
    expect(marked.map(({ id, duplicateOf }) => [id, duplicateOf])).toEqual([
      ['a', undefined],
      ['a2', 'a'],
      ['b', undefined],
    ]);
  });

  test('--mark again replaces the marks', async () => {
    const folder = folderWith({ in: THREE });
    await folder.run(['dedup', 'in', '-o', 'once', '--mark']);
    await folder.run(['dedup', 'once', '-o', 'twice', '--mark', '--cluster', 'components']);
    expect(folder.read('twice')).toBe(folder.read('once'));
  });

  test('--keep and --keep-by say which one is kept', async () => {
    const dated = (id: string, text: string, date: string, score: number) =>
      `${JSON.stringify({ id, text, date, score })}\n`;
    const folder = folderWith({
      in: dated('a', A, '2024-01-01', 2) + dated('a2', A2, '2025-01-01', 1) + record('b', B),
    });
    const kept = async (...args: string[]) => {
      await folder.run(['dedup', 'in', '-o', 'out', ...args]);
      return folder.records<{ id: string }>('out').map(({ id }) => id);
    };
    expect(await kept('--keep', 'first')).toEqual(['a', 'b']);
    for (const rule of ['last', 'longest', 'newest']) {
      expect(await kept('--keep', rule)).toEqual(['a2', 'b']);
    }
    expect(await kept('--keep', 'largest', '--keep-by', 'score')).toEqual(['a', 'b']);
    expect(await kept('--keep', 'smallest', '--keep-by', 'score')).toEqual(['a2', 'b']);
    for (const wrong of [
      ['--keep', 'largest'],
      ['--keep-by', 'score'],
    ]) {
      const { status } = await folder.run(['dedup', 'in', '-o', 'out', ...wrong]);
      expect(status).toBe(2);
    }
  });

  test('--method exact finds equal texts only, and takes no distance', async () => {
    const folder = folderWith({ in: THREE + record('b2', B) });
    await folder.run(['dedup', 'in', '-o', 'out', '--method', 'exact']);
    expect(folder.read('out')).toBe(THREE);
    const args = ['dedup', 'in', '-o', 'out', '--method', 'exact', '--max-distance', '3'];
    expect((await folder.run(args)).status).toBe(2);
  });

  test('clusters writes what --clusters writes', async () => {
    const folder = folderWith({ in: `${THREE}not json\n` });
    const options = ['--cluster', 'components', '--keep', 'last'];
    await folder.run(['dedup', 'in', '-o', 'out', '--clusters', 'clusters', ...options]);
    const lines = folder.read('clusters');
    expect(lines).toMatch(/^\{"representative":"a2","members":\[\{"id":"a2"\},\{"id":"a",/);
    const streamed = await folder.run(['clusters', 'in', '--json', ...options]);
    expect(streamed).toMatchObject({ status: 1, stdout: lines });
    expect(streamed.stderr).toContain('"clusters":1');
    const { stdout } = await folder.run(['clusters', 'in', '-o', 'file', '--json', ...options]);
    expect(folder.read('file')).toBe(lines);
    addsUp(JSON.parse(stdout) as Summary);
    expect(folder.names()).toEqual(['clusters', 'file', 'in', 'out']);
  });

  test('--dry-run counts and writes nothing', async () => {
    const folder = folderWith({ in: THREE });
    const { status, stdout, stderr } = await folder.run(['dedup', 'in', '--dry-run']);
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
    expect(stderr).toContain('duplicates 1');
    expect(stderr).toContain('nothing was written');
    expect(folder.names()).toEqual(['in']);
  });

  test('--quiet says nothing', async () => {
    const folder = folderWith({ in: THREE });
    const ended = await folder.run(['dedup', 'in', '-o', 'out', '-q']);
    expect(ended).toEqual({ status: 0, signal: null, stdout: '', stderr: '' });
  });

  test('--json prints counts that add up, the options and the versions', async () => {
    const folder = folderWith({ in: THREE });
    const args = ['dedup', 'in', '-o', 'out', '--json', '--max-distance', '10'];
    const summary = JSON.parse((await folder.run(args)).stdout) as Summary;
    expect(summary).toMatchObject({ read: 3, kept: 2, duplicates: 1, rejected: 0, clusters: 1 });
    expect(summary.options).toMatchObject({ maxDistance: 10, minSimilarity: 0.8 });
    expect(summary.versions.node).toBe(process.versions.node);
    addsUp(summary);
  });

  test('an output that exists is replaced', async () => {
    const folder = folderWith({ in: THREE, out: 'old\n' });
    await folder.run(['dedup', 'in', '-o', 'out']);
    expect(folder.read('out')).toBe(record('a', A) + record('b', B));
  });
});

describe('streams', () => {
  test('- reads standard input and writes standard output; the JSON summary moves to standard error', async () => {
    const folder = folderWith({});
    const { status, stdout, stderr } = await folder.run(['dedup', '-', '-o', '-', '--json'], THREE);
    expect({ status, stdout }).toEqual({ status: 0, stdout: record('a', A) + record('b', B) });
    addsUp(JSON.parse(stderr) as Summary);
    expect(folder.names()).toEqual([]);
  });

  test('gzip input is the same as plain input', async () => {
    const folder = folderWith({ 'in.gz': gzipSync(THREE) });
    const { stdout } = await folder.run(['dedup', 'in.gz', '-o', '-']);
    expect(stdout).toBe(record('a', A) + record('b', B));
  });

  test('no input lines give no output lines', async () => {
    const folder = folderWith({ in: '' });
    const { status } = await folder.run(['dedup', 'in', '-o', 'out']);
    expect({ status, out: folder.read('out') }).toEqual({ status: 0, out: '' });
  });
});

describe('options', () => {
  test('--text-field and --id-field reach into records', async () => {
    const line = (key: number, text: string) => `${JSON.stringify({ key, body: { text } })}\n`;
    const folder = folderWith({ in: line(7, A) + line(8, A2) });
    const args = ['--text-field', 'body.text', '--id-field', 'key', '--clusters', 'clusters'];
    await folder.run(['dedup', 'in', '-o', 'out', ...args]);
    expect(folder.read('clusters')).toMatch(/^\{"representative": ?7/);
  });

  test('without ids the line number is the id, and with several inputs file:line', async () => {
    const line = (text: string) => `${JSON.stringify({ text })}\n`;
    const folder = folderWith({ one: line(B) + line(A), two: line(A2) });
    await folder.run(['dedup', 'one', 'two', '-o', 'out', '--clusters', 'clusters']);
    expect(folder.records('clusters')).toMatchObject([
      { representative: 'one:2', members: [{ id: 'one:2' }, { id: 'two:1' }] },
    ]);
  });

  test('--min-similarity decides what is verified, and 0 turns verification off', async () => {
    const folder = folderWith({ in: THREE });
    const kept = async (...args: string[]) =>
      (await folder.run(['dedup', 'in', '-o', '-', '-q', ...args])).stdout.split('\n').length - 1;
    expect(await kept('--min-similarity', '1')).toBe(3);
    expect(await kept('--min-similarity', '0.8')).toBe(2);
    expect(await kept('--min-similarity', '0', '--max-distance', '16')).toBe(2);
    expect(await kept('--min-similarity', '0', '--max-distance', '0')).toBe(3);
  });

  test('the number of threads changes no byte', async () => {
    const folder = folderWith({});
    const outputs = new Set<string>();
    for (const threads of ['1', '2', '7']) {
      await folder.run([
        'dedup',
        SAMPLE,
        '-o',
        'out',
        '--clusters',
        'clusters',
        '--threads',
        threads,
      ]);
      outputs.add(folder.read('out') + folder.read('clusters'));
    }
    expect(outputs.size).toBe(1);
  });
});

describe('malformed lines', () => {
  test('are named with file and line, counted, and exit 1; the others are deduplicated', async () => {
    const folder = folderWith({ in: `${record('a', A)}not json\n\n{"id":1}\n${record('a2', A2)}` });
    const args = ['dedup', 'in', '-o', 'out', '--rejects', 'rejects'];
    const { status, stderr } = await folder.run(args);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^in:2: /m);
    expect(stderr).toMatch(/^in:4: .*text/m);
    expect(stderr).toContain('read 4 = kept 1 + duplicates 1 + rejected 2');
    expect(folder.read('out')).toBe(record('a', A));
    const rejects = folder.records<{ file: string; line: number; reason: string }>('rejects');
    expect(rejects.map(({ file, line }) => `${file}:${line}`)).toEqual(['in:2', 'in:4']);
  });

  test('beyond the first ten are only counted', async () => {
    const folder = folderWith({ in: 'x\n'.repeat(25) + record('a', A) });
    const { status, stderr } = await folder.run(['dedup', 'in', '-o', 'out']);
    expect(status).toBe(1);
    expect(stderr.match(/^in:\d+: /gm)).toHaveLength(10);
    expect(stderr).toContain('and 15 more rejected records');
    expect(stderr).toContain('rejected 25');
  });
});

describe('files that cannot be used leave no output', () => {
  test.each([
    ['a missing input', ['missing'], 'out', 3, 'cannot read missing'],
    ['a folder as input', ['folder'], 'out', 3, 'cannot read folder'],
    ['damaged gzip', ['bad.gz'], 'out', 3, 'cannot read bad.gz'],
    ['a missing second input', ['in', 'missing'], 'out', 3, 'cannot read missing'],
    [
      'an output in a missing folder',
      ['in'],
      'missing/out',
      3,
      'cannot write missing/out: there is no folder missing; make it first',
    ],
    ['a folder as output', ['in'], 'folder', 3, 'folder'],
    ['the input as output', ['in'], 'in', 2, 'also an input'],
    ['the input as output by another path', ['in'], './folder/../in', 2, 'also an input'],
  ])('%s', async (_name, inputs, output, status, says) => {
    const damaged = gzipSync(THREE).subarray(0, 60);
    const folder = folderWith({ in: THREE, 'bad.gz': damaged });
    mkdirSync(folder.join('folder'));
    const args = ['dedup', ...inputs, '-o', output, '--clusters', 'clusters'];
    const ended = await folder.run(args);
    expect(ended.stderr).toContain(says);
    expect(ended).toMatchObject({ status, stdout: '' });
    expect(folder.read('in')).toBe(THREE);
    expect(folder.names()).toEqual(['bad.gz', 'folder', 'in']);
  });

  test('an output that is also the clusters file', async () => {
    const folder = folderWith({ in: THREE });
    const { status } = await folder.run(['dedup', 'in', '-o', 'out', '--clusters', './out']);
    expect(status).toBe(2);
    expect(folder.names()).toEqual(['in']);
  });
});

test('results are those of the library on the same file', async () => {
  const folder = folderWith({});
  await folder.run(['dedup', SAMPLE, '-o', 'out']);
  const kept = folder.records<{ id: string }>('out').map(({ id }) => id);
  const { dedup } = await import(join(ROOT, 'dist', 'index.js'));
  const documents = jsonLines<{ id: string; text: string }>(readFileSync(SAMPLE, 'utf8'));
  const expected: string[] = [];
  for await (const { doc, duplicateOf } of dedup(documents)) {
    if (duplicateOf === undefined) expected.push(doc.id);
  }
  expect(kept).toEqual(expected);
});
