// What a report costs: making it beside a run and from the clusters, its size, and how long Chromium takes from its address to the drawn page.
// One million documents without `--size N`; `CHROMIUM=/path` is the browser.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { measured, root } from './dedup.mjs';
import { generate } from './generate.mjs';

/** Bytes of a page, and seconds until it is there. */
const SIZE = 5_000_000;
const WAIT = 2;
const OPENED = 7;

export async function bench(options) {
  const at = options.indexOf('--size');
  const size = at >= 0 ? Number(options[at + 1].replaceAll('_', '')) : 1_000_000;
  const folder = mkdtempSync(join(tmpdir(), 'simhash-report-bench-'));
  try {
    const [file, out, clusters, page] = [
      'in.jsonl',
      'out.jsonl',
      'clusters.jsonl',
      'report.html',
    ].map((name) => join(folder, name));
    await generate(size, file);
    const run = await measured(root, ['dedup', file, '-o', out, '--clusters', clusters, '--quiet']);
    const made = ['report', clusters, '--docs', file, '-o', page, '--quiet'];
    const report = await measured(root, made);
    const row = (what, value, unit, name, other, goal) => ({
      ...{ what, value, unit },
      against: { what: name, value: other, ratio: value / other, goal },
    });
    const bytes = statSync(page).size;
    const rows = [
      row('made from the clusters, processor time', report.cpu, 's', 'the run', run.cpu),
      row('size of the page', bytes / 1e6, 'MB', '5 MB', SIZE / 1e6, '<= 1'),
    ];
    const opened = await opening(page);
    if (opened !== undefined) rows.push(row('opened and drawn', opened, 's', '2 s', WAIT, '<= 1'));
    const how = opened === undefined ? 'no Chromium' : `median of ${OPENED} openings in Chromium`;
    return { bench: 'report', setup: `${size} documents of benches/generate.mjs; ${how}`, rows };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Seconds until the page is drawn, its median; undefined without a browser. */
async function opening(page) {
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  const there = (name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0;
  const name = process.env.CHROMIUM || names.find(there);
  if (name === undefined) return undefined;
  const { default: puppeteer } = await import('puppeteer-core');
  const find = spawnSync('sh', ['-c', 'command -v "$1"', '-', name], { encoding: 'utf8' });
  const browser = await puppeteer.launch({
    executablePath: find.stdout.trim(),
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });
  try {
    const times = [];
    for (let round = 0; round < OPENED; round++) {
      const tab = await browser.newPage();
      await tab.setViewport({ width: 1280, height: 900 });
      const begin = performance.now();
      await tab.goto(pathToFileURL(page).href, { waitUntil: 'load' });
      // The second frame begins when the first one has been drawn.
      await tab.evaluate(
        () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
      );
      times.push((performance.now() - begin) / 1000);
      const shown = await tab.$$eval('.item', (items) => items.length);
      if (shown === 0) throw new Error('the page shows no cluster');
      await tab.close();
    }
    return times.sort((a, b) => a - b)[OPENED >> 1];
  } finally {
    await browser.close();
  }
}
