// biome-ignore-all lint/suspicious/noTemplateCurlyInString: scripts of shells are full of them
/** Completions of shells, made from the commands and their options. */
import { type Command, isOfPath, type OptionSpec } from './command';
import { common } from './parse';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** An option of a command. */
interface Option {
  readonly name: string;
  readonly spec: OptionSpec;
}

/** The script that a shell reads. */
export function completions(shell: Shell, commands: readonly Command[]): string {
  return { bash, zsh, fish }[shell](commands);
}

function optionsOf(command: Command): Option[] {
  const all = { ...command.options, ...common(command) };
  return Object.entries(all).map(([name, spec]) => ({ name, spec }));
}

/** `-o` and `--output`. */
function flagsOf({ name, spec }: Option): string[] {
  return [...(spec.short === undefined ? [] : [`-${spec.short}`]), `--${name}`];
}

/** The words that can stand first, each once: `index` for all of `index build` and the others. */
function firstWords(commands: readonly Command[]): string[] {
  return [...new Set(commands.map(({ name }) => name.split(' ')[0] ?? name))];
}

/** What can stand behind the word of a family of commands: `build` of `index`. */
function families(commands: readonly Command[]): Map<string, Command[]> {
  const all = new Map<string, Command[]>();
  for (const command of commands) {
    const [family = '', own] = command.name.split(' ');
    if (own !== undefined) all.set(family, [...(all.get(family) ?? []), command]);
  }
  return all;
}

function ownWord({ name }: Command): string {
  return name.slice(name.indexOf(' ') + 1);
}

/** What the arguments of a command can be, where they are words of a list. */
function argumentWords({ arguments: { choices } }: Command, commands: readonly Command[]) {
  return choices === 'commands' ? firstWords(commands) : choices;
}

function bash(commands: readonly Command[]): string {
  const chosen = new Map<string, string[]>();
  for (const command of commands) {
    for (const option of optionsOf(command)) {
      if (option.spec.kind !== 'choice') continue;
      const words = option.spec.choices.join(' ');
      const places = flagsOf(option).map((flag) => `'${command.name} ${flag}'`);
      chosen.set(words, [...(chosen.get(words) ?? []), ...places]);
    }
  }
  const options = commands.map((command) => {
    const words = argumentWords(command, commands);
    const list = optionsOf(command).flatMap(flagsOf).join(' ');
    const rest = words === undefined ? '' : ` arguments='${words.join(' ')}'`;
    return `    '${command.name}') options='${list}'${rest} ;;`;
  });
  const inner = [...families(commands)].map(([family, all]) => [
    `    ${family})`,
    `      if (( COMP_CWORD == 2 )); then _simhash_native_words '${all.map(ownWord).join(' ')}'; return; fi`,
    '      command="$command ${COMP_WORDS[2]}" ;;',
  ]);
  return lines(
    '# bash completion of simhash-native: source it, for example from ~/.bashrc',
    '_simhash_native_words() { COMPREPLY=($(compgen -P "$lead" -W "$1" -- "$word")); }',
    '_simhash_native() {',
    '  local command="${COMP_WORDS[1]}" options= arguments= lead= given=',
    '  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"',
    '  COMPREPLY=()',
    '  # Of --name=value bash makes three words, unless COMP_WORDBREAKS has no =.',
    '  if [[ $word == = ]]; then word= given=1',
    '  elif [[ $before == = ]]; then before="${COMP_WORDS[COMP_CWORD-2]}" given=1',
    '  elif [[ $word == --*=* ]]; then before="${word%%=*}" lead="${word%%=*}=" word="${word#*=}" given=1',
    '  fi',
    `  if (( COMP_CWORD == 1 )); then _simhash_native_words '${firstWords(commands).join(' ')}'; return; fi`,
    '  case "$command" in',
    ...inner.flat(),
    '  esac',
    '  case "$command $before" in',
    ...[...chosen].map(
      ([words, places]) => `    ${places.join('|')}) _simhash_native_words '${words}'; return ;;`,
    ),
    '  esac',
    '  [ -z "$given" ] || return',
    '  case "$command" in',
    ...options,
    '  esac',
    '  case "$word" in',
    '    -*) _simhash_native_words "$options" ;;',
    '    *) [ -z "$arguments" ] || _simhash_native_words "$arguments" ;;',
    '  esac',
    '}',
    'complete -o bashdefault -o default -F _simhash_native simhash-native',
  );
}

function zsh(commands: readonly Command[]): string {
  const described = (list: readonly (readonly [string, string])[]) =>
    list.map(([word, help]) => `    ${quoted(`${word}:${help}`)}`);
  const cases = commands.map((command) => {
    const words = argumentWords(command, commands);
    const rest = words === undefined ? '_files' : `(${words.join(' ')})`;
    return [
      `    ${quoted(command.name)})`,
      '      _arguments -s \\',
      ...optionsOf(command).map((option) => `        ${zshOption(option)} \\`),
      `        '*:argument:${rest}' ;;`,
    ];
  });
  const inner = [...families(commands)].map(([family, all]) => [
    `  if [[ $command == ${family} ]]; then`,
    '    if (( CURRENT == 2 )); then',
    '      local -a own; own=(',
    ...described(all.map((one) => [ownWord(one), one.summary] as const)).map((row) => `    ${row}`),
    '      )',
    "      _describe 'command' own; return",
    '    fi',
    '    command="$command ${words[2]}"; shift words; (( CURRENT-- ))',
    '  fi',
  ]);
  return lines(
    '#compdef simhash-native',
    '# zsh completion of simhash-native: save it as _simhash-native in a folder of $fpath',
    '_simhash_native() {',
    '  local -a first; first=(',
    ...described(
      firstWords(commands).map((word) => {
        const own = commands.find(({ name }) => name === word);
        return [
          word,
          own?.summary ?? `commands on ${word === 'index' ? 'an index' : word}`,
        ] as const;
      }),
    ),
    '  )',
    "  if (( CURRENT == 2 )); then _describe 'command' first; return; fi",
    '  local command=${words[2]}; shift words; (( CURRENT-- ))',
    ...inner.flat(),
    '  case $command in',
    ...cases.flat(),
    '  esac',
    '}',
    '_simhash_native "$@"',
  );
}

function zshOption(option: Option): string {
  const { spec } = option;
  // In an entry of _arguments these have a meaning.
  const help = spec.help.replaceAll(/[[\]:\\]/g, (sign) => `\\${sign}`);
  const value = spec.kind === 'flag' ? '' : `:${spec.value}:${zshValue(spec)}`;
  const repeated = spec.kind === 'texts' ? '*' : '';
  return flagsOf(option)
    .map((flag) => quoted(`${repeated}${flag}[${help}]${value}`))
    .join(' ');
}

function zshValue(spec: Exclude<OptionSpec, { kind: 'flag' }>): string {
  if (spec.kind === 'choice') return `(${spec.choices.join(' ').replaceAll(/[;,]/g, '\\$&')})`;
  return isOfPath(spec) ? '_files' : ' ';
}

function fish(commands: readonly Command[]): string {
  const line = (condition: string, rest: string) =>
    `complete -c simhash-native -n ${quoted(condition)} ${rest}`;
  const seen = (word: string) => `__fish_seen_subcommand_from ${word}`;
  const of = ({ name }: Command) => name.split(' ').map(seen).join('; and ');
  const first = firstWords(commands).map((word) => {
    const summary = commands.find(({ name }) => name === word)?.summary;
    return line('__fish_use_subcommand', `-f -a ${word}${summary ? ` -d ${quoted(summary)}` : ''}`);
  });
  const inner = [...families(commands)].flatMap(([family, all]) => {
    const none = `${seen(family)}; and not ${seen(all.map(ownWord).join(' '))}`;
    return all.map((one) => line(none, `-f -a ${ownWord(one)} -d ${quoted(one.summary)}`));
  });
  const options = commands.flatMap((command) => {
    const words = argumentWords(command, commands);
    const rest = words === undefined ? [] : [line(of(command), `-f -a ${quoted(words.join(' '))}`)];
    return [...rest, ...optionsOf(command).map((option) => line(of(command), fishOption(option)))];
  });
  return lines(
    '# fish completion of simhash-native: save it as ~/.config/fish/completions/simhash-native.fish',
    ...first,
    ...inner,
    ...options,
  );
}

function fishOption({ name, spec }: Option): string {
  const short = spec.short === undefined ? '' : ` -s ${spec.short}`;
  return `-l ${name}${short}${fishValue(spec)} -d ${quoted(spec.help)}`;
}

function fishValue(spec: OptionSpec): string {
  if (spec.kind === 'flag') return '';
  if (spec.kind === 'choice') {
    // It would take a lone ; for the end of a command.
    const words = spec.choices.filter((word) => /\w/.test(word));
    return ` -x -a ${quoted(words.join(' '))}`;
  }
  return isOfPath(spec) ? ' -r -F' : ' -x';
}

/** A word of a shell in which nothing has a meaning; for fish, where no backslash stands before a quote or another one. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function lines(...all: readonly string[]): string {
  return `${all.join('\n')}\n`;
}
