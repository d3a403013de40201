import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { entries, loaded } from '../ts/cli/commands';
import { find } from '../ts/cli/find';
import { commandHelp, overview } from '../ts/cli/help';
import { common, parse } from '../ts/cli/parse';
import { Folder, ROOT } from './cli-run';

const folder = new Folder();
const sections = await loaded();
const commands = sections.flatMap(({ commands }) => commands);
const COMMANDS = commands.map(({ name }) => name);
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  version: string;
};

describe('a wrong command line exits 2, writes nothing to standard output and says what would be right', () => {
  const cases: readonly [args: string[], says: string][] = [
    [['dedpu'], 'did you mean dedup?'],
    [['fingerprnt'], 'did you mean fingerprint?'],
    [['frobnicate'], 'simhash-native help'],
    [['--frobnicate'], "unknown option '--frobnicate'"],
    [['help', 'explian'], 'did you mean explain?'],
    [['help', 'index', 'bulid'], 'did you mean index build?'],
    [['help', 'dedup', 'in'], "does not take 'in'"],
    [['dedup', 'in', '--ouptut', 'out'], 'did you mean --output?'],
    [['dedup', 'in', '--min-similarty=0.5'], 'did you mean --min-similarity?'],
    [['dedup', 'in', '-x', 'out'], 'unknown option -x'],
    [['dedup', 'in', '--xyzzy'], 'simhash-native help dedup'],
    [['dedup', '-o', 'out'], 'dedup needs IN...'],
    [['dedup', 'in', '-o', 'out', '--top-k', '3'], '--top-k must be left out'],
    [
      ['dedup', 'in', '-o', 'out', '--no-hmm'],
      '--no-hmm must be left out unless features are jieba',
    ],
    [['fingerprint', 'in', '--top-k', 'many'], "whole number from 1 or auto, got 'many'"],
    [['dedup', 'in', '-o', 'out', '--bands', '3'], '--bands and --rows must be given together'],
    [['dedup', 'in', '-o', 'out', '--rows', '3', '--method', 'exact'], '--rows is for method'],
    [['dedup', ''], 'dedup got an empty name'],
    [['dedup', 'in', '', '-o', 'out'], 'a variable of the shell that is not set'],
    [
      ['dedup', 'in', '-o', 'out', '--max-record', '12x'],
      "a size from 1 to 1G, as 64K or 256M, got '12x'",
    ],
    [
      ['dedup', 'in', '-o', 'out', '--max-record', '2G'],
      "a size from 1 to 1G, as 64K or 256M, got '2G'",
    ],
    [['dedup', 'in', '-o', 'out', '--memory', '64k'], "at least 200M, as 512M or 2G, got '64k'"],
    [['dedup', 'in', '-o', 'out', '--delimiter', 'ab'], 'one sign of ASCII, no letter, digit,'],
    [['dedup', 'in', '-o', 'out', '--delimiter', '"'], "or tab, got '\"'"],
    [['dedup', 'in'], 'dedup needs -o OUT'],
    [['dedup', 'in', '-o'], '-o needs a value'],
    [['dedup', 'in', '-o', '--json'], '-o needs a value'],
    [['dedup', 'in', '-o', 'a', '-o', 'b'], '-o is given twice'],
    [['dedup', 'in', '-o', 'out', '--mark=yes'], '--mark takes no value'],
    [['dedup', 'in', '-o', 'out', '--max-distance', '17'], 'an integer from 0 to 16'],
    [['dedup', 'in', '-o', 'out', '--max-distance', '-1'], "got '-1'"],
    [['dedup', 'in', '-o', 'out', '--max-distance', '2.5'], 'an integer'],
    [['dedup', 'in', '-o', 'out', '--min-similarity', '1.5'], 'a number from 0 to 1'],
    [['dedup', 'in', '-o', 'out', '--min-similarity', ''], 'needs a value'],
    [
      ['dedup', 'in', '-o', 'out', '--verify', 'off', '--min-similarity', '0.7'],
      '--min-similarity 0.7 must be left out beside --verify off',
    ],
    [
      ['clusters', 'in', '--min-similarity=0.8', '--verify=off'],
      '--min-similarity 0.8 must be left out beside --verify off',
    ],
    [['dedup', 'in', '-o', 'out', '--threads', 'all'], "got 'all'"],
    [['dedup', 'in', '-o', 'out', '--features', 'word'], 'did you mean words?'],
    [['dedup', 'in', '-o', 'out', '--ngram', '9'], 'an integer from 1 to 8'],
    [['dedup', 'in', '-o', 'out', '--text-field', 'a..b'], '--text-field must be keys'],
    [['dedup', 'in', '-o', 'out', '--preset', 'jieba'], "got 'jieba'"],
    [['dedup', 'in', '-o', 'out', '--weighting', 'tfidf'], 'weighting'],
    [['dedup', 'in', '-o', 'out', '--normalize', 'html,emojis'], 'did you mean emoji?'],
    [['dedup', 'in', '-o', 'out', '--normalize', 'html,web'], 'only be the first'],
    [['dedup', '-', '-', '-o', 'out'], 'only once'],
    [['dedup', 'in', '-o', 'out', '--clusters', '-'], 'only -o'],
    [['explain', 'a'], 'explain needs A B'],
    [['explain', 'a', 'b', 'c'], "does not take 'c'"],
    [['version', 'x'], "does not take 'x'"],
  ];
  test.each(cases)('%j', async (args, says) => {
    folder.write('in', '{"text":"一"}\n');
    const { status, stdout, stderr } = await folder.run(args);
    expect(stderr).toContain(says);
    expect(stderr).toMatch(/^error: /);
    expect(stderr).not.toContain('    at ');
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(folder.names()).toEqual(['in']);
  });
});

test('no command shows the commands on standard error and exits 2', async () => {
  const { status, stdout, stderr } = await folder.run([]);
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toContain('Usage: simhash-native <command>');
});

test.each([['help'], ['--help'], ['-h']])('%s shows the commands and exits 0', async (name) => {
  const { status, stdout, stderr } = await folder.run([name]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  for (const command of COMMANDS) {
    expect(stdout).toMatch(new RegExp(`^ {2}${command} `, 'm'));
  }
});

test('help of a command and its --help are the same text, within 80 columns', async () => {
  for (const command of COMMANDS) {
    const [byName, byOption] = [
      await folder.run(['help', ...command.split(' ')]),
      await folder.run([...command.split(' '), '--help']),
    ];
    expect(byName).toEqual(byOption);
    expect(byName.status).toBe(0);
    expect(Math.max(...byName.stdout.split('\n').map((line) => line.length))).toBeLessThan(81);
  }
});

test('a command is found by its name before it is loaded', async () => {
  expect(entries.map(({ name }) => name)).toEqual(COMMANDS);
  for (const { name, load } of entries) expect((await load()).name).toBe(name);
});

test('the Chinese page has every command, and no option that no command has', () => {
  const page = readFileSync(join(ROOT, 'docs', 'zh', 'cli.md'), 'utf8');
  const rows = page.split('## 命令\n')[1]?.split('\n## ')[0] ?? '';
  const named = [...rows.matchAll(/`([a-z ]+)`/g)].map(([, name]) => name);
  expect([...named].sort()).toEqual([...COMMANDS].sort());
  const known = new Set(
    commands.flatMap((command) => Object.keys({ ...command.options, ...common(command) })),
  );
  const options = [...page.matchAll(/--([a-z][a-z-]*)/g)].map(([, name = '']) => name);
  expect(options.length).toBeGreaterThan(20);
  expect(options.filter((name) => !known.has(name))).toEqual([]);
});

test('a start loads the command that it runs and no other', async () => {
  const script = [
    'const { main } = require(process.argv[1]);',
    "main(['version']).then(() => {",
    "  const loaded = Object.keys(require.cache).map((path) => path.replace(/\\\\/g, '/'));",
    '  console.error(JSON.stringify(loaded.flatMap((path) => /cli\\/commands\\/(.*)\\.js$/.exec(path)?.[1] ?? [])));',
    '});',
  ].join('\n');
  const main = join(ROOT, 'dist', 'cli', 'main.js');
  const { stdout, stderr, status } = spawnSync(process.execPath, ['-e', script, main], {
    encoding: 'utf8',
  });
  expect({ status, stdout: stdout.trim() }).toEqual({
    status: 0,
    stdout: expect.stringContaining(version),
  });
  expect(JSON.parse(stderr)).toEqual(['index', 'version']);
});

test('help begins with examples, each of which is a command line that parses', () => {
  for (const command of commands) {
    const { name, examples } = command;
    const text = commandHelp(command);
    expect(text, name).toMatch(/^Usage: .*\n\n.*\.\n\nExamples?:\n {2}simhash-native /);
    for (const example of examples) {
      expect(text).toContain(`\n  simhash-native ${example}\n`);
      parsed(example, name);
    }
  }
  const shown = [...overview(sections).matchAll(/^ {2}simhash-native (.*)$/gm)];
  expect(shown.length).toBeGreaterThan(2);
  for (const [, example = ''] of shown) parsed(example);
});

/** What a command line means, whatever a shell does with its output. */
function parsed(line: string, name?: string): void {
  const [command = ''] = line.split(/ >>? /);
  const words = [...command.matchAll(/'([^']*)'|\S+/g)].map(([word, quoted]) => quoted ?? word);
  const found = find(words, commands);
  if (!('command' in found)) throw new Error(`${line} is no command`);
  if (name !== undefined) expect(found.command.name).toBe(name);
  expect(parse(found.command, found.rest).help).toBe(false);
}

test('options of a command of many stand in groups, each once', () => {
  const dedup = commands.find(({ name }) => name === 'dedup');
  const stdout = dedup === undefined ? '' : commandHelp(dedup);
  const titles = [...stdout.matchAll(/^(\w[\w ]+):$/gm)].map(([, title]) => title);
  expect(titles).toEqual([
    ...['Examples', 'Options', 'What a duplicate is', 'What texts are compared by'],
    ...['How files are read', 'How it runs'],
  ]);
  const options = [...stdout.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, flag]) => flag);
  const expected = ['config', 'print-config', 'help', ...Object.keys(dedup?.options ?? {})];
  expect(options.sort()).toEqual(expected.map((name) => `--${name}`).sort());
});

test.each([['version'], ['--version'], ['-v'], ['-V']])(
  '%s prints the version of the package',
  async (name) => {
    expect(await folder.run([name])).toMatchObject({ status: 0, stdout: `${version}\n` });
  },
);

test('version --json names the specification, Node and the platform', async () => {
  const { stdout } = await folder.run(['version', '--json']);
  expect(JSON.parse(stdout)).toEqual({
    'simhash-native': version,
    specification: 1,
    node: process.versions.node,
    platform: `${process.platform}-${process.arch}`,
  });
});
