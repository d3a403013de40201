/** `--config FILE`, `--print-config`, and the names by which errors call an option. */
import { expect, test } from 'vitest';
import { loaded } from '../ts/cli/commands';
import { isConfigurable } from '../ts/cli/config';
import { Folder } from './cli-run';

const folder = new Folder();
const commands = (await loaded()).flatMap(({ commands }) => commands);
folder.write(
  'in.jsonl',
  [
    '望海港本月开通了一条直达南美西海岸的集装箱航线',
    '望海港本月开通了一条直达南美西海岸的集装箱航线。',
  ]
    .map((text) => `${JSON.stringify({ text, body: text })}\n`)
    .join(''),
);

interface Told {
  readonly duplicates: number;
  readonly options: Readonly<Record<string, unknown>>;
}

/** What a run says that is made with these options. */
async function told(config: object, ...flags: string[]): Promise<Told> {
  folder.write('run.json', JSON.stringify(config));
  const args = ['dedup', 'in.jsonl', '--dry-run', '--json', '--config', 'run.json', ...flags];
  const { status, stdout, stderr } = await folder.run(args);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(stdout) as Told;
}

test('a file gives options, and flags win', async () => {
  const config = { method: 'simhash', maxDistance: 3, noHmm: false, textField: ['text', 'body'] };
  expect((await told(config)).options).toMatchObject({
    method: 'simhash',
    maxDistance: 3,
    textField: ['text', 'body'],
  });
  const { options } = await told(config, '--max-distance', '5', '--text-field', 'body');
  expect(options).toMatchObject({ method: 'simhash', maxDistance: 5, textField: ['body'] });
  expect((await told({ textField: 'body', memory: 300_000_000 })).options).toMatchObject({
    textField: ['body'],
    memory: 300_000_000,
  });
});

test.each([
  [
    { minSimilarty: 0.5 },
    'dedup has no option minSimilarty, which is in run.json',
    'minSimilarity',
  ],
  [{ 'min-similarity': 0.5 }, 'dedup has no option min-similarity, which', 'minSimilarity'],
  [{ depth: 3 }, 'dedup has no option depth, which is in run.json', 'help dedup'],
  [{ config: 'x' }, 'dedup has no option config, which is in run.json', ''],
  [{ minSimilarity: 2 }, "minSimilarity in run.json must be a number from 0 to 1, got '2'", ''],
  [{ maxDistance: 'x' }, "maxDistance in run.json must be an integer from 0 to 16, got 'x'", ''],
  [{ method: 'minhsh' }, "or exact, got 'minhsh'", 'did you mean minhash?'],
  [{ mark: 'yes' }, 'mark in run.json must be true or false, got "yes"', ''],
  [{ output: ['a', 'b'] }, 'output in run.json must be a string, got ["a","b"]', ''],
  [{ minSimilarity: null }, 'minSimilarity in run.json must be a number, got null', ''],
  [[1], 'run.json must be an object of options', ''],
])('%j is refused, by the name that it has there', async (config, says, hint) => {
  folder.write('run.json', JSON.stringify(config));
  const args = ['dedup', 'in.jsonl', '--dry-run', '--config', 'run.json'];
  const { status, stdout, stderr } = await folder.run(args);
  expect(stderr).toContain(says);
  expect(stderr).toContain(hint);
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
});

test('what the library refuses is called as it was given', async () => {
  folder.write('run.json', JSON.stringify({ topK: 3 }));
  const run = async (...args: string[]) =>
    (await folder.run(['dedup', 'in.jsonl', '--dry-run', ...args])).stderr;
  expect(await run('--top-k', '3')).toMatch(/^error: --top-k must be left out/);
  expect(await run('--config', 'run.json')).toMatch(/^error: topK in run\.json must be left out/);
});

test('a file that cannot be read, or is no JSON, exits 3', async () => {
  folder.write('bad.json', '{ "mark": tru');
  for (const file of ['missing.json', 'bad.json']) {
    const { status, stderr } = await folder.run(['dedup', 'in.jsonl', '-o', 'o', '--config', file]);
    expect(stderr).toContain(`error: cannot read ${file}: `);
    expect(status).toBe(3);
  }
});

test('what --print-config prints is a file that changes nothing', async () => {
  const args = ['--min-similarity', '0.9', '--text-field', 'body', '--no-hmm', '-q'];
  const first = await folder.run(['dedup', '--print-config', ...args]);
  expect(first).toMatchObject({ status: 0, stderr: '' });
  expect(JSON.parse(first.stdout)).toMatchObject({
    ...{ minSimilarity: 0.9, textField: ['body'], noHmm: true, quiet: true },
    ...{ keep: 'first', mark: false, threads: 0 },
  });
  folder.write('printed.json', first.stdout);
  const again = await folder.run(['dedup', '--config', 'printed.json', '--print-config']);
  expect(again.stdout).toBe(first.stdout);
});

test('every command with options takes a file of them', async () => {
  const without = commands.filter((command) => !isConfigurable(command));
  expect(without.map(({ name }) => name).sort()).toEqual([
    ...['completions', 'doctor', 'help', 'version'],
  ]);
  for (const { name } of commands.filter(isConfigurable)) {
    const { status, stdout } = await folder.run([...name.split(' '), '--print-config']);
    expect({ name, status, object: typeof JSON.parse(stdout) }).toEqual({
      ...{ name, status: 0, object: 'object' },
    });
  }
});
