/** Help text, made from the table that parses. */
import type { Command, OptionSpec } from './command';
import type { Section } from './commands';
import { GROUPS } from './options';
import { common } from './parse';

/** Column where descriptions begin. */
const INDENT = 28;
/** Widest line: the usual width of a terminal. */
const WIDTH = 80;
/** Options of a command from which on they are shown in groups. */
const MANY = 12;

/** Overview: what the program does and its commands. */
export function overview(sections: readonly Section<Command>[]): string {
  return [
    'Usage: simhash-native <command> [options]',
    '',
    'Finds near-duplicate texts, Chinese first.',
    '',
    ...examples(OVERVIEW),
    ...sections.flatMap(({ title, commands }) => [
      `${title}:`,
      ...commands.flatMap((command) => row(command.name, command.summary)),
      '',
    ]),
    'simhash-native help <command> shows examples and options of a command.',
    '',
    'Data goes to standard output, everything for people to standard error.',
    '- names standard input or output. NO_COLOR turns colour off.',
    '',
    'Exit status: 0 done; 1 done, but records were rejected; 2 wrong usage;',
    '3 an input or output failed; 4 a saved index is damaged or does not fit;',
    '130 interrupted.',
    '',
  ].join('\n');
}

/** What most people come for. */
const OVERVIEW = [
  'dedup news.jsonl -o unique.jsonl',
  'dedup news.csv -o unique.csv --text-field body --id-field no',
  'match train.jsonl --against test.jsonl -o seen.jsonl',
  'tune news.jsonl',
];

/** The commands of a family, such as those of `index`. */
export function familyHelp(name: string, family: readonly Command[]): string {
  return [
    `Usage: simhash-native ${name} <command> [options]`,
    '',
    ...examples(family.slice(0, 3).flatMap((command) => command.examples.slice(0, 1))),
    'Commands:',
    ...family.flatMap((command) => row(command.name, command.summary)),
    '',
    `simhash-native help ${name} <command> shows examples and options of a command.`,
    '',
  ].join('\n');
}

/** Everything about one command. */
export function commandHelp(command: Command): string {
  return [
    ['Usage: simhash-native', command.name, command.arguments.usage, '[options]']
      .filter((part) => part !== '')
      .join(' '),
    '',
    `${capitalised(command.summary)}.`,
    '',
    ...examples(command.examples),
    ...(command.arguments.usage === ''
      ? []
      : [...row(command.arguments.usage, command.arguments.help), '']),
    ...grouped(command).flatMap(([title, options]) => [
      `${title}:`,
      ...options.flatMap(([name, spec]) => row(label(name, spec), description(spec))),
      '',
    ]),
    ...command.notes.flatMap((note) => [...wrap(note, WIDTH), '']),
  ].join('\n');
}

function examples(lines: readonly string[]): string[] {
  const title = lines.length === 1 ? 'Example:' : 'Examples:';
  return [title, ...lines.map((line) => `  simhash-native ${line}`), ''];
}

type Options = [name: string, spec: OptionSpec][];

/** The options of a command under their titles: its own first. */
function grouped(command: Command): [title: string, options: Options][] {
  const all: Options = Object.entries({ ...command.options, ...common(command) });
  if (all.length < MANY) return [['Options', all]];
  const titleOf = (name: string) =>
    GROUPS.find(([, names]) => names.includes(name))?.[0] ?? 'Options';
  const titles = ['Options', ...GROUPS.map(([title]) => title)];
  return titles.flatMap((title): [string, Options][] => {
    const own = all.filter(([name]) => titleOf(name) === title);
    return own.length === 0 ? [] : [[title, own]];
  });
}

function label(name: string, spec: OptionSpec): string {
  const short = spec.short === undefined ? '' : `-${spec.short}, `;
  const value = spec.kind === 'flag' ? '' : ` ${spec.value}`;
  return `${short}--${name}${value}`;
}

function description(spec: OptionSpec): string {
  switch (spec.kind) {
    case 'flag':
      return spec.help;
    case 'choice':
      return `${spec.help}: ${spec.choices.join(', ')}${notes(byDefault(spec.default))}`;
    case 'text':
      return `${spec.help}${notes(byDefault(spec.default))}`;
    case 'texts':
      return `${spec.help}${notes('may be given again')}`;
    default:
      return `${spec.help}${notes(`${spec.min} to ${spec.max}`, byDefault(spec.default))}`;
  }
}

function byDefault(value: string | number | undefined): string {
  return value === undefined ? '' : `default ${value}`;
}

function notes(...parts: readonly string[]): string {
  const given = parts.filter((part) => part !== '');
  return given.length === 0 ? '' : ` (${given.join('; ')})`;
}

function row(name: string, text: string): string[] {
  const lines = wrap(text, WIDTH - INDENT);
  const left = `  ${name}`;
  const first = left.length < INDENT ? [left.padEnd(INDENT) + lines.shift()] : [left];
  return [...first, ...lines.map((line) => ' '.repeat(INDENT) + line)];
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = '';
    }
    line += line === '' ? word : ` ${word}`;
  }
  return [...lines, line];
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
