/** Help text, made from the table that parses. */
import type { Command, OptionSpec } from './command';
import { HELP } from './parse';

/** Column where descriptions begin. */
const INDENT = 28;
/** Widest line: the usual width of a terminal. */
const WIDTH = 80;

/** Overview: what the program does and its commands. */
export function overview(commands: readonly Command[]): string {
  return [
    'Usage: simhash-native <command> [options]',
    '',
    'Finds near-duplicate texts, Chinese first.',
    '',
    'Commands:',
    ...commands.flatMap((command) => row(command.name, command.summary)),
    '',
    'simhash-native help <command> shows the options of a command.',
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

/** The commands of a group, such as those of `index`. */
export function groupHelp(name: string, group: readonly Command[]): string {
  return [
    `Usage: simhash-native ${name} <command> [options]`,
    '',
    'Commands:',
    ...group.flatMap((command) => row(command.name, command.summary)),
    '',
    `simhash-native help ${name} <command> shows the options of a command.`,
    '',
  ].join('\n');
}

/** Everything about one command. */
export function commandHelp(command: Command): string {
  const options = Object.entries({ ...command.options, help: HELP });
  return [
    ['Usage: simhash-native', command.name, command.arguments.usage, '[options]']
      .filter((part) => part !== '')
      .join(' '),
    '',
    `${capitalised(command.summary)}.`,
    '',
    ...(command.arguments.usage === ''
      ? []
      : [...row(command.arguments.usage, command.arguments.help), '']),
    'Options:',
    ...options.flatMap(([name, spec]) => row(label(name, spec), description(spec))),
    '',
    ...command.notes.flatMap((note) => [...wrap(note, WIDTH), '']),
  ].join('\n');
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
