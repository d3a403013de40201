/** Chromium, where this machine has one: pages are looked at as people see them. */
import { spawnSync } from 'node:child_process';
import puppeteer, { type Browser, type Page } from 'puppeteer-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** The program, or why there is none. */
function program(): string | undefined {
  const { CHROMIUM } = process.env;
  if (CHROMIUM !== undefined && CHROMIUM !== '') return CHROMIUM;
  return NAMES.find((name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0);
}

const name = program();
/** The path: the driver does not look for names. */
export const CHROMIUM =
  name === undefined || name.includes('/')
    ? name
    : spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim() ||
      undefined;

export const NO_CHROMIUM =
  'skipped: there is no Chromium (Debian: apt-get install chromium; or CHROMIUM=/path/to/it)';

export function launch(): Promise<Browser> {
  return puppeteer.launch({
    executablePath: CHROMIUM ?? '',
    // In a container there is no namespace for its sandbox, and little shared memory.
    args: [
      '--no-sandbox',
      '--disable-dev-shm-usage',
      '--disable-gpu',
      '--font-render-hinting=none',
    ],
  });
}

/** A page of a file, in a theme and a width, with whatever it complains of. */
export async function open(
  browser: Browser,
  url: string,
  { theme = 'light', width = 1280 }: { theme?: 'light' | 'dark'; width?: number } = {},
): Promise<{ page: Page; complaints: string[] }> {
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warn') complaints.push(message.text());
  });
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    if (!request.url().startsWith('file:')) complaints.push(`request: ${request.url()}`);
  });
  await page.setViewport({ width, height: 900 });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
  await page.goto(url, { waitUntil: 'load' });
  // Drawings follow their width.
  await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
  );
  return { page, complaints };
}
