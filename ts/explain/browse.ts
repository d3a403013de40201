/** Shows an address in the browser of who runs the command. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** How a system opens a file. */
const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

/** A browser that was started, or none; `forget` removes what was made for it. */
export interface Browsing {
  readonly isTried: boolean;
  readonly forget: () => void;
}

const NONE: Browsing = { isTried: false, forget: () => {} };

/**
 * By the program that `BROWSER` names (without arguments), else as the system opens files; not at all where `BROWSER` is `none` or there is no screen. A browser gets
 * the name of a file that only its owner can read and that leads to the address: arguments of programs are seen by everybody. `failed` is told why there is none.
 */
export function browse(
  url: string,
  failed: (reason: Error) => void,
  env: NodeJS.ProcessEnv = process.env,
): Browsing {
  const opener = openerOf(env);
  if (opener === undefined) return NONE;
  let folder: string | undefined;
  const forget = () => folder !== undefined && rmSync(folder, { recursive: true, force: true });
  try {
    folder = mkdtempSync(join(tmpdir(), 'simhash-explain-'));
    const file = join(folder, 'open.html');
    // No sign of the address ends an attribute.
    const markup = `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=${url}"><a href="${url}">Two texts</a>\n`;
    writeFileSync(file, markup, { mode: 0o600 });
    const [program = '', ...args] = opener;
    const shown = [...args, pathToFileURL(file).href];
    spawn(program, shown, { stdio: 'ignore', detached: true }).on('error', failed).unref();
    return { isTried: true, forget };
  } catch (error) {
    forget();
    failed(error as Error);
    return NONE;
  }
}

function openerOf({ BROWSER, DISPLAY, WAYLAND_DISPLAY }: NodeJS.ProcessEnv) {
  if (BROWSER === 'none') return undefined;
  if (BROWSER !== undefined && BROWSER !== '') return [BROWSER];
  const own = OPENERS[process.platform];
  if (own !== undefined) return own;
  return DISPLAY || WAYLAND_DISPLAY ? ['xdg-open'] : undefined;
}
