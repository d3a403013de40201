import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Folder, jsonLines, SAMPLE } from './cli-run';

const folder = new Folder();
const sample = jsonLines<{ id: string; text: string }>(readFileSync(SAMPLE, 'utf8'));

test.each([
  ['by default', []],
  [
    'with options of the features',
    ['--features', 'jieba', '--no-hmm', '--normalize', 'web,no-html'],
  ],
  ['with another threshold', ['--min-similarity', '0.7', '--ngram', '3']],
])('the command that is printed deduplicates as the trial did: %s', async (_name, options) => {
  const tuned = await folder.run(['tune', SAMPLE, '-q', '--json', ...options]);
  const { command, recommended, redundant } = JSON.parse(tuned.stdout) as {
    command: string;
    recommended: object;
    redundant: number;
  };
  const [npx, name, ...args] = command.split(' ');
  expect(`${npx} ${name}`).toBe('npx @x/simhash-native');
  const { status, stdout, stderr } = await folder.run([...args, '--json', '-q']);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const {
    duplicates,
    inputs,
    options: own,
  } = JSON.parse(stdout) as {
    duplicates: number;
    inputs: string[];
    options: object;
  };
  expect(inputs).toEqual([SAMPLE]);
  expect(own).toMatchObject(recommended);
  // The goal is a recall of 0.99: of the sample, which is the whole file here, at most one is missed.
  expect(duplicates).toBeGreaterThanOrEqual(redundant - 1);
});

test.each([
  ['the name of an output', ['unique.jsonl'], 'kept.jsonl'],
  ['both names', ['unique.jsonl', './kept.jsonl'], 'deduplicated.jsonl'],
  ['a bracket in it', ['news[1].csv'], 'unique.csv'],
])('the command that is printed runs where an input has %s', async (_name, inputs, output) => {
  const records = sample.map((record, at) => ({ ...record, at: at % inputs.length }));
  for (const [at, input] of inputs.entries()) {
    const own = records.filter((record) => record.at === at);
    const lines = input.endsWith('.csv')
      ? ['id,text', ...own.map(({ id, text }) => `${id},"${text.replaceAll('"', '""')}"`)]
      : own.map((record) => JSON.stringify(record));
    folder.write(input, `${lines.join('\n')}\n`);
  }
  const tuned = await folder.run(['tune', ...inputs, '-q', '--json']);
  const { command } = JSON.parse(tuned.stdout) as { command: string };
  expect(command).toContain(` -o ${output} `);
  const args = command.split(' ').slice(2);
  const { status, stderr } = await folder.run(args.map((word) => word.replaceAll("'", '')));
  expect({ status, stderr: stderr.includes('error') }).toEqual({ status: 0, stderr: false });
});

test('files without a document are named, and nothing is tried', async () => {
  folder.write('other', '{"id": "a", "body": "青禾市图书馆"}\n');
  const { status, stdout, stderr } = await folder.run(['tune', 'other']);
  expect({ status, stdout }).toEqual({ status: 3, stdout: '' });
  expect(stderr).toContain(
    'the only record was rejected, other:1: no field text; the first of them have the fields id, body; if the text is in body, set --text-field body',
  );
  expect(stderr).not.toContain('recall');
  expect((await folder.run(['tune', 'other', '--text-field', 'body'])).status).toBe(0);
  folder.write('empty', '');
  const empty = await folder.run(['tune', 'empty']);
  expect(empty.status).toBe(3);
  expect(empty.stderr).toContain('cannot read empty: no record with a text');
});

test.each([
  [['-'], 'reads its files twice'],
  [[SAMPLE, '--min-similarity', '0'], '--min-similarity must be above 0'],
])('%j is refused', async (args, says) => {
  const { status, stdout, stderr } = await folder.run(['tune', ...args]);
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toContain(says);
});
