/** Commands that a reader is told to run, as a shell takes them. */
import type { Normalize } from './normalize';
import { isUrl, path } from './path';

/** What runs the command line wherever the package is installed. */
export const PROGRAM = 'npx @x/simhash-native';

/** A word as a shell reads it back. */
export function word(text: string): string {
  return /^[\w./:=,@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The name of a file, which is not taken for an option. */
export function file(name: string): string {
  return word(name.startsWith('-') && name !== '-' ? `./${name}` : name);
}

/** Options that are there by default, and are not repeated. */
const DEFAULTS: Readonly<Record<string, unknown>> = { preset: 'auto', idField: 'id' };
/** On by default, switched off by `--no-…`. */
const SWITCHES: readonly string[] = ['header', 'hmm'];
/** Of these the command line takes files alone. */
const WORDS: readonly string[] = ['dictionary', 'stopWords', 'idf'];

/** Options of the library as those of the command line: `maxDistance: 8` as `--max-distance 8`. Those of {@link unsaid} are left out. */
export function flags(options: object): string[] {
  const left = unsaid(options);
  return Object.entries(options).flatMap(([name, value]) => {
    if (value === undefined || value === DEFAULTS[name] || left.includes(name)) return [];
    const flag = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    if (SWITCHES.includes(name)) return value === false ? [`--no-${flag}`] : [];
    return valuesOf(name, value).map((text) =>
      // What begins with a dash is taken for the next option.
      text.startsWith('-') ? `--${flag}=${word(text)}` : `--${flag} ${word(text)}`,
    );
  });
}

/** Options that no command line can give: words that are no file. */
export function unsaid(options: object): string[] {
  return Object.entries(options)
    .filter(([name]) => WORDS.includes(name))
    .filter(([, value]) => value !== undefined && typeof value !== 'string' && !isUrl(value))
    .map(([name]) => name);
}

function valuesOf(name: string, value: unknown): string[] {
  if (name === 'normalize') return [steps(value as Normalize)];
  if (value === false) return ['off'];
  if (isUrl(value)) return [path(value, name)];
  return [value].flat().map(String);
}

/** Steps of normalisation as `--normalize` takes them. */
function steps(given: Normalize): string {
  if (given === false) return 'off';
  if (typeof given === 'string') return given;
  const { base, ...own } = given;
  const items = Object.entries(own).flatMap(([step, value]) => {
    if (value === undefined) return [];
    if (typeof value === 'string') return [`${step}=${value}`];
    return [value ? step : `no-${step}`];
  });
  return [...(base === undefined ? [] : [base]), ...items].join(',') || 'default';
}
