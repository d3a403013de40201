import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Stats } from '../ts';
import { type Cluster, ended, Folder, jsonLines, ROOT, SAMPLE } from './cli-run';

const { Index } = (await import(join(ROOT, 'dist', 'index.js'))) as typeof import('../ts');

interface Answer {
  readonly id: string;
  readonly matches: readonly { readonly id: string; readonly distance: number }[];
  readonly truncated?: true;
}

const documents = jsonLines<{ id: string; text: string }>(readFileSync(SAMPLE, 'utf8'));
const A = '望海市地铁四号线二期工程今天贯通，线路全长十六点七公里，设站十二座。';
const B = '白石镇中心小学的学生本周吃上了自己种的萝卜，一共收了六百多斤。';
const record = (id: string, text: string) => `${JSON.stringify({ id, text })}\n`;
const lines = (rows: typeof documents) => rows.map(({ id, text }) => record(id, text)).join('');

/** A folder with the index `i` of the sample. */
const built = new Folder();
beforeAll(async () => {
  await built.run(['index', 'build', SAMPLE, '-o', 'i']);
});

/** A folder of its own with a copy of that index. */
function copy(): Folder {
  const folder = new Folder();
  for (const name of ['i', 'i.ids.jsonl']) copyFileSync(built.join(name), folder.join(name));
  return folder;
}

async function query(folder: Folder, ...args: string[]): Promise<Answer[]> {
  const { status, stdout } = await folder.run(['index', 'query', SAMPLE, '--index', 'i', ...args]);
  expect(status).toBe(0);
  return jsonLines(stdout);
}

describe('build and query', () => {
  test('answers are those of the library, under the ids of the records', async () => {
    const index = new Index({ maxDistance: 8, verify: false, texts: false });
    const texts = documents.map(({ text }) => text);
    index.addMany(texts);
    const expected = [...index.searchMany(texts)].map((matches, row) => ({
      id: documents[row]?.id,
      matches: matches.map(({ id, distance }) => ({ id: documents[id]?.id, distance })),
    }));
    expect(await query(built)).toEqual(expected);
  });

  test('planted copies are found', async () => {
    const labels = readFileSync(join(ROOT, 'examples', 'sample.labels.jsonl'), 'utf8');
    const near = new Map((await query(built, '--max-distance', '12')).map((row) => [row.id, row]));
    const found = jsonLines<Cluster>(labels).flatMap(({ representative, members }) =>
      members.filter(({ id }) =>
        near.get(id)?.matches.some((match) => match.id === representative),
      ),
    );
    const all = jsonLines<Cluster>(labels).flatMap(({ members }) => members);
    expect(found).toHaveLength(all.length);
  });

  test('--limit keeps the nearest and says that there are more', async () => {
    const [all, one] = [await query(built), await query(built, '--limit', '1')];
    expect(one.map(({ matches }) => matches)).toEqual(
      all.map(({ matches }) => matches.slice(0, 1)),
    );
    expect(one.map(({ truncated }) => truncated ?? false)).toEqual(
      all.map(({ matches }) => matches.length > 1),
    );
  });

  test('the options that made the fingerprints are those of the index', async () => {
    const folder = new Folder();
    folder.write('in', record('a', A) + record('b', B));
    const build = ['index', 'build', 'in', '-o', 'i', '--features', 'words', '--normalize', 'web'];
    expect(await folder.run(build)).toMatchObject({ status: 0 });
    folder.write('new', record('c', `<p>${A}</p>`));
    const { stdout } = await folder.run(['index', 'query', 'new', '--index', 'i']);
    expect(jsonLines(stdout)).toEqual([{ id: 'c', matches: [{ id: 'a', distance: 0 }] }]);
  });

  test('a dictionary is found again from another folder, and must not have changed', async () => {
    const folder = new Folder();
    folder.write('words', '四号线 100\n');
    folder.write('in', record('a', A));
    const build = [
      'index',
      'build',
      'in',
      '-o',
      'i',
      '--features',
      'jieba',
      '--dictionary',
      'words',
    ];
    expect(await folder.run(build)).toMatchObject({ status: 0 });
    const elsewhere = new Folder();
    const args = ['index', 'query', folder.join('in'), '--index', folder.join('i')];
    const { stdout } = await elsewhere.run(args);
    expect(jsonLines(stdout)).toEqual([{ id: 'a', matches: [{ id: 'a', distance: 0 }] }]);
    folder.write('words', '二期工程 100\n');
    const changed = await elsewhere.run(args);
    expect(changed).toMatchObject({ status: 4, stdout: '' });
    expect(changed.stderr).toContain('fingerprinter');
  });

  test('malformed records are named, counted, and have no place in the index', async () => {
    const folder = new Folder();
    folder.write('in', `${record('a', A)}oops\n${record('b', B)}`);
    const build = await folder.run(['index', 'build', 'in', '-o', 'i']);
    expect(build.status).toBe(1);
    expect(build.stderr).toContain('in:2: ');
    expect(build.stderr).toContain('read 3 = documents 2 + rejected 1');
    const answers = await folder.run(['index', 'query', 'in', '--index', 'i', '-o', 'out']);
    expect(answers.status).toBe(1);
    expect(folder.records<Answer>('out').map(({ matches }) => matches[0]?.id)).toEqual(['a', 'b']);
  });
});

describe('add', () => {
  test('adding a second half is building with both', async () => {
    const folder = new Folder();
    folder.write('first', lines(documents.slice(0, 150)));
    folder.write('second', lines(documents.slice(150)));
    await folder.run(['index', 'build', 'first', '-o', 'i']);
    const { status, stderr } = await folder.run(['index', 'add', 'second', '--index', 'i']);
    expect(status).toBe(0);
    expect(stderr).toContain(`index of ${documents.length} documents`);
    expect(await query(folder)).toEqual(await query(built));
    expect(folder.names()).toEqual(['first', 'i', 'i.ids.jsonl', 'second']);
  });

  test('ids that are newer than the index serve it as well: a crash between the two loses nothing', async () => {
    const folder = copy();
    folder.write('in', record('new', A));
    await folder.run(['index', 'add', 'in', '--index', 'i']);
    copyFileSync(built.join('i'), folder.join('i'));
    expect(await query(folder)).toEqual(await query(built));
    await folder.run(['index', 'add', 'in', '--index', 'i']);
    const { stdout } = await folder.run(['index', 'query', 'in', '--index', 'i']);
    expect(jsonLines<Answer>(stdout)[0]?.matches[0]).toEqual({ id: 'new', distance: 0 });
  });

  test.each(['SIGINT', 'SIGTERM'] as const)('%s leaves the index as it was', async (signal) => {
    const folder = copy();
    execFileSync('mkfifo', [folder.join('in')]);
    const child = folder.start(['index', 'add', 'in', '--index', 'i']);
    const end = ended(child);
    // Opening the other end waits until the child reads: then its handlers are in place.
    const pipe = await open(folder.join('in'), 'w');
    await pipe.write(record('a', A));
    child.kill(signal);
    const result = await end;
    await pipe.close();
    expect(result).toMatchObject({ status: signal === 'SIGINT' ? 130 : 143, stdout: '' });
    expect(result.stderr).toContain('interrupted; no output was written');
    expect(folder.names()).toEqual(['i', 'i.ids.jsonl', 'in']);
    for (const name of ['i', 'i.ids.jsonl']) expect(folder.read(name)).toBe(built.read(name));
  });
});

describe('stats', () => {
  test('add up: documents are those read, fingerprints those that differ', async () => {
    const { status, stdout } = await built.run(['index', 'stats', 'i', '--json']);
    const stats = JSON.parse(stdout) as Stats<'simhash'> & { documents: number };
    const index = new Index({ maxDistance: 8, verify: false, texts: false });
    index.addMany(documents.map(({ text }) => text));
    expect(status).toBe(0);
    expect(stats.documents).toBe(documents.length);
    expect(stats.live).toBe(documents.length);
    expect(stats.fingerprints).toBe(index.stats().fingerprints);
    expect(stats.plan).toBe(index.stats().plan);
  });

  test('build says the same as stats, with options and versions', async () => {
    const folder = new Folder();
    const build = await folder.run(['index', 'build', SAMPLE, '-o', 'i', '--json']);
    const summary = JSON.parse(build.stdout);
    expect(summary).toMatchObject({ read: documents.length, documents: documents.length });
    expect(summary).toMatchObject({ rejected: 0, options: { maxDistance: 8, plan: 'auto' } });
    expect(summary.versions.node).toBe(process.versions.node);
    const { stdout } = await folder.run(['index', 'stats', 'i']);
    expect(stdout).toContain(`documents     ${documents.length}\n`);
    expect(stdout).toContain(summary.stats.plan);
  });
});

describe('damage exits 4 and names the file', () => {
  const refused = async (folder: Folder, says: string | RegExp) => {
    for (const args of [
      ['stats', 'i'],
      ['query', SAMPLE, '--index', 'i'],
      ['add', SAMPLE, '--index', 'i'],
    ]) {
      const before = folder.names().map((name) => folder.read(name));
      const { status, stdout, stderr } = await folder.run(['index', ...args]);
      expect(stderr).toMatch(says);
      expect(stderr).toMatch(/^error: /);
      expect(stderr).not.toContain('    at ');
      expect({ status, stdout }).toEqual({ status: 4, stdout: '' });
      expect(folder.names().map((name) => folder.read(name))).toEqual(before);
    }
  };

  test.each([0, 40, 0.3, 0.9])('a flipped byte of the index, at %f', async (place) => {
    const folder = copy();
    const bytes = readFileSync(folder.join('i'));
    const at = place < 1 ? Math.floor(place * bytes.length) : place;
    bytes[at] = (bytes[at] ?? 0) ^ 0x10;
    writeFileSync(folder.join('i'), bytes);
    await refused(folder, /i.*byte \d+/);
  });

  test('an index that was cut short, or is none', async () => {
    const folder = copy();
    folder.write('i', readFileSync(built.join('i')).subarray(0, 5_000));
    await refused(folder, /i.*byte \d+/);
    folder.write('i', 'something else\n');
    await refused(folder, 'i');
  });

  test('ids that are missing, cut short, changed or none', async () => {
    const folder = copy();
    const ids = folder.read('i.ids.jsonl');
    folder.write('i.ids.jsonl', ids.slice(0, -200));
    await refused(folder, 'i.ids.jsonl does not belong to i');
    folder.write('i.ids.jsonl', ids.replace('d002', 'd00x'));
    await refused(folder, `i.ids.jsonl is damaged above line ${documents.length + 2}`);
    folder.write('i.ids.jsonl', record('a', A));
    await refused(folder, 'i.ids.jsonl is no list of ids');
    folder.write('i.ids.jsonl', ids.replace('"version":1', '"version":2'));
    await refused(folder, 'version 2');
    execFileSync('rm', [folder.join('i.ids.jsonl')]);
    await refused(
      folder,
      'i.ids.jsonl is missing: i is of no use without its ids; name a file that',
    );
  });

  test('the ids of another index', async () => {
    const folder = copy();
    folder.write('in', record('a', A));
    await folder.run(['index', 'build', 'in', '-o', 'other']);
    copyFileSync(folder.join('other.ids.jsonl'), folder.join('i.ids.jsonl'));
    await refused(folder, 'does not belong to i');
  });
});

test.each([
  [['index'], 2, 'index needs a command: build, add, query or stats'],
  [['index', 'bild', 'in'], 2, 'did you mean index build?'],
  [['idnex', 'build'], 2, 'did you mean index?'],
  [['index', 'build', 'in'], 2, 'index build needs -o INDEX'],
  [['index', 'build', 'in', '-o', '-'], 2, 'not a stream'],
  [['index', 'build', '-o', 'i'], 2, 'index build needs IN...'],
  [['index', 'build', 'in', '-o', 'in'], 2, 'is an input'],
  [['index', 'build', 'in', '-o', 'i', '--plan', 'k9'], 2, 'k9'],
  [['index', 'build', 'missing', '-o', 'i'], 3, 'cannot read missing'],
  [['index', 'build', 'in', '-o', 'no/i'], 3, 'there is no folder no; make it first'],
  [['index', 'query', 'in'], 2, 'index query needs --index INDEX'],
  [['index', 'query', 'in', '--index', 'missing'], 3, 'cannot read missing:'],
  [['index', 'add', 'in', '--index', 'missing'], 3, 'cannot read missing:'],
  [['index', 'stats', 'missing'], 3, 'cannot read missing:'],
] as const)('%j exits %i and leaves no file', async (args, status, says) => {
  const folder = new Folder();
  folder.write('in', record('a', A));
  const result = await folder.run(args);
  expect(result).toMatchObject({ status, stdout: '', stderr: expect.stringContaining(says) });
  expect(folder.names()).toEqual(['in']);
  expect(folder.read('in')).toBe(record('a', A));
});

test('SIGINT while building leaves nothing, and what stood there before stays', async () => {
  const folder = copy();
  execFileSync('mkfifo', [folder.join('in')]);
  const child = folder.start(['index', 'build', 'in', '-o', 'i']);
  const end = ended(child);
  const pipe = await open(folder.join('in'), 'w');
  child.kill('SIGINT');
  expect(await end).toMatchObject({ status: 130, stdout: '' });
  await pipe.close();
  expect(folder.names()).toEqual(['i', 'i.ids.jsonl', 'in']);
  expect(folder.read('i')).toBe(built.read('i'));
});

test.each([[['index', '--help']], [['help', 'index']]])(
  '%j lists the commands of the group',
  async (args) => {
    const { status, stdout } = await new Folder().run(args);
    expect(status).toBe(0);
    for (const name of ['build', 'add', 'query', 'stats']) {
      expect(stdout).toMatch(new RegExp(`^ {2}index ${name} `, 'm'));
    }
  },
);

test('where something else than a file has the name of the index, nothing is written', async () => {
  const folder = new Folder();
  mkdirSync(folder.join('i'));
  const { status, stderr } = await folder.run(['index', 'build', SAMPLE, '-o', 'i']);
  expect(status).toBe(3);
  expect(stderr).toContain('cannot write i: not a file');
  expect(folder.names()).toEqual(['i']);
});
