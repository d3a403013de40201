/** The labels of a report in a browser: in several windows, of several reports, where there is no room, and by a key that is held. */
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dedupFiles } from '..';
import { CHROMIUM, launch, NO_CHROMIUM, open } from './chromium';
import { Folder, SAMPLE } from './cli-run';

if (CHROMIUM === undefined) console.warn(`report.labels.test.ts ${NO_CHROMIUM}`);

const folder = new Folder();
const url = (name: string) => pathToFileURL(folder.join(name)).href;

let browser: Browser;

beforeAll(async () => {
  if (CHROMIUM === undefined) return;
  await dedupFiles(SAMPLE, folder.join('s.jsonl'), {
    method: 'simhash',
    report: folder.join('simhash.html'),
  });
  await dedupFiles(SAMPLE, folder.join('v.jsonl'), {
    method: 'simhash',
    minSimilarity: 0,
    maxDistance: 6,
    report: folder.join('unverified.html'),
  });
  for (const name of ['one', 'other']) {
    const records = ['', '尾', '尾尾'].map((end, id) => ({
      id,
      text: `望海港本月开通了一条直达南美西海岸的集装箱航线，单程23天，比绕行缩短一周${name}${end}`,
    }));
    folder.write(`${name}.jsonl`, records.map((one) => `${JSON.stringify(one)}\n`).join(''));
    await dedupFiles(folder.join(`${name}.jsonl`), folder.join('same.jsonl'), {
      report: folder.join(`${name}.html`),
    });
  }
  browser = await launch();
});

afterAll(async () => {
  await browser?.close();
});

describe.skipIf(CHROMIUM === undefined)('in Chromium', () => {
  test('two windows of one report have the labels of both', async () => {
    const [one, other] = [
      await open(browser, url('simhash.html')),
      await open(browser, url('simhash.html')),
    ];
    const said = (page: Page) => page.$eval('#labelled', ({ textContent }) => textContent);
    await one.page.bringToFront();
    await one.page.keyboard.press('s');
    await other.page.waitForFunction(
      () => document.querySelector('#labelled')?.textContent === '1 label',
    );
    expect(await other.page.$$eval('.item .done', (all) => all.length)).toBe(1);
    await other.page.bringToFront();
    await other.page.keyboard.press('j');
    await other.page.keyboard.press('d');
    await one.page.waitForFunction(
      () => document.querySelector('#labelled')?.textContent === '2 labels',
    );
    await one.page.reload();
    expect(await said(one.page)).toBe('2 labels');
    for (const { page, complaints } of [one, other]) {
      expect(complaints).toEqual([]);
      await page.close();
    }
  });

  test('labels for which the browser has no room stay, and leaving the page warns', async () => {
    const { page, complaints } = await open(browser, url('unverified.html'));
    const other = await open(browser, url('unverified.html'));
    const said = () => page.$eval('#labelled', ({ textContent }) => textContent);
    const leaves = () =>
      page.evaluate(() => dispatchEvent(new Event('beforeunload', { cancelable: true })));
    await page.bringToFront();
    await page.keyboard.press('s');
    expect(await leaves()).toBe(true);
    await page.evaluate(() => {
      const { prototype } = Storage;
      const { setItem } = prototype;
      prototype.setItem = () => {
        throw new DOMException('no room', 'QuotaExceededError');
      };
      Object.assign(window, { makeRoom: () => Object.assign(prototype, { setItem }) });
    });
    for (const labels of [2, 3]) {
      await page.keyboard.press('d');
      expect(await said()).toBe(`${labels} labels`);
      expect(await leaves()).toBe(false);
    }
    // Another window, which knows nothing of these, has room.
    await other.page.bringToFront();
    for (const key of 'jjjjjjs') await other.page.keyboard.press(key as 'j');
    await page.bringToFront();
    await page.waitForFunction(
      () => document.querySelector('#labelled')?.textContent === '4 labels',
    );
    // With room again, all are kept.
    await page.evaluate(() => void (window as unknown as { makeRoom(): void }).makeRoom());
    await page.keyboard.press('s');
    expect(await leaves()).toBe(true);
    await page.reload();
    expect(await said()).toBe('5 labels');
    expect([...complaints, ...other.complaints]).toEqual([]);
    await other.page.close();
    await page.close();
  });

  test('a key that is held labels one pair, and reports with the same totals share no labels', async () => {
    const { page } = await open(browser, url('one.html'));
    const labelled = () => page.$eval('#labelled', (one) => one.textContent);
    await page.keyboard.down('d');
    await page.keyboard.down('d');
    await page.keyboard.up('d');
    expect(await labelled()).toBe('1 label');
    await page.goto(url('other.html'));
    expect(await labelled()).toBe('No labels yet');
    await page.goto(url('one.html'));
    expect(await labelled()).toBe('1 label');
    await page.close();
  });
});
