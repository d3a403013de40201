/** The page of a report in a browser: how it looks by script, what it says to a screen reader, what hostile texts do, and where labels go. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dedupFiles, matchFiles, reportFiles } from '..';
import { CHROMIUM, launch, NO_CHROMIUM, open } from './chromium';
import { Folder, SAMPLE } from './cli-run';
import { contrasts } from './contrast';
import { project } from './project';

if (CHROMIUM === undefined) console.warn(`report.browser.test.ts ${NO_CHROMIUM}`);

const folder = new Folder();
project(folder);
const url = (name: string) => pathToFileURL(folder.join(name)).href;
const AXE = readFileSync(createRequire(__filename).resolve('axe-core/axe.min.js'), 'utf8');

const TEXT =
  '望海港本月开通了一条直达南美西海岸的集装箱航线，单程23天，比绕行缩短一周。首航的货轮装了2000个标准箱，船名望海一号，船长姓陈，家在青禾市。';
const HOSTILE = [
  '</script><script>document.title="owned"</script>',
  '<img src=x onerror="document.title=\'owned\'">',
  '<!--<script>',
  'a\u2028b\u2029c',
  '\u202Eevil\u202C مرحبا بالعالم שלום',
  '\uD800 lone \uDC00',
  '👩‍👩‍👧‍👦🇩🇪é',
  '"><svg onload=alert(1)>{{run}}/*{{script}}*/',
];

/** A file that has to be broken to fit. */
const NAME = 'a-name-of-a-file-that-is-long-and-has-no-spaces-in-it-at-all.jsonl';

let browser: Browser;

beforeAll(async () => {
  if (CHROMIUM === undefined) return;
  const records = HOSTILE.flatMap((sign, at) => [
    { id: `${sign}#${at}`, text: `${TEXT}${sign}` },
    { id: `${at}`, text: `${TEXT}${sign}。` },
  ]);
  folder.write('hostile<b>.jsonl', records.map((one) => `${JSON.stringify(one)}\n`).join(''));
  await dedupFiles(folder.join('hostile<b>.jsonl'), folder.join('h.jsonl'), {
    report: folder.join('hostile.html'),
    cluster: 'components',
  });
  // Several inputs, dates, and clusters of both kinds.
  const months = ['2026-01-03', '2026-02-14', '2026-05-09'];
  const more = Array.from({ length: 60 }, (_, at) => ({
    id: `a-rather-long-name-of-a-document-${at}`,
    text: `${TEXT}第${Math.floor(at / 3)}期：${String.fromCodePoint(0x4e00 + Math.floor(at / 3) * 97).repeat(60)}${'尾'.repeat(at % 3)}`,
    time: months[at % 3],
  }));
  folder.write(NAME, more.map((one) => `${JSON.stringify(one)}\n`).join(''));
  await dedupFiles([SAMPLE, folder.join(NAME)], folder.join('u.jsonl'), {
    clusters: folder.join('clusters.jsonl'),
    report: folder.join('report.html'),
    dateField: 'time',
  });
  await dedupFiles(SAMPLE, folder.join('s.jsonl'), {
    method: 'simhash',
    report: folder.join('simhash.html'),
  });
  // Nothing is verified: of most duplicates only the distance is known.
  await dedupFiles(SAMPLE, folder.join('v.jsonl'), {
    method: 'simhash',
    minSimilarity: 0,
    maxDistance: 6,
    clusters: folder.join('unverified.jsonl'),
    report: folder.join('unverified.html'),
  });
  folder.write('one.jsonl', `${JSON.stringify({ id: 1, text: TEXT })}\n`);
  await dedupFiles(folder.join('one.jsonl'), folder.join('o.jsonl'), {
    report: folder.join('nothing.html'),
  });
  browser = await launch();
});

afterAll(async () => {
  await browser?.close();
});

/** Text that is cut off, that lies on other text, that is wider than the page, or that leaves its drawing. */
function flaws(): string[] {
  const found: string[] = [];
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth)
    found.push(`the page is ${root.scrollWidth} wide, of ${root.clientWidth}`);
  const leaves = [...document.querySelectorAll('body *')].filter(
    (element) =>
      [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent?.trim()) &&
      !element.closest('script, style, noscript, option, title, .sr, .skip, [hidden]'),
  );
  const boxes: { name: string; rects: DOMRect[]; element: Element }[] = [];
  for (const element of leaves) {
    const name = `<${element.tagName.toLowerCase()} class="${element.getAttribute('class') ?? ''}"> ${element.textContent?.slice(0, 30)}`;
    const clamped =
      getComputedStyle(element).webkitLineClamp !== 'none' || element.closest('.glimpse');
    if (
      !clamped &&
      element instanceof HTMLElement &&
      element.clientWidth > 0 &&
      element.scrollWidth > element.clientWidth + 1
    ) {
      found.push(`clipped: ${name}`);
    }
    const range = document.createRange();
    const rects: DOMRect[] = [];
    for (const node of element.childNodes) {
      if (node.nodeType !== 3) continue;
      range.selectNodeContents(node);
      rects.push(
        ...[...range.getClientRects()].filter((rect) => rect.width > 1 && rect.height > 1),
      );
    }
    // What is scrolled away in a pane of its own lies under nothing.
    const pane = element.closest('.list, .sides')?.getBoundingClientRect();
    const seen = rects.filter(
      (rect) => pane === undefined || (rect.bottom <= pane.bottom && rect.top >= pane.top),
    );
    if (clamped) continue;
    for (const rect of seen) {
      if (rect.left < -1 || rect.right > root.clientWidth + 1) found.push(`outside: ${name}`);
      const drawing = element.closest('.plot svg')?.getBoundingClientRect();
      if (drawing && (rect.left < drawing.left - 1 || rect.right > drawing.right + 1))
        found.push(`outside its drawing: ${name}`);
    }
    boxes.push({ name, rects: seen, element });
  }
  for (const [at, one] of boxes.entries()) {
    for (const other of boxes.slice(at + 1)) {
      if (one.element.contains(other.element) || other.element.contains(one.element)) continue;
      // Parts of one text share its lines.
      const text = one.element.closest('.text');
      if (text !== null && text === other.element.closest('.text')) continue;
      const overlaps = one.rects.some((a) =>
        other.rects.some(
          (b) =>
            Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1.5 &&
            Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4,
        ),
      );
      if (overlaps) found.push(`overlap: ${one.name} / ${other.name}`);
    }
  }
  return found;
}

/** What a checker of accessibility finds that is serious; contrast is checked with 4.5 for text. */
async function barriers(page: Page): Promise<string[]> {
  const session = await page.createCDPSession();
  // The policy of the page forbids other scripts, as it should.
  await session.send('Page.setBypassCSP', { enabled: true });
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { axe } = window as unknown as {
      axe: {
        run: () => Promise<{
          violations: {
            id: string;
            impact: string;
            nodes: { html: string; failureSummary: string }[];
          }[];
        }>;
      };
    };
    const { violations } = await axe.run();
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .flatMap(({ id, nodes }) =>
        nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 120)} ${failureSummary}`),
      );
  });
}

describe.skipIf(CHROMIUM === undefined)('in Chromium', () => {
  const looks = [400, 1280].flatMap((width) =>
    (['light', 'dark'] as const).map((theme) => ({ width, theme })),
  );
  const pages = ['report.html', 'hostile.html', 'simhash.html', 'unverified.html', 'nothing.html'];

  test.each(looks.flatMap((look) => pages.map((name) => ({ name, ...look }))))(
    '$name, $theme, $width wide: nothing overlaps, is cut off or wider than the page; no barriers',
    async ({ name, ...look }) => {
      const { page, complaints } = await open(browser, url(name), look);
      expect(await page.evaluate(flaws)).toEqual([]);
      expect(complaints).toEqual([]);
      expect(await barriers(page)).toEqual([]);
      await page.close();
    },
  );

  test.each([
    ['wide', '.lead { width: 3000px }'],
    ['clipped', '.lead { width: 40px; overflow: hidden; white-space: nowrap }'],
    ['overlap', '.lead { margin-top: -40px }'],
    ['outside its drawing', '.tick { font-size: 30px }'],
  ])('the check by script sees what is %s', async (flaw, rule) => {
    const { page } = await open(browser, url('report.html'));
    await page.evaluate((rule) => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(rule);
      document.adoptedStyleSheets.push(sheet);
    }, rule);
    expect((await page.evaluate(flaws)).join()).toContain(flaw);
    await page.close();
  });

  test.each([
    ['day', '2026-01-01', '2026-04-02'],
    ['month', '2019-01-01', '2026-08-31'],
    ['year', '1935-01-01', '2025-12-31'],
    ['decade', '1900-01-01', '2025-12-31'],
    ['century', '1000-01-01', '9999-12-31'],
  ])('dates by %s, and a rate that is low: all names have their room', async (unit, from, to) => {
    const [first, last] = [Date.parse(from), Date.parse(to)];
    const many = 1_500;
    // Texts of their own, by a generator of numbers (Lehmer's); the last one is a copy.
    const text = (of: number) => {
      let state = of + 1;
      const next = () => {
        state = (state * 48_271) % 2_147_483_647;
        return String.fromCodePoint(0x4e00 + (state % 8000));
      };
      return Array.from({ length: 40 }, next).join('');
    };
    const records = Array.from({ length: many }, (_, at) => ({
      id: at,
      text: text(at === many - 1 ? 0 : at),
      time: new Date(first + ((last - first) * at) / (many - 1)).toISOString().slice(0, 10),
    }));
    folder.write('dates.jsonl', records.map((one) => `${JSON.stringify(one)}\n`).join(''));
    await dedupFiles(folder.join('dates.jsonl'), folder.join('dates.out'), {
      report: folder.join('dates.html'),
      dateField: 'time',
    });
    for (const look of looks) {
      const { page, complaints } = await open(browser, url('dates.html'), look);
      const titles = await page.$$eval('figure h2', (all) => all.map((one) => one.textContent));
      expect(titles).toContain(`Duplicate rate by ${unit}`);
      expect(await page.evaluate(flaws)).toEqual([]);
      expect(complaints).toEqual([]);
      await page.close();
    }
  });

  test.each(
    (['light', 'dark'] as const).flatMap((theme) =>
      ['report.html', 'simhash.html'].map((name) => ({ name, theme })),
    ),
  )('$name, $theme: names in drawings stand out from what is behind them', async (look) => {
    const { page } = await open(browser, url(look.name), look);
    const all = await page.evaluate(contrasts);
    expect(all.length).toBeGreaterThan(20);
    expect(all.filter(({ ratio }) => ratio < 4.5)).toEqual([]);
    await page.evaluate(
      (grey) => {
        const sheet = new CSSStyleSheet();
        sheet.replaceSync(`.plot svg text { fill: ${grey} }`);
        document.adoptedStyleSheets.push(sheet);
      },
      look.theme === 'light' ? '#888' : '#666',
    );
    expect((await page.evaluate(contrasts)).filter(({ ratio }) => ratio < 4.5)).not.toEqual([]);
    await page.close();
  });

  test('a theme is chosen by its button', async () => {
    const { page } = await open(browser, url('report.html'), { theme: 'light' });
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await ground();
    await page.click('.themes [data-theme="dark"]');
    expect(await ground()).not.toBe(light);
    await page.click('.themes [data-theme="light"]');
    expect(await ground()).toBe(light);
    await page.click('.themes [data-theme="auto"]');
    await page.close();
  });

  test('hostile texts and ids are shown as they are, and do nothing', async () => {
    const { page, complaints } = await open(browser, url('hostile.html'));
    expect(await page.title()).toMatch(/near-duplicates$/);
    const found = await page.evaluate(() => ({
      strange: document.querySelectorAll('img, iframe, .look svg, .list svg').length,
      scripts: document.scripts.length,
    }));
    expect(found).toEqual({ strange: 0, scripts: 3 });
    const { length } = await page.$$('.item');
    const seen: string[] = [];
    for (let at = 0; at < length; at++) {
      const chips = await page.$$('.chip');
      for (let member = 0; member < chips.length; member++) {
        seen.push(
          ...(await page.$$eval('.side .text', (texts) =>
            texts.map(({ textContent }) => textContent ?? ''),
          )),
        );
        await page.keyboard.press('l');
      }
      await page.keyboard.press('j');
    }
    for (const sign of HOSTILE) {
      // A lone surrogate has no form in UTF-8: it is U+FFFD since it was read.
      expect(seen.some((text) => text.includes(sign.toWellFormed()))).toBe(true);
    }
    expect(complaints).toEqual([]);
    await page.close();
  });

  test('a difference is one of characters as people read them, and numbers are marked', async () => {
    const texts = [
      '全家👩‍👩‍👧‍👦出门，票价100元，第十二站下车，万一下雨千万不要一一等，一路上风景很好，花了两千万。',
      '全家👩‍👩‍👧出门，票价1000元，第十二站下车，万一下雨千万不要一一等，一路上风景很好，花了两千万。',
    ];
    folder.write('d.jsonl', texts.map((text, id) => `${JSON.stringify({ id, text })}\n`).join(''));
    await dedupFiles(folder.join('d.jsonl'), folder.join('d.out'), {
      report: folder.join('d.html'),
      minSimilarity: 0.4,
      verify: 'jaccard',
      bands: 100,
      rows: 1,
    });
    const { page } = await open(browser, url('d.html'));
    const parts = (tag: string) =>
      page.$$eval(`.look ${tag}`, (all) =>
        all.map(({ textContent, className }) => [textContent, className]),
      );
    expect(await parts('del')).toEqual([['👩‍👩‍👧‍👦', '']]);
    expect(await parts('ins')).toEqual([
      ['👩‍👩‍👧', ''],
      ['0', 'number other'],
    ]);
    expect(
      await page.$$eval('.look .side:first-child .number', (all) =>
        all.map(({ textContent, className }) => [textContent, className]),
      ),
    ).toEqual([
      ['100', 'number other'],
      ['第十二', 'number'],
      ['两千万', 'number'],
    ]);
    await page.close();
  });

  test('members are called equal only where all are known to be', async () => {
    type Cluster = { members: { id: string; similarity?: number; distance?: number }[] };
    const clusters = folder.records<Cluster>('unverified.jsonl');
    const expected = clusters.map(({ members: [, ...others] }) =>
      others.every(({ similarity }) => similarity === 1)
        ? 'equal'
        : `distance up to ${Math.max(...others.map(({ distance = 0 }) => distance))}`,
    );
    expect(new Set(expected).size).toBeGreaterThan(3);
    const { page, complaints } = await open(browser, url('unverified.html'));
    const alike = () =>
      page.$$eval('.item .facts', (all) => all.map((one) => one.children[1]?.textContent ?? ''));
    expect((await alike()).sort()).toEqual([...expected].sort());
    // Those that are farthest come first, and the member that is looked at is the farthest of its cluster.
    await page.select('#order', 'similarity');
    const ordered = await alike();
    const distance = (said: string) => (said === 'equal' ? 0 : Number(said.split(' ').at(-1)));
    expect(ordered.map(distance)).toEqual(ordered.map(distance).sort((a, b) => b - a));
    const most = distance(ordered[0] ?? '');
    await page.click('.item');
    expect(await page.$eval('.pair .facts', ({ textContent }) => textContent)).toContain(
      `distance ${most}`,
    );
    expect(complaints).toEqual([]);
    await page.close();
  });

  test('a member is named by what is known of it', async () => {
    const names = async (of: string) => {
      const { page } = await open(browser, url(of));
      const found = await page.evaluate(() =>
        [...document.querySelectorAll<HTMLElement>('.item')].flatMap((_, at) => {
          document.querySelectorAll<HTMLElement>('.item')[at]?.click();
          const chips = [...document.querySelectorAll('.chip')];
          return chips.map((chip) => chip.getAttribute('aria-label') ?? '');
        }),
      );
      await page.close();
      return found;
    };
    for (const name of await names('report.html'))
      expect(name).toMatch(/^Member \d+, similarity (1|0\.\d\d)$/);
    // Of equal texts the similarity is known, of others the distance.
    const unverified = await names('unverified.html');
    for (const name of unverified)
      expect(name).toMatch(/^Member \d+, (similarity 1, )?distance \d+$/);
    expect(unverified.some((name) => !name.includes('similarity'))).toBe(true);
  });

  test('a button that is drawn again keeps the keyboard focus', async () => {
    const { page, complaints } = await open(browser, url('report.html'));
    const focused = () =>
      page.evaluate(() => {
        const { activeElement: one } = document;
        return `${one?.className} ${one?.getAttribute('aria-pressed') ?? one?.getAttribute('aria-current')}`;
      });
    await page.focus('.verdict.same');
    await page.keyboard.press('Enter');
    expect(await focused()).toBe('verdict same true');
    await page.keyboard.press('Enter');
    expect(await focused()).toBe('verdict same false');
    // By its key, a label goes on to another pair.
    await page.keyboard.press('d');
    expect(await focused()).toBe('verdict same false');
    await page.focus('.chip');
    await page.keyboard.press('Enter');
    expect(await focused()).toMatch(/^chip .*true$/);
    await page.focus('.item');
    await page.keyboard.press('Enter');
    await page.keyboard.press('u');
    expect(await focused()).toBe('item true');
    expect(complaints).toEqual([]);
    await page.close();
  });

  test.each(looks)('the name of the threshold keeps clear of the curve: %j', async (look) => {
    const { page } = await open(browser, url('report.html'), look);
    const inside = await page.evaluate(() => {
      const line = document.querySelector<SVGPathElement>('.plot .line');
      const name = line?.closest('svg')?.querySelector<SVGTextElement>('.mark-name');
      if (!line || !name) return undefined;
      const { x, y, width, height } = name.getBBox();
      const points = Array.from({ length: 1001 }, (_, at) =>
        line.getPointAtLength((line.getTotalLength() * at) / 1000),
      );
      return points.filter(
        (point) =>
          point.x > x - 2 && point.x < x + width + 2 && point.y > y && point.y < y + height,
      ).length;
    });
    expect(inside).toBe(0);
    await page.close();
  });

  test('a threshold of another measure is not on the axis of the bands', async () => {
    const said: (string | null)[] = [];
    for (const verify of ['jaccard', 'containment'] as const) {
      const report = folder.join(`${verify}.html`);
      await dedupFiles(SAMPLE, folder.join('v.jsonl'), { report, verify });
      const { page } = await open(browser, url(`${verify}.html`));
      const curve = page.locator('figure ::-p-text(What the bands find)');
      said.push(await curve.map((one) => one.closest('figure')?.textContent ?? null).wait());
      await page.close();
    }
    expect(said[0]).toContain('just at the threshold');
    expect(said[1]).not.toContain('threshold');
  });

  test('of matches no evaluation is offered, also where only their file is known', async () => {
    const [one, other] = ['one.csv', 'other.csv'].map((name, at) => {
      const rows = [0, 1, 2].map(
        (row) => `${at}${row},${TEXT}第${row}期${'甲乙丙'[row]?.repeat(20)}`,
      );
      folder.write(name, `id,text\n${rows.join('\n')}\n`);
      return folder.join(name);
    }) as [string, string];
    await matchFiles(one, folder.join('m.jsonl'), { against: other });

    await reportFiles(folder.join('m.jsonl'), one, folder.join('matches.html'), { others: other });
    const { page, complaints } = await open(browser, url('matches.html'));
    expect(await page.$eval('#browser-title', (title) => title.textContent)).toContain('Matches');
    const commands = await page.$$eval('#steps code', (all) => all.map((one) => one.textContent));
    expect(commands).toEqual([expect.stringMatching(/^npx @x\/simhash-native tune /)]);
    expect(await page.evaluate(flaws)).toEqual([]);
    expect(complaints).toEqual([]);
    await page.close();
  });

  test('search and filter find, and say when nothing is found', async () => {
    const { page, complaints } = await open(browser, url('report.html'));
    const all = (await page.$$('.item')).length;
    await page.keyboard.press('/');
    await page.keyboard.type('name-of-a-document-1');
    const found = (await page.$$('.item')).length;
    expect(found).toBeGreaterThan(0);
    expect(found).toBeLessThan(all);
    await page.keyboard.type('there is nothing like this');
    expect(await page.$$('.item')).toHaveLength(0);
    expect(await page.$eval('#look', ({ textContent }) => textContent)).toContain(
      'Nothing like that',
    );
    expect(complaints).toEqual([]);
    await page.close();
  });

  test('labels made by keys are kept, downloaded, and change what eval prints', async () => {
    // By relative names, as most runs are started.
    const names = ['-o', 'r.out', '--clusters', 'r.jsonl', '--report', 'r.html'];
    expect(await folder.run(['dedup', SAMPLE, NAME, ...names])).toMatchObject({ status: 0 });
    const { page, complaints } = await open(browser, url('r.html'));
    const session = await browser.target().createCDPSession();
    const downloads = folder.join('downloads');
    mkdirSync(downloads);
    await session.send('Browser.setDownloadBehavior', {
      behavior: 'allow',
      downloadPath: downloads,
      eventsEnabled: true,
    });
    const ended = () =>
      new Promise<void>((done) => {
        session.on('Browser.downloadProgress', ({ state }) => state === 'completed' && done());
      });
    // As the page says: the labels are moved to where the run was started, and the command is pasted there.
    expect(await page.$eval('#after-text', ({ textContent }) => textContent)).toContain(
      'Move labels.jsonl into the folder in which the run was started',
    );
    const command = await page.$eval('#steps code', ({ textContent }) => textContent ?? '');
    const figures = () => {
      renameSync(folder.join('downloads/labels.jsonl'), folder.join('labels.jsonl'));
      const options = { cwd: folder.path, encoding: 'utf8' } as const;
      const { stdout } = spawnSync('bash', ['-c', `${command} --json`], options);
      return JSON.parse(stdout) as { apart: number; merged: number };
    };
    // The first is the same as what is kept, the second is not.
    await page.keyboard.press('s');
    let download = ended();
    await page.click('#download');
    await download;
    const first = folder.records<{ label: number }>('downloads/labels.jsonl');
    expect(first.map(({ label }) => label)).toEqual([1]);
    const before = figures();
    expect(before).toMatchObject({ apart: 0, merged: 0 });

    await page.reload();
    expect(await page.$eval('#labelled', ({ textContent }) => textContent)).toBe('1 label');
    await page.keyboard.press('j');
    await page.keyboard.press('d');
    download = ended();
    await page.click('#download');
    await download;
    // The driver gives the second file the name of the first.
    const after = figures();
    const second = folder.read('labels.jsonl');
    expect(second.trim().split('\n')).toHaveLength(2);
    expect(after).toMatchObject({ apart: 1, merged: 1 });
    expect(complaints).toEqual([]);
    await page.close();
  });
});
