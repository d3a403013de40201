import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Stats } from '../ts';
import { type Cluster, ended, Folder, jsonLines, ROOT, SAMPLE } from './cli-run';
import { posix } from './posix';

const posixTest = posix('named pipes and signals');

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
  await built.run(['index', 'build', 'i', SAMPLE, '--method', 'simhash']);
});

/** A folder of its own with a copy of that index. */
function copy(): Folder {
  const folder = new Folder();
  cpSync(built.join('i'), folder.join('i'), { recursive: true });
  return folder;
}

/** Every file of an index but the one that says who writes to it. */
function held(folder: Folder): Record<string, string> {
  const names = readdirSync(folder.join('i')).filter((name) => name !== 'LOCK');
  return Object.fromEntries(names.map((name) => [name, folder.read(`i/${name}`)]));
}

const CHECKPOINT = 'i/checkpoint-0000000001';

async function query(folder: Folder, ...args: string[]): Promise<Answer[]> {
  const { status, stdout } = await folder.run(['index', 'query', 'i', SAMPLE, ...args]);
  expect(status).toBe(0);
  return jsonLines(stdout);
}

describe('build and query', () => {
  test.each(METHODS)('answers are those of the library, by %s', async (method) => {
    const folder = new Folder();
    await folder.run(['index', 'build', 'i', SAMPLE, '--method', method]);
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
    await folder.run(['index', 'build', 'i', 'old', '--method', method]);
    const asked = await folder.run(['index', 'query', 'i', 'new']);
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
      const build = ['index', 'build', method, 'in', '--no-texts', '--method', method];
      expect(await folder.run(build)).toMatchObject({ status: 0 });
      const { stdout } = await folder.run(['index', 'query', method, 'new']);
      const [answer] = jsonLines<Answer>(stdout);
      expect(answer?.matches).toMatchObject([{ id: 'a', verified: false }]);
    }
    // Nobody asked for verification.
    await folder.run(['index', 'build', 'i', 'in', '--verify', 'off', '--max-distance', '8']);
    const { stdout } = await folder.run(['index', 'query', 'i', 'new']);
    const [answer] = jsonLines<Answer>(stdout);
    expect(answer?.matches).toEqual([{ id: 'a', distance: expect.any(Number) }]);
  });

  test('the options that an index was made with are its own', async () => {
    const folder = new Folder();
    folder.write('in', record('a', A) + record('b', B));
    folder.write('new', record('c', `<p>${A}</p>`));
    for (const method of METHODS) {
      const made = ['--features', 'words', '--normalize', 'web', '--method', method];
      const build = ['index', 'build', method, 'in', ...made];
      expect(await folder.run(build)).toMatchObject({ status: 0 });
      const { stdout } = await folder.run(['index', 'query', method, 'new']);
      expect(jsonLines(stdout)).toMatchObject([{ id: 'c', matches: [{ id: 'a', similarity: 1 }] }]);
    }
  });

  test('a dictionary is given again, and must not have changed', async () => {
    const folder = new Folder();
    folder.write('words', '四号线 100\n');
    folder.write('in', record('a', A));
    const own = ['--dictionary', 'words'];
    const build = ['index', 'build', 'i', 'in', '--features', 'jieba', ...own];
    expect(await folder.run(build)).toMatchObject({ status: 0 });
    const args = ['index', 'query', 'i', 'in'];
    const { stdout } = await folder.run([...args, ...own]);
    expect(jsonLines(stdout)).toEqual([{ id: 'a', matches: [{ id: 'a', similarity: 1 }] }]);
    expect((await folder.run(['index', 'stats', 'i', ...own])).status).toBe(0);
    folder.write('words', '二期工程 100\n');
    for (const other of [[], own]) {
      const refused = await folder.run([...args, ...other]);
      expect(refused).toMatchObject({ status: 4, stdout: '' });
      expect(refused.stderr).toMatch(
        /^error: i\/checkpoint-0000000001: .*dictionary \([0-9a-f]{16}\)/,
      );
    }
  });

  test('ids are answered as they were written', async () => {
    const folder = new Folder();
    const ids = ['7', '"7"', '18446744073709551617', '"d\\u0030"', '""', '"-1.5e3"', '"甲"'];
    const texts = ids.map((_, row) => documents[row]?.text);
    const rows = ids.map((id, row) => `{"id":${id},"text":${JSON.stringify(texts[row])}}\n`);
    folder.write('in', `${rows.join('')}{"text":"没有自己的编号"}\n`);
    await folder.run(['index', 'build', 'i', 'in']);
    const { stdout } = await folder.run(['index', 'query', 'i', 'in', '--limit', '1']);
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
    const build = await folder.run(['index', 'build', 'i', 'in']);
    expect(build.status).toBe(1);
    expect(build.stderr).toContain('in:2: ');
    expect(build.stderr).toContain('read 3 = documents 2 + rejected 1');
    const answers = await folder.run(['index', 'query', 'i', 'in', '-o', 'out']);
    expect(answers.status).toBe(1);
    expect(folder.records<Answer>('out').map(({ matches }) => matches[0]?.id)).toEqual(['a', 'b']);
  });
});

describe('add', () => {
  test('adding a second half is building with both', async () => {
    const folder = new Folder();
    folder.write('first', lines(documents.slice(0, 150)));
    folder.write('second', lines(documents.slice(150)));
    await folder.run(['index', 'build', 'i', 'first', '--method', 'simhash']);
    const { status, stderr } = await folder.run(['index', 'add', 'i', 'second']);
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
    await index.save(folder.join('saved'));
    const refusedFile = await folder.run(['index', 'add', 'saved', 'in']);
    expect(refusedFile).toMatchObject({ status: 3 });
    expect(refusedFile.stderr).toContain('it is a file; name the folder of an index');
    await folder.run(['index', 'snapshot', 'saved', 'i']);
    const added = await folder.run(['index', 'add', 'i', 'in']);
    expect(added).toMatchObject({ status: 0 });
    expect(added.stderr).toContain('index of 4 documents by sentences');
    const { stdout } = await folder.run(['index', 'query', 'i', 'in']);
    expect(jsonLines<Answer>(stdout).map(({ matches }) => matches.map(({ id }) => id))).toEqual([
      ['a', 'b'],
      [1, '7'],
    ]);
    const opened = await Index.open(folder.join('i'), { sentences: 3 });
    expect([opened.idOf('b'), opened.idOf('"7"')]).toEqual([2, 3]);
    const bare = new Index({ sentences: 3 });
    await bare.snapshot(folder.join('bare'));
    const refused = await folder.run(['index', 'add', 'bare', 'in']);
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain('keys must be true');
  });

  posixTest.each(['SIGINT', 'SIGTERM'] as const)(
    '%s leaves the index as it was',
    async (signal) => {
      const folder = copy();
      execFileSync('mkfifo', [folder.join('in')]);
      const child = folder.start(['index', 'add', 'i', 'in']);
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
      expect(held(folder)).toEqual(held(built));
    },
  );
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
    const args = ['index', 'build', 'i', SAMPLE, '--json', '--plan', 'classic'];
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
      ['verify', 'i'],
      ['query', 'i', SAMPLE],
      ['add', 'i', SAMPLE],
      ['compact', 'i'],
      ['snapshot', 'i', 'j'],
      ['export', 'i'],
    ]) {
      const before = held(folder);
      const { status, stdout, stderr } = await folder.run(['index', ...args]);
      expect(stderr).toMatch(says);
      expect(stderr).toMatch(/^error: /);
      expect(stderr).not.toContain('    at ');
      expect({ status, stdout }).toEqual({ status: 4, stdout: '' });
      expect(held(folder)).toEqual(before);
      expect(folder.names()).toEqual(['i']);
    }
  };

  test.each([0, 40, 0.3, 0.9])('a flipped byte of the index, at %f', async (place) => {
    const folder = copy();
    const bytes = readFileSync(folder.join(CHECKPOINT));
    const at = place < 1 ? Math.floor(place * bytes.length) : place;
    bytes[at] = (bytes[at] ?? 0) ^ 0x10;
    writeFileSync(folder.join(CHECKPOINT), bytes);
    await refused(folder, /checkpoint-0000000001.*byte \d+/);
  });

  test('an index that was cut short, or is none', async () => {
    const folder = copy();
    folder.write(CHECKPOINT, readFileSync(built.join(CHECKPOINT)).subarray(0, 5_000));
    await refused(folder, /checkpoint-0000000001.*byte \d+/);
    folder.write(CHECKPOINT, 'something else\n');
    await refused(folder, 'checkpoint-0000000001');
  });

  test('an index of another release is refused, and left as it is', async () => {
    const folder = new Folder();
    copyFileSync(join(ROOT, '__test__', 'fixtures', '0.1.0', 'cli.index'), folder.join('old'));
    for (const command of ['stats', 'verify', 'export']) {
      const { status, stderr } = await folder.run(['index', command, 'old']);
      expect(stderr).toMatch(/^error: old: .*build it again/);
      expect(status).toBe(4);
    }
  });
});

test.each([
  [
    ['index'],
    2,
    'index needs a command: build, add, query, stats, convert, verify, compact, snapshot or export',
  ],
  [['index', 'bild', 'in'], 2, 'did you mean index build?'],
  [['idnex', 'build'], 2, 'did you mean index?'],
  [['index', 'build', 'in'], 2, 'index build needs DIR IN...'],
  [['index', 'build', '-', 'in'], 2, 'not a stream'],
  [['index', 'build', 'in', 'in'], 3, 'it is a file; name the folder of an index'],
  [['index', 'snapshot', 'i'], 2, 'index snapshot needs DIR OUT'],
  [['index', 'export', 'i', '--format', 'xml'], 2, '--format must be jsonl, csv or arrow'],
  [['index', 'build', 'i', 'in', '--bands', '3'], 2, '--bands and --rows must be given'],
  [['index', 'build', 'i', 'in', '--plan', 'auto', '--rows', '3'], 2, '--rows is for method'],
  [['index', 'build', 'i', 'in', '--method', 'brute-force'], 2, '--method must be minhash'],
  [['index', 'query', 'in', '-', '-'], 2, 'only once'],
  [['index', 'query', 'in', 'in'], 4, 'not a saved index'],
  [['index', 'build', 'i', 'in', '--plan', 'k9'], 2, 'k9'],
  [['index', 'build', 'i', 'missing'], 3, 'cannot read missing'],
  [['index', 'build', 'no/i', 'in'], 3, 'there is no folder no; make it first'],
  [['index', 'query', 'in'], 2, 'index query needs DIR IN...'],
  [['index', 'query', 'missing', 'in'], 3, 'cannot read missing:'],
  [['index', 'add', 'missing', 'in'], 3, 'cannot read missing:'],
  [['index', 'stats', 'missing'], 3, 'cannot read missing:'],
] as const)('%j exits %i and leaves no file', async (args, status, says) => {
  const folder = new Folder();
  folder.write('in', record('a', A));
  const result = await folder.run(args);
  expect(result).toMatchObject({ status, stdout: '', stderr: expect.stringContaining(says) });
  expect(folder.names()).toEqual(['in']);
  expect(folder.read('in')).toBe(record('a', A));
});

posixTest('SIGINT while building leaves nothing', async () => {
  const folder = new Folder();
  execFileSync('mkfifo', [folder.join('in')]);
  const child = folder.start(['index', 'build', 'i', 'in']);
  const end = ended(child);
  const pipe = await open(folder.join('in'), 'w');
  child.kill('SIGINT');
  expect(await end).toMatchObject({ status: 130, stdout: '' });
  await pipe.close();
  expect(folder.names()).toEqual(['in']);
});

test.each([[['index', '--help']], [['help', 'index']]])(
  '%j lists the commands of the group',
  async (args) => {
    const { status, stdout } = await new Folder().run(args);
    expect(status).toBe(0);
    for (const name of [
      'build',
      'add',
      'query',
      'stats',
      'verify',
      'compact',
      'snapshot',
      'export',
    ]) {
      expect(stdout).toMatch(new RegExp(`^ {2}index ${name} `, 'm'));
    }
  },
);

test('a folder that holds something else, or an index already, is left alone', async () => {
  const folder = copy();
  mkdirSync(folder.join('j'));
  folder.write('j/letter', 'foreign');
  const foreign = await folder.run(['index', 'build', 'j', SAMPLE]);
  expect(foreign).toMatchObject({ status: 3, stderr: expect.stringContaining('(letter)') });
  const taken = await folder.run(['index', 'build', 'i', SAMPLE]);
  expect(taken).toMatchObject({ status: 3 });
  expect(taken.stderr).toContain('it holds an index already');
  expect(folder.read('j/letter')).toBe('foreign');
  expect(held(folder)).toEqual(held(built));
});

describe('verify, compact, snapshot and export', () => {
  test('a sound index is verified, made small and copied while a process writes to it', async () => {
    const folder = copy();
    await folder.run(['index', 'add', 'i', SAMPLE]);
    const index = await Index.open(folder.join('i'));
    const verified = await folder.run(['index', 'verify', 'i']);
    expect(verified).toMatchObject({ status: 0, stderr: '' });
    expect(verified.stdout).toContain(`sound: index of ${2 * documents.length} documents`);
    const copied = await folder.run(['index', 'snapshot', 'i', 'j', '--json']);
    expect(JSON.parse(copied.stdout)).toMatchObject({ documents: 2 * documents.length });
    const locked = await folder.run(['index', 'compact', 'i']);
    expect(locked).toMatchObject({ status: 3, stderr: expect.stringContaining(`${process.pid}`) });
    await index.close();
    expect((await folder.run(['index', 'compact', 'i'])).status).toBe(0);
    expect(folder.read('i/MANIFEST')).not.toBe(built.read('i/MANIFEST'));
    const answers = (name: string) => folder.run(['index', 'query', name, SAMPLE]);
    expect((await answers('j')).stdout).toBe((await answers('i')).stdout);
    const stats = await folder.run(['index', 'verify', 'j', '--json']);
    expect(JSON.parse(stats.stdout)).toMatchObject({ documents: 2 * documents.length });
  });

  test('an export has a line for each document, as JSON lines and as CSV', async () => {
    const { stdout, stderr, status } = await built.run(['index', 'export', 'i']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: `${documents.length} documents\n` });
    const lines = jsonLines<{ id: string; number: number; fingerprint?: string }>(stdout);
    expect(lines.map(({ id, number }) => [id, number])).toEqual(
      documents.map(({ id }, row) => [id, row]),
    );
    const known = await built.run(['fingerprint', '--method', 'simhash', '--json', SAMPLE]);
    const expected = jsonLines<{ fingerprint?: string }>(known.stdout);
    const whole = lines.filter(({ fingerprint }) => !fingerprint?.startsWith('='));
    expect(whole.length).toBeGreaterThan(documents.length / 2);
    for (const { number, fingerprint } of whole)
      expect(fingerprint).toBe(expected[number]?.fingerprint);
    const csv = await built.run(['index', 'export', 'i', '--format', 'csv', '-q']);
    const [head, first] = csv.stdout.split('\r\n');
    expect(head).toBe('id,number,fingerprint');
    expect(first).toBe(`${documents[0]?.id},0,${lines[0]?.fingerprint}`);
    // The name of the output is enough.
    expect((await built.run(['index', 'export', 'i', '-o', 'out.csv'])).status).toBe(0);
    expect(built.read('out.csv')).toBe(csv.stdout);
    expect((await built.run(['index', 'export', 'i', '-o', 'out.arrow'])).status).toBe(0);
    expect(built.read('out.arrow').startsWith('ARROW1')).toBe(true);
    const columns = ['fingerprint', 'out.arrow', '--text-field', 'id', '--json', '-q'];
    expect(jsonLines((await built.run(columns)).stdout)).toHaveLength(documents.length);
    const other = await built.run(['index', 'export', 'i', '--format', 'csv', '-o', 'x.arrow']);
    expect(other).toMatchObject({ status: 2, stdout: '' });
    expect(other.stderr).toContain('x.arrow (Arrow)');
    const summary = await built.run(['index', 'export', 'i', '-o', 'out', '--json']);
    expect(JSON.parse(summary.stdout)).toMatchObject({
      documents: documents.length,
      output: 'out',
    });
    expect(built.read('out')).toBe(stdout);
  });
});
