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
  readonly matches: readonly {
    readonly id: string;
    readonly similarity?: number;
    readonly distance?: number;
    readonly verified?: false;
  }[];
  readonly truncated?: true;
}

const documents = jsonLines<{ id: string; text: string }>(readFileSync(SAMPLE, 'utf8'));
const A = '望海市地铁四号线二期工程今天贯通，线路全长十六点七公里，设站十二座。';
const B = '白石镇中心小学的学生本周吃上了自己种的萝卜，一共收了六百多斤。';
const record = (id: string, text: string) => `${JSON.stringify({ id, text })}\n`;
const lines = (rows: typeof documents) => rows.map(({ id, text }) => record(id, text)).join('');
const METHODS = ['minhash', 'simhash', 'sentences', 'exact'] as const;

/** A folder with the index `i` of the sample. */
const built = new Folder();
beforeAll(async () => {
  await built.run(['index', 'build', SAMPLE, '-o', 'i', '--method', 'simhash']);
});

/** A folder of its own with a copy of that index. */
function copy(): Folder {
  const folder = new Folder();
  copyFileSync(built.join('i'), folder.join('i'));
  return folder;
}

async function query(folder: Folder, ...args: string[]): Promise<Answer[]> {
  const { status, stdout } = await folder.run(['index', 'query', SAMPLE, '--index', 'i', ...args]);
  expect(status).toBe(0);
  return jsonLines(stdout);
}

describe('build and query', () => {
  test.each(METHODS)('answers are those of the library, by %s', async (method) => {
    const folder = new Folder();
    await folder.run(['index', 'build', SAMPLE, '-o', 'i', '--method', method]);
    const index = new Index({ method } as { method: 'simhash' });
    const texts = documents.map(({ text }) => text);
    index.addMany(texts);
    const expected = [...index.searchMany(texts)].map((matches, row) => ({
      id: documents[row]?.id,
      matches: matches.map(({ id, similarity, distance }) => ({
        ...{ id: documents[id]?.id, similarity },
        ...(distance === undefined ? {} : { distance }),
      })),
    }));
    expect(await query(folder)).toEqual(expected);
  });

  test.each(METHODS)('answers are those of match, by %s', async (method) => {
    const folder = new Folder();
    const [old, fresh] = [documents.slice(0, 150), documents.slice(150)];
    folder.write('old', lines(old));
    folder.write('new', lines(fresh));
    await folder.run(['index', 'build', 'old', '-o', 'i', '--method', method]);
    const asked = await folder.run(['index', 'query', 'new', '--index', 'i']);
    const args = ['match', 'new', '--against', 'old', '--method', method];
    const matched = jsonLines<Answer>((await folder.run(args)).stdout);
    const texts = new Map(old.map(({ id, text }) => [id, text]));
    const first = (id: string) => old.find(({ text }) => text === texts.get(id))?.id === id;
    const answers = jsonLines<Answer>(asked.stdout).map(({ id, matches }, row) => {
      // Of equal texts match has the first alone.
      const firsts = matches.filter((match) => first(match.id));
      const equal = firsts.filter((match) => texts.get(match.id) === fresh[row]?.text);
      return { id, matches: equal.length > 0 ? equal : firsts };
    });
    expect(answers).toEqual(matched);
    expect(matched.filter(({ matches }) => matches.length > 0).length).toBeGreaterThan(10);
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

  test('--limit keeps the most similar and says that there are more', async () => {
    const [all, one] = [await query(built), await query(built, '--limit', '1')];
    expect(one.map(({ matches }) => matches)).toEqual(
      all.map(({ matches }) => matches.slice(0, 1)),
    );
    expect(one.map(({ truncated }) => truncated ?? false)).toEqual(
      all.map(({ matches }) => matches.length > 1),
    );
  });

  test('--min-similarity raises the threshold of the index', async () => {
    const all = await query(built);
    const near = all.map(({ id, matches }) => ({
      id,
      matches: matches.filter(({ similarity }) => (similarity ?? 0) >= 0.97),
    }));
    expect(await query(built, '--min-similarity', '0.97')).toEqual(near);
    expect(near).not.toEqual(all);
  });

  test('without texts matches say that they are not verified', async () => {
    const folder = new Folder();
    folder.write('in', record('a', A + B) + record('b', B));
    folder.write('new', record('c', A.replace('今天', '昨日') + B));
    for (const method of ['minhash', 'simhash'] as const) {
      const build = ['index', 'build', 'in', '-o', 'i', '--no-texts', '--method', method];
      expect(await folder.run(build)).toMatchObject({ status: 0 });
      const { stdout } = await folder.run(['index', 'query', 'new', '--index', 'i']);
      const [answer] = jsonLines<Answer>(stdout);
      expect(answer?.matches).toMatchObject([{ id: 'a', verified: false }]);
    }
    // Nobody asked for verification.
    await folder.run(['index', 'build', 'in', '-o', 'i', '--verify', 'off', '--max-distance', '8']);
    const { stdout } = await folder.run(['index', 'query', 'new', '--index', 'i']);
    const [answer] = jsonLines<Answer>(stdout);
    expect(answer?.matches).toEqual([{ id: 'a', distance: expect.any(Number) }]);
  });

  test('the options that an index was made with are its own', async () => {
    const folder = new Folder();
    folder.write('in', record('a', A) + record('b', B));
    folder.write('new', record('c', `<p>${A}</p>`));
    for (const method of METHODS) {
      const made = ['--features', 'words', '--normalize', 'web', '--method', method];
      const build = ['index', 'build', 'in', '-o', 'i', ...made];
      expect(await folder.run(build)).toMatchObject({ status: 0 });
      const { stdout } = await folder.run(['index', 'query', 'new', '--index', 'i']);
      expect(jsonLines(stdout)).toMatchObject([{ id: 'c', matches: [{ id: 'a', similarity: 1 }] }]);
    }
  });

  test('a dictionary is given again, and must not have changed', async () => {
    const folder = new Folder();
    folder.write('words', '四号线 100\n');
    folder.write('in', record('a', A));
    const own = ['--dictionary', 'words'];
    const build = ['index', 'build', 'in', '-o', 'i', '--features', 'jieba', ...own];
    expect(await folder.run(build)).toMatchObject({ status: 0 });
    const args = ['index', 'query', 'in', '--index', 'i'];
    const { stdout } = await folder.run([...args, ...own]);
    expect(jsonLines(stdout)).toEqual([{ id: 'a', matches: [{ id: 'a', similarity: 1 }] }]);
    expect((await folder.run(['index', 'stats', 'i', ...own])).status).toBe(0);
    folder.write('words', '二期工程 100\n');
    for (const other of [[], own]) {
      const refused = await folder.run([...args, ...other]);
      expect(refused).toMatchObject({ status: 4, stdout: '' });
      expect(refused.stderr).toMatch(/^error: i: .*dictionary [0-9a-f]{16}/);
    }
  });

  test('ids are answered as they were written', async () => {
    const folder = new Folder();
    const ids = ['7', '"7"', '18446744073709551617', '"d\\u0030"', '""', '"-1.5e3"', '"甲"'];
    const texts = ids.map((_, row) => documents[row]?.text);
    const rows = ids.map((id, row) => `{"id":${id},"text":${JSON.stringify(texts[row])}}\n`);
    folder.write('in', `${rows.join('')}{"text":"没有自己的编号"}\n`);
    await folder.run(['index', 'build', 'in', '-o', 'i']);
    const { stdout } = await folder.run(['index', 'query', 'in', '--index', 'i', '--limit', '1']);
    const line = (id: string) => `{"id":${id},"matches":[{"id":${id},"similarity":1.0}`;
    for (const [row, told] of stdout.trim().split('\n').entries()) {
      expect(told.startsWith(line(ids[row] ?? '8'))).toBe(true);
    }
    const matched = await folder.run(['match', 'in', '--against', 'in', '--limit', '1']);
    expect(stdout).toBe(matched.stdout);
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
    await folder.run(['index', 'build', 'first', '-o', 'i', '--method', 'simhash']);
    const { status, stderr } = await folder.run(['index', 'add', 'second', '--index', 'i']);
    expect(status).toBe(0);
    expect(stderr).toContain(`index of ${documents.length} documents`);
    expect(await query(folder)).toEqual(await query(built));
    expect(folder.names()).toEqual(['first', 'i', 'second']);
  });

  test('an index of the library is added to, if it has keys', async () => {
    const folder = new Folder();
    folder.write('in', record('b', A) + record('7', B));
    const index = new Index({ keys: true, sentences: 3 });
    index.addMany([A, B], { keys: ['a', undefined] });
    await index.save(folder.join('i'));
    const added = await folder.run(['index', 'add', 'in', '--index', 'i']);
    expect(added).toMatchObject({ status: 0 });
    expect(added.stderr).toContain('index of 4 documents by sentences');
    const { stdout } = await folder.run(['index', 'query', 'in', '--index', 'i']);
    expect(jsonLines<Answer>(stdout).map(({ matches }) => matches.map(({ id }) => id))).toEqual([
      ['a', 'b'],
      [1, '7'],
    ]);
    const opened = await Index.open(folder.join('i'), { sentences: 3 });
    expect([opened.idOf('b'), opened.idOf('"7"')]).toEqual([2, 3]);
    const bare = new Index({ sentences: 3 });
    await bare.save(folder.join('i'));
    const refused = await folder.run(['index', 'add', 'in', '--index', 'i']);
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain('keys must be true');
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
    expect(folder.names()).toEqual(['i', 'in']);
    expect(folder.read('i')).toBe(built.read('i'));
  });
});

describe('stats', () => {
  test('add up: documents are those read, fingerprints those that differ', async () => {
    const { status, stdout } = await built.run(['index', 'stats', 'i', '--json']);
    const stats = JSON.parse(stdout) as Stats<'simhash'> & { documents: number };
    const index = new Index({ maxDistance: 8 });
    index.addMany(documents.map(({ text }) => text));
    expect(status).toBe(0);
    expect(stats.documents).toBe(documents.length);
    expect(stats.live).toBe(documents.length);
    expect(stats.fingerprints).toBe(index.stats().fingerprints);
    expect(stats.plan).toBe(index.stats().plan);
  });

  test('build says the same as stats, with options and versions', async () => {
    const folder = new Folder();
    const args = ['index', 'build', SAMPLE, '-o', 'i', '--json', '--plan', 'classic'];
    const build = await folder.run(args);
    const summary = JSON.parse(build.stdout);
    expect(summary).toMatchObject({ read: documents.length, documents: documents.length });
    expect(summary).toMatchObject({ rejected: 0, options: { maxDistance: 8, plan: 'classic' } });
    expect(summary.versions.node).toBe(process.versions.node);
    const { stdout } = await folder.run(['index', 'stats', 'i']);
    expect(stdout).toContain(`documents     ${documents.length}\n`);
    expect(stdout).toContain(summary.stats.plan);
    expect(stdout).toContain('verified by   auto, from 0.8 on\n');
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

  test('an index of another release is refused, and left as it is', async () => {
    const folder = new Folder();
    copyFileSync(join(ROOT, '__test__', 'fixtures', '0.1.0', 'cli.index'), folder.join('i'));
    await refused(folder, /^error: i: .*build it again/);
  });
});

test.each([
  [['index'], 2, 'index needs a command: build, add, query or stats'],
  [['index', 'bild', 'in'], 2, 'did you mean index build?'],
  [['idnex', 'build'], 2, 'did you mean index?'],
  [['index', 'build', 'in'], 2, 'index build needs -o INDEX'],
  [['index', 'build', 'in', '-o', '-'], 2, 'not a stream'],
  [['index', 'build', '-o', 'i'], 2, 'index build needs IN...'],
  [['index', 'build', 'in', '-o', 'in'], 2, 'the output in is also an input'],
  [['index', 'build', 'in', '-o', 'i', '--rejects', 'i'], 2, 'i'],
  [['index', 'build', 'in', '-o', 'i', '--bands', '3'], 2, '--bands and --rows must be given'],
  [['index', 'build', 'in', '-o', 'i', '--plan', 'auto', '--rows', '3'], 2, '--rows is for method'],
  [['index', 'build', 'in', '-o', 'i', '--method', 'brute-force'], 2, '--method must be minhash'],
  [['index', 'query', '-', '-', '--index', 'in'], 2, 'only once'],
  [['index', 'query', 'in', '--index', 'in'], 4, 'not a saved index'],
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
  expect(folder.names()).toEqual(['i', 'in']);
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
  expect(stderr).toContain('cannot write i: is a directory');
  expect(folder.names()).toEqual(['i']);
});
