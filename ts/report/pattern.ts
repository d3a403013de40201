/** Whether a pattern of names, as inputs may be given, stands for a file, which need not be there yet. The rules are those of the addon, which looks for the files. */
import { lstatSync } from 'node:fs';
import { parse, resolve, sep } from 'node:path';

/** Whether a name is a pattern; a file or folder that has such a name is not. */
export function isPattern(name: string): boolean {
  return /[*?[]/.test(name) && lstatSync(name, { throwIfNoEntry: false }) === undefined;
}

/** A pattern: the folder that it begins in, which has no signs, and the parts below that. */
export function partsOf(pattern: string): { folder: string; parts: string[] } {
  const { root } = parse(pattern);
  const parts = pattern
    .slice(root.length)
    .split(sep === '\\' ? /[\\/]/ : '/')
    .filter((part) => part !== '' && part !== '.');
  const signs = parts.findIndex((part) => /[*?[]/.test(part));
  const at = signs < 0 ? parts.length : signs;
  return { folder: resolve(root, ...parts.slice(0, at)), parts: parts.slice(at) };
}

/** Whether parts of a pattern stand for the parts of a path: `**` for any number of folders, every other one for one name. */
export function standsFor(pattern: readonly string[], path: readonly string[]): boolean {
  const [part, ...more] = pattern;
  const [name, ...rest] = path;
  if (part === undefined) return name === undefined;
  if (part === '**') {
    if (standsFor(more, path)) return true;
    return rest.length > 0 && !name?.startsWith('.') && standsFor(pattern, rest);
  }
  return name !== undefined && isNameOf(part, name) && standsFor(more, rest);
}

/** As in a shell: `*` is any part of a name, `?` a character of it, `[a-z]` one of these, `[!a-z]` one of the others. What begins with a dot has to be named. */
function isNameOf(part: string, name: string): boolean {
  if (!/[*?[]/.test(part)) return part === name;
  if (part.startsWith('.') !== name.startsWith('.')) return false;
  const signs = part.match(/\[(?:[!^].|[^!^])[^\]]*\]|./gsu) ?? [];
  return new RegExp(`^${signs.map(expression).join('')}$`, 'su').test(name);
}

function expression(sign: string): string {
  if (sign === '*') return '.*';
  if (sign === '?') return '.';
  const escaped = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  if (sign.length === 1 || !sign.startsWith('[')) return escaped(sign);
  const isNegated = /^[!^]/.test(sign.slice(1));
  const inside = sign.slice(isNegated ? 2 : 1, -1);
  const ranges = inside.match(/.-.|./gsu) ?? [];
  const allowed = ranges.filter((range) => [...range].length === 1 || isRange(range));
  const codes = allowed.map((range) =>
    [...range].length === 1 ? code(range) : `${code(range)}-${code([...range].at(-1) ?? '')}`,
  );
  if (codes.length === 0) return isNegated ? '.' : '(?!)';
  return `[${isNegated ? '^' : ''}${codes.join('')}]`;
}

/** `z-a` has no character. */
function isRange(range: string): boolean {
  const [first = '', , last = ''] = [...range];
  return (first.codePointAt(0) ?? 0) <= (last.codePointAt(0) ?? 0);
}

function code(text: string): string {
  return `\\u{${(text.codePointAt(0) ?? 0).toString(16)}}`;
}
