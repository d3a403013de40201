/** `explain --open`: who is answered, what the page shows, and that the command ends with it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { createRequire } from 'node:module';
import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHROMIUM, launch, NO_CHROMIUM } from './chromium';
import { BIN, Folder } from './cli-run';
import { posix } from './posix';

if (CHROMIUM === undefined) console.warn(`explain.page.test.ts ${NO_CHROMIUM}`);

const folder = new Folder();
const A =
  '望海市地铁四号线二期工程今天贯通，线路全长十六点七公里，设站十二座，从老火车站一直通到滨海新区，最难的一段在入海口下方。';
const B = A.replace('今天', '昨日');

/** The command, its address, and its end. */
async function opened(args: readonly string[] = [], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [BIN, 'explain', '--open', ...args], {
    env: { ...process.env, BROWSER: 'none', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  const ended = once(child, 'close').then(([status]) => ({ status, said }));
  const told = new Promise<void>((done) => {
    child.stderr.on('data', (data) => {
      said += data;
      if (said.split('\n').length > 2) done();
    });
  });
  await Promise.race([told, ended]);
  const url = new URL(said.split('\n', 1)[0] ?? '');
  return { child, url, token: url.hash.slice(1), ended, said: () => said };
}

type Asked = { method?: string; headers?: Record<string, string>; body?: string };

/** `fetch` sets Host and Origin by itself. */
function ask(url: URL, path: string, { method = 'GET', headers = {}, body }: Asked = {}) {
  return new Promise<{ status: number; text: string; headers: NodeJS.Dict<string | string[]> }>(
    (done, failed) => {
      const asked = request(new URL(path, url), { method, headers }, (response) => {
        let text = '';
        response.on('data', (data) => (text += data));
        response.on('end', () =>
          done({ status: response.statusCode ?? 0, text, headers: response.headers }),
        );
      });
      asked.on('error', failed).end(body);
    },
  );
}

describe('who is answered', () => {
  test('whoever has the token, on loopback, by its own name, and no page of somebody else', async () => {
    const { child, url, token, ended } = await opened([A, B]);
    expect(url.hostname).toBe('127.0.0.1');
    expect(token).toMatch(/^[\w-]{32}$/);
    const authorization = `Bearer ${token}`;
    const page = await ask(url, '/');
    expect(page.status).toBe(200);
    expect(page.text).toMatch(/default-src 'none'.*connect-src 'self'/);
    // Neither texts nor the token are in what everybody on this machine can ask for.
    expect(page.text).not.toContain(token);
    expect(page.text).not.toContain('望海');
    const texts = await ask(url, '/texts', { headers: { authorization } });
    expect(JSON.parse(texts.text)).toEqual({ a: A, b: B });
    const refused: readonly [number, string, Asked][] = [
      [401, '/texts', {}],
      [401, '/texts', { headers: { authorization: 'Bearer wrong' } }],
      [401, '/compare', { method: 'POST', body: '{}' }],
      [401, '/alive', {}],
      [421, '/', { headers: { host: 'evil.example' } }],
      [421, '/texts', { headers: { authorization, host: `evil.example:${url.port}` } }],
      [403, '/texts', { headers: { authorization, origin: 'http://evil.example' } }],
      [403, '/texts', { headers: { authorization, origin: 'null' } }],
      [403, '/texts', { headers: { authorization, 'sec-fetch-site': 'cross-site' } }],
      [403, '/alive', { headers: { authorization, 'sec-fetch-site': 'same-site' } }],
      [404, '/elsewhere', { headers: { authorization } }],
      [404, '/texts', { method: 'DELETE', headers: { authorization } }],
      [400, '/compare', { method: 'POST', headers: { authorization }, body: '{"a":1}' }],
      [400, '/compare', { method: 'POST', headers: { authorization }, body: 'no JSON' }],
      [413, '/compare', { method: 'POST', headers: { authorization }, body: 'x'.repeat(9 << 20) }],
    ];
    for (const [status, path, asked] of refused) {
      expect(
        await ask(url, path, asked),
        `${path} ${JSON.stringify(asked).slice(0, 80)}`,
      ).toMatchObject({ status });
    }
    const body = JSON.stringify({ a: A, b: B });
    const told = await ask(url, '/compare', { method: 'POST', headers: { authorization }, body });
    expect(JSON.parse(told.text)).toMatchObject({ duplicates: true, onlyA: expect.anything() });
    child.kill('SIGINT');
    expect((await ended).status).toBe(130);
  });

  test('wrong arguments are named', async () => {
    const of = (...args: string[]) => folder.run(['explain', ...args]);
    expect(await of('--open', 'one')).toMatchObject({ status: 2 });
    expect((await of('--open', '--json')).stderr).toContain('--open and --json');
    expect((await of()).stderr).toContain('explain needs A B');
    expect((await of('--open', '--in', 'x.jsonl')).stderr).toContain('two ids');
  });

  posix('scripts with permissions')(
    'a browser is given a file that its owner alone can read, and that goes',
    async () => {
      folder.write(
        'browser.sh',
        `#!/bin/sh\nstat -c %a "\${1#file://}" > "${folder.join('mode')}"\ncat "\${1#file://}" > "${folder.join('given')}"\necho "$1" > "${folder.join('argument')}"\n`,
      );
      chmodSync(folder.join('browser.sh'), 0o755);
      const { child, token, ended } = await opened([], { BROWSER: folder.join('browser.sh') });
      await expect
        .poll(() => existsSync(folder.join('argument')) && read('argument'))
        .toMatch(/^file:/);
      expect(read('mode').trim()).toBe('600');
      expect(read('given')).toContain(`#${token}"`);
      expect(read('argument')).not.toContain(token);
      child.kill('SIGTERM');
      expect((await ended).status).toBe(143);
      expect(existsSync(new URL(read('argument').trim()))).toBe(false);
    },
  );
});

test.each([
  ['a program that is not there', { BROWSER: '/nowhere/browser' }],
  ['nowhere for the file', { BROWSER: '/bin/true', TMPDIR: '/nowhere' }],
])('without a browser it says so and serves the page: %s', async (_, env) => {
  const { child, url, ended, said } = await opened([], env);
  expect((await ask(url, '/')).status).toBe(200);
  await expect.poll(said).toContain('no browser was opened: ');
  child.kill('SIGINT');
  expect((await ended).status).toBe(130);
});

function read(name: string): string {
  return readFileSync(folder.join(name), 'utf8');
}

describe.skipIf(CHROMIUM === undefined)('the page', () => {
  const AXE = readFileSync(createRequire(__filename).resolve('axe-core/axe.min.js'), 'utf8');
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser?.close());

  posix('scripts with permissions')(
    'is reached by the file that the browser is given',
    async () => {
      folder.write('shown.sh', `#!/bin/sh\necho "$1" > "${folder.join('shown')}"\n`);
      chmodSync(folder.join('shown.sh'), 0o755);
      const { ended } = await opened([A, B], { BROWSER: folder.join('shown.sh') });
      await expect.poll(() => existsSync(folder.join('shown')) && read('shown')).toMatch(/^file:/);
      const page = await browser.newPage();
      await page.goto(read('shown').trim(), { waitUntil: 'domcontentloaded' });
      await page.waitForFunction(() => document.title === 'Near-duplicates');
      // Without the token it says what to do, and ends nothing.
      const other = await browser.newPage();
      await other.goto(new URL('/', page.url()).href, { waitUntil: 'domcontentloaded' });
      await other.waitForFunction(() => document.title === 'Not opened');
      await other.close();
      await page.close();
      expect((await ended).status).toBe(0);
    },
  );

  test.each([
    ['light', 1280],
    ['dark', 400],
  ] as const)('compares what is typed, in %s at %i, and ends the command', async (theme, width) => {
    const { url, ended } = await opened();
    const page = await browser.newPage();
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    await page.setViewport({ width, height: 900 });
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
    await page.goto(url.href, { waitUntil: 'domcontentloaded' });
    const type = (id: string, text: string) =>
      page.$eval(
        id,
        (field, value) => {
          (field as HTMLTextAreaElement).value = value;
          field.dispatchEvent(new Event('input'));
        },
        text,
      );
    const said = (id: string) => page.$eval(id, (element) => element.textContent ?? '');
    await page.waitForFunction(() => document.activeElement?.id === 'a');
    await type('#a', A);
    await type('#b', `${B}<img src=x onerror="document.title='owned'">`);
    await page.waitForFunction(() => document.querySelector('#difference ins') !== null);
    expect(await said('#difference del')).toContain('今天');
    expect(await said('#difference ins')).toContain('昨日');
    await type('#b', B);
    await page.waitForFunction(() => document.title === 'Near-duplicates');
    expect(await said('#reason')).toMatch(/similarity 0\.\d+ is at least 0\.8/);
    expect(await page.$$('#features li')).not.toHaveLength(0);
    expect(await page.$$('#bits tbody tr')).not.toHaveLength(0);
    expect(await page.$$('#difference img')).toHaveLength(0);
    // Nothing beside the screen, and nothing that a screen reader or weak eyes cannot read.
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    await page.evaluate(AXE);
    const found = await page.evaluate(async () => {
      const { axe } = globalThis as unknown as {
        axe: { run(): Promise<{ violations: { id: string; impact: string }[] }> };
      };
      return (await axe.run()).violations.map(({ id, impact }) => `${impact}: ${id}`);
    });
    expect(found.filter((one) => /^(serious|critical)/.test(one))).toEqual([]);
    await type('#b', '白石镇中心小学的学生本周吃上了自己种的萝卜，一共收了六百多斤。');
    await page.waitForFunction(() => document.title === 'Not duplicates');
    // Loaded again it goes on; closed it ends.
    await page.reload({ waitUntil: 'domcontentloaded' });
    await page.waitForFunction(() => document.activeElement?.id === 'a');
    await type('#a', A);
    await type('#b', A);
    await page.waitForFunction(() => document.title === 'Near-duplicates');
    expect(await said('#places')).toBe('Nowhere.');
    if (process.env.SIMHASH_SCREENSHOTS) {
      await type('#b', B);
      await page.waitForFunction(() => document.querySelector('#difference ins') !== null);
      await page.screenshot({
        path: `${process.env.SIMHASH_SCREENSHOTS}/pair-${theme}-${width}.png`,
        fullPage: true,
      });
    }
    await page.close();
    expect((await ended).status).toBe(0);
    expect(complaints).toEqual([]);
  });
});
