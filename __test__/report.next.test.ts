/** What a report tells its reader to run next: each command as a shell runs it, with the labels of the page. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { dedupFiles, matchFiles, reportFiles } from '..';
import { Folder, jsonLines, SAMPLE } from './cli-run';
import { posix } from './posix';
import { project } from './project';

/** All of them. */
const test = posix('bash and links to programs');

const folder = new Folder();
project(folder);

interface Next {
  readonly tune: string;
  readonly eval?: string;
  readonly more?: number;
  readonly unsaid?: string[];
}
interface Example {
  readonly members: { readonly id: string }[];
}

/** Data of a page. */
function dataOf<T>(name: string, id: string): T {
  const [, data = ''] = new RegExp(`id="${id}">(.*?)</script>`, 's').exec(folder.read(name)) ?? [];
  return JSON.parse(data) as T;
}
const nextOf = (name: string) => dataOf<{ next: Next }>(name, 'run').next;

/** What the page downloads where its first pairs are called the same. */
function label(name: string): void {
  const { examples } = dataOf<{ examples: Example[] }>(name, 'figures');
  const lines = examples.map(({ members: [first, second] }) =>
    JSON.stringify({ a: first?.id, b: second?.id, label: 1 }),
  );
  expect(lines.length).toBeGreaterThan(0);
  folder.write('labels.jsonl', `${lines.join('\n')}\n`);
}

function pasted(command: string) {
  const { status, stdout, stderr } = spawnSync('bash', ['-c', command], {
    cwd: folder.path,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

/** What `tune` prints and what that does, and what it says of labels. */
function tuned(command: string): void {
  const { status, stdout, stderr } = pasted(command);
  expect(stderr).not.toContain('of no document');
  expect(status).toBe(0);
  const last = stdout.trimEnd().split('\n').at(-1) ?? '';
  expect(last).toMatch(/^npx @x\/simhash-native dedup /);
  expect(pasted(last)).toMatchObject({ status: 0, stderr: expect.not.stringContaining('error') });
}

const sample = jsonLines<{ id: string; text: string }>(readFileSync(SAMPLE, 'utf8'));

test('of dedup, with what says how files are read and cut', async () => {
  // Titles alone are alike, so that a command that reads other fields finds other texts.
  const rows = sample.map(({ id, text }) => `${id};${text.replaceAll('"', '""')}|页脚`);
  const lines = rows.map((row) => row.replace(/;(.*)$/s, ';"$1"'));
  // A name that a shell would take apart, and one that it would take for an option.
  const names = ["it's a name.csv", '-x.csv'];
  for (const [at, name] of names.entries())
    folder.write(name, `no;body\n${lines.filter((_, row) => row % 2 === at).join('\n')}\n`);
  const form = { textField: 'body', idField: 'no', delimiter: ';', cutAfter: '|页脚' } as const;
  const features = {
    features: 'chars',
    ngram: 3,
    normalize: { base: 'web', html: false },
  } as const;
  const inputs = names.map((name) => folder.join(name));
  await dedupFiles(inputs, folder.join('d.csv'), {
    ...{ ...form, ...features, minSimilarity: 0.7, header: true },
    ...{ clusters: folder.join('d.jsonl'), report: folder.join('d.html') },
  });
  label('d.html');
  const next = nextOf('d.html');
  // From the clusters it is the same.
  const how = { ...form, ...features, minSimilarity: 0.7 };
  await reportFiles(folder.join('d.jsonl'), inputs, folder.join('again.html'), how);
  expect(nextOf('again.html')).toEqual(next);
  const scored = pasted(next.eval ?? '');
  expect(scored.stderr).toBe('');
  expect(scored.status).toBe(0);
  // Of all links: they are verified by the same texts and the same features.
  expect(scored.stdout).toMatch(/^pair precision +1\.000000/m);
  expect(scored.stdout).toMatch(/^document recall +1\.000000/m);
  tuned(next.tune);
});

test('of match: labels name documents of both sides', async () => {
  const halves = [0, 1].map((at) => sample.filter((_, row) => row % 2 === at));
  for (const [at, half] of halves.entries())
    folder.write(
      `${at}.jsonl`,
      half.map(({ id, text }) => `${JSON.stringify({ id, body: text })}\n`).join(''),
    );
  await matchFiles(folder.join('0.jsonl'), folder.join('m.jsonl'), {
    against: folder.join('1.jsonl'),
    textField: 'body',
    report: folder.join('m.html'),
  });
  label('m.html');
  const next = nextOf('m.html');
  expect(next.eval).toBeUndefined();
  tuned(next.tune);
});

test('of dedup beside known documents, whose clusters have no file yet', async () => {
  const form = { textField: 'body', known: folder.join('1.jsonl') };
  const [input, output, report] = ['0.jsonl', 'k.out', 'k.html'].map((name) => folder.join(name));
  await dedupFiles(input as string, output, { ...form, report });
  label('k.html');
  // As the page says, it is run again.
  await dedupFiles(input as string, output, { ...form, clusters: folder.join('clusters.jsonl') });
  const next = nextOf('k.html');
  const scored = pasted(next.eval ?? '');
  expect({ status: scored.status, stderr: scored.stderr }).toEqual({ status: 0, stderr: '' });
  expect(scored.stdout).toMatch(/^documents +303 /m);
  tuned(next.tune);
});

test('labels of other documents are said to be that', async () => {
  folder.write('labels.jsonl', '{"a":"nobody","b":"d005","label":1}\n');
  const { status, stderr } = await folder.run(['tune', SAMPLE, '--labels', 'labels.jsonl']);
  expect(status).toBe(0);
  expect(stderr).toContain('1 id in the labels is of no document, and was left out');
});

test('of many files some are named, and of words that are no file it is said that they are missing', async () => {
  const names = Array.from({ length: 300 }, (_, at) => folder.join(`part-${1000 + at}.jsonl`));
  for (const [at, { id, text }] of sample.slice(0, 300).entries())
    folder.write(`part-${1000 + at}.jsonl`, `${JSON.stringify({ id, text })}\n`);
  await dedupFiles(names, folder.join('p.out'), {
    ...{ features: 'jieba', dictionary: ['望海港'] },
    report: folder.join('p.html'),
  });
  const next = nextOf('p.html');
  expect(next).toMatchObject({ more: 280, unsaid: ['dictionary'] });
  expect(next.tune.split(' ').filter((one) => one.includes('part-'))).toHaveLength(20);
  const run = dataOf<{ inputs: string[]; moreInputs: number }>('p.html', 'run');
  expect(run).toMatchObject({ inputs: [names[0]], moreInputs: 299 });
  // The rest are names of files whose documents are shown.
  const { names: shown, examples } = dataOf<{
    names: Record<string, string>;
    examples: { members: { input: number }[] }[];
  }>('p.html', 'figures');
  const used = new Set(examples.flatMap(({ members }) => members.map(({ input }) => input)));
  expect(Object.keys(shown).map(Number)).toEqual([...used].sort((a, b) => a - b));
  expect(used.size).toBeGreaterThan(10);
  expect(used.size).toBeLessThan(250);
  for (const at of used) expect(shown[at]).toBe(names[at]);
});
