/** Pages, those of reports around their figures: markup, style and script in one file, and a policy by which nothing else runs or loads. */
import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunAbout } from './about';

/** What stands before the figures, and behind them. */
export interface Around {
  readonly before: string;
  readonly behind: string;
}

/** The page of a run. */
export function around(run: RunAbout): Around {
  // No value of the run can hold it.
  const figures = randomUUID();
  const [before = '', behind = ''] = document('main', { run, figures }).split(`"${figures}"`);
  return { before, behind };
}

/** A page of the build by name, with its style and script, and values for its places. `more` is what else its policy allows. */
export function document(
  name: string,
  values: Readonly<Record<string, unknown>>,
  more?: string,
): string {
  const [page, style, script] = [`${name}.html`, `${name}.css`, `${name}.js`].map(part) as [
    string,
    string,
    string,
  ];
  const policy = [
    "default-src 'none'",
    `script-src '${hash(script)}'`,
    `style-src '${hash(style)}'`,
    ...(more === undefined ? [] : [more]),
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const parts: Readonly<Record<string, string>> = { policy, style, script };
  /** In one pass, and by a function: whatever a value holds is put in as it is. */
  return page.replaceAll(
    /\/\*\{\{(\w+)\}\}\*\/|"\{\{(\w+)\}\}"/g,
    (place, name: string | undefined, data: string) => {
      if (name !== undefined) return parts[name] ?? place;
      return data in values ? json(values[data]) : place;
    },
  );
}

/** A file that the build puts beside this one. */
function part(name: string): string {
  return readFileSync(join(__dirname, 'page', name), 'utf8');
}

function hash(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

/** JSON in which nothing ends a script or begins a comment, as the addon writes the figures. */
export function json(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[<\u2028\u2029]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
